"""What is measured, and the results: parsers by name, and figures as a line of JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tunaeval.grammar.format import Format
from tunaeval.parsing.api import formats, parser_for
from tunaeval.parsing.reader import Reader, reader_of
from tunaeval.types.calls import JsonObject
from tunaeval.types.roles import Parser
from tunaeval.types.third_party import guarded

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
class MeasuredFault:
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
    faults: tuple[MeasuredFault, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.faults

    def line(self) -> JsonObject:
        """Return the measurement as a JSON object, with texts cut and only the first faults."""
        shown = [
            {**asdict(fault), "text": fault.text[:_QUOTED], "detail": fault.detail[:_QUOTED]}
            for fault in self.faults[:SHOWN]
        ]
        head = {"selftest": self.name, "ok": self.ok}
        return {**head, **self.figures, "faults": len(self.faults), "first_faults": shown}


AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Subject:
    """A named parser. `forms` are the formats that it reads, if they are `Format` values."""

    name: str
    parser: Parser
    forms: tuple[Format, ...] = ()

    @property
    def reader(self) -> Reader | None:
        """The parser, if it can stream, else None."""
        return self.parser if isinstance(self.parser, Reader) else None


def subjects(names: Sequence[str] = ()) -> tuple[Subject, ...]:
    """Return the parsers of these names, or all registered parsers that work."""
    return tuple(subject_of(name, parser_for(name)) for name in names or _registered())


def subject_of(name: str, parser: Parser) -> Subject:
    """Return a format or a parser as a subject."""
    if isinstance(parser, Format):
        parser = reader_of(parser)
    if isinstance(parser, Reader):
        return Subject(name, parser, parser.formats)
    return Subject(name, guarded(parser))


def _registered() -> list[str]:
    entries = [entry for entry in formats.entries() if entry.status == "ok"]
    own = [] if any(AUTO in (entry.name, *entry.aliases) for entry in entries) else [AUTO]
    return [*own, *(entry.name for entry in entries)]
