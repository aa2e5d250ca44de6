"""Who is measured: parsers by name, with the formats they can be written in."""

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
    """A parser under its name. `forms` are the formats it reads, as far as they are values."""

    name: str
    parser: Parser
    forms: tuple[Format, ...] = ()

    @property
    def reader(self) -> Reader | None:
        """The parser, if it can be streamed."""
        return self.parser if isinstance(self.parser, Reader) else None


def subjects(names: Sequence[str] = ()) -> tuple[Subject, ...]:
    """The parsers of these names; of all that are registered and work when none is given."""
    return tuple(subject_of(name, parser_for(name)) for name in names or _registered())


def subject_of(name: str, parser: Parser) -> Subject:
    """A format or a parser, as one that can be measured."""
    if isinstance(parser, Format):
        parser = reader_of(parser)
    if isinstance(parser, Reader):
        return Subject(name, parser, parser.formats)
    return Subject(name, guarded(parser))


def _registered() -> list[str]:
    entries = [entry for entry in formats.entries() if entry.status == "ok"]
    own = [] if any(AUTO in (entry.name, *entry.aliases) for entry in entries) else [AUTO]
    return [*own, *(entry.name for entry in entries)]
