"""Everything that every registered format keeps to: its fixture, and the laws of the parser.

    pytest tests/formats/test_formats.py                 all of them
    pytest tests/formats/test_formats.py -k glm45        one

The laws stand in `tunaeval.testing`, so that formats of others keep them too. Laws of one kind are
checked on the same examples; how many those are, `conftest.py` says.
"""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings

from tests.formats.fixtures import ALL, HERE, Case, expected_at, found_in
from tunaeval import formats, parse, stream
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import FORMATS
from tunaeval.parsing.api import parser_for, render
from tunaeval.parsing.reader import Reader, reader_of
from tunaeval.testing.laws import LAWS_OF_CALLS, LAWS_OF_TEXTS, check_laws, check_text
from tunaeval.testing.strategies import chunkings, literals, writable
from tunaeval.types.calls import ToolCall
from tunaeval.types.parsing import LEVELS, Level


def readers() -> dict[str, Reader]:
    """Whatever is registered and can be streamed, sets of formats too; "auto" if it is its own."""
    parsers = {name: parser_for(name) for name in (*formats.names(), "auto")}
    values = {
        name: reader_of(parser) if isinstance(parser, Format) else parser
        for name, parser in parsers.items()
    }
    found = {name: value for name, value in values.items() if isinstance(value, Reader)}
    return {reader.name: reader for reader in found.values()}


READERS = readers()
BY_FORMAT = {name: [case for case in ALL if case.format == name] for name in READERS}
SAYINGS = [
    pytest.param(case, level, id=f"{case.format}: {case.title} ({level})")
    for case in ALL
    for level in LEVELS
    if case.expected.get(level, True) is not None
]
SMALL = 400
"""Characters of a text that is cut at each point."""

every_format = pytest.mark.parametrize("reader", READERS.values(), ids=READERS)


@pytest.mark.parametrize(("case", "level"), SAYINGS)
def test_a_text_says_what_its_fixture_says(case: Case, level: Level) -> None:
    result = parse(case.text, case.format, tools=case.tools, level=level)
    assert found_in(result) == expected_at(case, level)


def test_every_format_has_a_fixture() -> None:
    assert set(FORMATS) <= {path.stem for path in HERE.glob("*.md")}


def test_every_case_is_found() -> None:
    """A heading without its blocks would be skipped in silence."""
    headings = sum(path.read_text("utf-8").count("\n## ") for path in HERE.glob("*.md"))
    assert len(ALL) == headings
    assert len({(case.format, case.title) for case in ALL}) == len(ALL)


@pytest.mark.parametrize("case", ALL, ids=lambda case: f"{case.format}: {case.title}")
def test_a_fixture_keeps_the_laws_of_any_text(case: Case) -> None:
    """Character by character, at all levels; and cut in two at each point."""
    reader = parser_for(case.format)
    assert isinstance(reader, Reader)
    check_text(case.text, reader, tools=case.tools)
    whole = reader.parse(case.text, tools=case.tools)
    for cut in range(1, min(len(case.text), SMALL)):
        reading = stream(reader, tools=case.tools)
        reading.feed(case.text[:cut])
        reading.feed(case.text[cut:])
        assert reading.finish() == whole, f"cut at {cut}"


@every_format
def test_the_laws_hold_for_all_fixtures_in_one_text_cut_anywhere(reader: Reader) -> None:
    texts = [case.text for form in reader.formats for case in BY_FORMAT.get(form.name, ())]
    large = "\nand then\n".join(texts * 2)

    @settings(max_examples=10)
    @given(chunks=chunkings(large))
    def cut_anywhere(chunks: list[str]) -> None:
        check_text(large, reader, chunks=chunks)

    cut_anywhere()


@every_format
def test_the_laws_hold_for_each_pair_of_marks(reader: Reader) -> None:
    """Half of what a model writes when it goes wrong is its own markup at the wrong place."""
    for form in reader.formats:
        marks = [mark for mark in dict.fromkeys(literals(form)) if mark.strip()]
        for one, between, other in product(marks, ("", "`", " a "), marks):
            check_text(f"{one}{between}{other}", reader)


@pytest.mark.parametrize("laws", [LAWS_OF_CALLS, LAWS_OF_TEXTS], ids=" + ".join)
@every_format
def test_the_laws_hold(reader: Reader, laws: tuple[str, ...]) -> None:
    check_laws(laws, reader)


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_no_call_of_the_laws_is_refused(form: Format) -> None:
    """The laws skip what `render` refuses, so for our formats this has to be nothing."""

    @given(made=writable(form))
    def is_written(made: list[ToolCall]) -> None:
        assert render(made, form)

    is_written()
