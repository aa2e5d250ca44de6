"""What a measuring found, and how that becomes a line of JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from tunaeval.types.calls import JsonObject

SHOWN = 20
"""Faults that are written out; of more, only the number."""

_QUOTED = 400
"""Characters of a text that are shown."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How far a measuring goes. `examples` None: as many as the measuring thinks right."""

    examples: int | None = None
    seed: int = 0
    largest: int = 65536
    """Characters of the largest text that growth is measured on."""
    simulations: int | None = None
    """Made-up evaluations for each interval and test, of statistics; None as `examples`."""


USUAL = Extent()


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that should not be: in which format, of what kind, on which text."""

    format: str
    kind: str
    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of one measuring, and what it found below its bar."""

    name: str
    figures: JsonObject
    faults: tuple[Fault, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.faults

    def line(self) -> JsonObject:
        """All of it as one object; long texts are cut, and of many faults the first are shown."""
        shown = [
            {**asdict(fault), "text": fault.text[:_QUOTED], "detail": fault.detail[:_QUOTED]}
            for fault in self.faults[:SHOWN]
        ]
        head = {"selftest": self.name, "ok": self.ok}
        return {**head, **self.figures, "faults": len(self.faults), "first_faults": shown}
