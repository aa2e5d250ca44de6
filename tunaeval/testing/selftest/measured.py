"""The results of a measurement, and their form as a line of JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from tunaeval.types.calls import JsonObject

SHOWN = 20
"""How many faults are written out; all are counted."""

_QUOTED = 400
"""Characters of the longest text in a fault."""


@dataclass(frozen=True, slots=True)
class Extent:
    """The size of a measurement. `examples` None means the measurement's own default."""

    examples: int | None = None
    seed: int = 0
    largest: int = 65536
    """Characters of the largest text on which growth is measured."""
    simulations: int | None = None
    """Simulated evaluations for each interval and test of statistics; None is the default."""


USUAL = Extent()


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault that a measurement found: its format, its kind, and the text."""

    format: str
    kind: str
    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of one measurement, and the faults below its bar."""

    name: str
    figures: JsonObject
    faults: tuple[Fault, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.faults

    def line(self) -> JsonObject:
        """Return it as one object, with long texts cut and only the first faults."""
        shown = [
            {**asdict(fault), "text": fault.text[:_QUOTED], "detail": fault.detail[:_QUOTED]}
            for fault in self.faults[:SHOWN]
        ]
        head = {"selftest": self.name, "ok": self.ok}
        return {**head, **self.figures, "faults": len(self.faults), "first_faults": shown}
