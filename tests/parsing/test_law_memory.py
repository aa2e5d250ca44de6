"""The law of memory: a reading takes at most so many times its text, beside its result's own."""

from __future__ import annotations

import pytest

from tunaeval.grammar.format import Format
from tunaeval.parsing.api import parser_for, render
from tunaeval.parsing.reader import Reader, reader_of
from tunaeval.testing.selftest.growth import MEMORY, floods_of, memory_beside_result
from tunaeval.testing.selftest.texts import TOOLS
from tunaeval.types.calls import ToolCall

SIZE = 32768

IN_JSON = '{"name": "bash", "arguments": {"command": "'


def beside_its_result(reader: Reader, text: str) -> float:
    """The memory that a reading takes, for each byte of the text."""

    def read(each: str) -> object:
        return reader.parse(each, tools=TOOLS, level="lenient")

    return memory_beside_result(read, text, text[:2048])


def reader_called(name: str) -> Reader:
    reader = parser_for(name)
    assert isinstance(reader, Reader)
    return reader


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name", ["hermes", "apriel", "llama3", "harmony", "glm45", "pythonic", "muse"]
)
def test_no_flood_takes_more_than_its_share(name: str, every: int) -> None:
    """Each format has hundreds of floods; without `-m slow` it is every third."""
    reader = reader_called(name)
    for flood in floods_of(reader.formats)[::every]:
        assert beside_its_result(reader, flood.text(SIZE)) <= MEMORY, flood.name


@pytest.mark.parametrize(
    ("name", "start", "piece", "most"),
    [
        ("apriel", "", "<|end|>", 4),  # a block for each: 34
        ("apriel", "", "<|end|>\n", 4),
        ("muse", "", "<|eom|>{", 6),  # a block for each behind a bracket: 14
        ("functionary-v3.2", "", ">>>all\n{", 6),
        ("llama3", "", '{"name": "f", "arguments": {}}', 12),  # all objects were kept: 20
        # Pairs twice, and what was written of them: 24.
        ("dots-json", f"<dots_function_call>\n{IN_JSON}", '"k": "v" ', 10),
        (
            "hermes",
            f"<tool_call>\n{IN_JSON}",
            "\x00",
            12,
        ),  # what was written, beside its value: 12.2
    ],
)
def test_what_once_took_more(name: str, start: str, piece: str, most: float) -> None:
    text = start + piece * (65536 // len(piece))
    assert beside_its_result(reader_called(name), text) < most


@pytest.mark.parametrize(
    ("pattern", "closer"),
    [
        ('<do tool="⟨name⟩">⟨each⟩<arg k="⟨key⟩">⟨value⟩</arg>⟨/each⟩</do>', "</do>"),
        ("[do ⟨name⟩]⟨each⟩<⟨key⟩>⟨value⟩</>⟨/each⟩[/]", "[/]"),
        ("[do ⟨name⟩]⟨each⟩<⟨key⟩>⟨value⟩</>⟨/each⟩[/]", "</>"),  # an argument named "/" for each
        ("<a>⟨name⟩|⟨each⟩[⟨key pattern=[a-z]{1,9}⟩=⟨value⟩]⟨/each⟩</a>", "]"),
    ],
)
def test_a_closer_in_a_value_takes_no_memory_of_its_own(pattern: str, closer: str) -> None:
    """A piece for each closer took 12, 20 and 31 times the text."""
    form = Format.of("short", pattern)
    start = render([ToolCall("bash", {"command": "PLACE"})], form).partition("PLACE")[0]
    text = start + closer * (SIZE // len(closer))
    assert beside_its_result(reader_of(form), text) < 8
