"""The subjects of a measurement: parsers by name, with the formats in which they can be written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tunaeval.grammar.format import Format
from tunaeval.parsing.api import formats, parser_for
from tunaeval.parsing.reader import Reader, reader_of
from tunaeval.registry import guarded
from tunaeval.types.roles import Parser

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
