"""For authors of formats: hypothesis strategies, and the parser's laws as checks.

    from tunaeval.testing import check_format

    def test_my_format_keeps_the_laws():
        check_format(MY_FORMAT)

Needs hypothesis (`pip install 'tunaeval[test]'`). The laws are those of the design: what is
rendered is read back; chunks do not matter; the events tile the text; nothing raises; levels are
monotone; prose around changes no call; with tools given no other name is a call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise

from hypothesis import given, note
from hypothesis import strategies as st

from tunaeval.grammar import Arguments, Format, Literal, Many, Maybe, Word
from tunaeval.parsing import TILES, Event, Reader, Stream, reader_of, render
from tunaeval.types import LEVELS, JsonValue, ParseResult, ToolCall, Tools, ToolSpec

__all__ = [
    "LAWS",
    "calls",
    "check_format",
    "check_law",
    "chunkings",
    "damaged",
    "fragments",
    "json_values",
    "prose",
    "stream_of",
]

FRAGMENTS = (
    "<tool_call>", "</tool_call>", "<tools>", "</tools>", "<think>", "</think>", "```", "```json\n",
    "`", "{", "}", "[", "]", '"', "'", ":", ",", "\\", "\\\\", '\\"', "\\u00e9", "\\ud83d", "\n",
    " ", "name", '"name": "bash"', '"arguments": {', '"arguments": {}', "{'name': 'bash', ", "/*",
    "//", "#", "*/", "True", "None", "NaN", "1", "-", "1.5e", "...", "…", "“", "”", "<", "</",
    "\x00", "\ud800", "\u2028", "é", "中文", ", ", "= ", ";", "\t", "\r\n", '{"a": 1}', "bash",
    "</tool_call", "<tool_cal", "command", '"a": "say "hi"',
    '{"name": "bash", "arguments": {"command": "ls"}}',
)  # fmt: skip
"""Pieces that formats and damage are made of, to build hostile texts from."""

_WORDS = (
    "Sure", "the", "file", "das", "Größe", "is", "à", "noël", "文件", "を読む", "да", "नमस्ते",
    "مرحبا", "42", "e.g.", "a-b", "x=1", "(see", "below)", "100%", "it's", "🙂", "done",
    "next:", "a/b.py",
)  # fmt: skip

_NAMES = st.from_regex(r"[a-z][a-z_]{0,11}", fullmatch=True)


def json_values(leaves: int = 8) -> st.SearchStrategy[JsonValue]:
    """Values of JSON: texts full of markup, numbers of any size, nested."""
    texts = st.text(max_size=30) | fragments(4)
    atoms = (
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | texts
    )
    return st.recursive(
        atoms,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=leaves,
    )


def calls(least: int = 1, most: int = 3) -> st.SearchStrategy[list[ToolCall]]:
    """Lists of calls with arbitrary arguments."""
    call = st.builds(
        ToolCall, _NAMES, st.dictionaries(st.text(max_size=8), json_values(), max_size=4)
    )
    return st.lists(call, min_size=least, max_size=most)


def writable(form: Format, least: int = 1, most: int = 3) -> st.SearchStrategy[list[ToolCall]]:
    """Lists of calls that `form` can say: bare text cannot hold the format's own markup."""
    if _tells_types(form):
        return calls(least, most)
    marks = literals(form)
    texts = st.text(max_size=20) | fragments(4)
    plain = texts.filter(lambda text: not any(mark in text for mark in marks))
    values = json_values(4).filter(lambda value: not _holds(value, marks)) | plain
    keys = st.from_regex(r"[a-z][a-z_]{0,8}", fullmatch=True)
    call = st.builds(ToolCall, _NAMES, st.dictionaries(keys, values, max_size=4))
    return st.lists(call, min_size=least, max_size=most, unique_by=lambda call: call.name)


def literals(form: Format) -> tuple[str, ...]:
    """Every fixed text of a format."""
    envelope = form.envelope
    messages = (envelope.opens, envelope.closes) if envelope else ()
    words = _flat((*form.words, *(form.around or ()), *messages))
    return (*(text for word in words for text in word.spellings), *form.dropped)


def _flat(words: Sequence[Word]) -> list[Literal]:
    inner = [_flat(word.words) for word in words if isinstance(word, Maybe | Many)]
    own = [word for word in words if isinstance(word, Literal)]
    return [*own, *(word for some in inner for word in some)]


def _holds(value: JsonValue, marks: Sequence[str]) -> bool:
    text = json.dumps(value, ensure_ascii=False)
    return any(mark in text for mark in marks)


def tools_for(made: Sequence[ToolCall]) -> Tools:
    """Tools whose schemas say of each argument of these calls what type it is."""
    specs = {}
    for call in made:
        properties = {key: {"type": _type(value)} for key, value in call.arguments.items()}
        specs[call.name] = ToolSpec(
            call.name, parameters={"type": "object", "properties": properties}
        )
    return Tools(specs.values())


def _type(value: JsonValue) -> str:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object"}
    return "null" if value is None else names.get(type(value), "array")


def prose() -> st.SearchStrategy[str]:
    """Sentences in several languages, without any markup."""
    return st.lists(st.sampled_from(_WORDS), max_size=8).map(" ".join)


def fragments(most: int = 16) -> st.SearchStrategy[str]:
    """Hostile texts: any row of the pieces that formats are made of."""
    pieces = st.sampled_from(FRAGMENTS) | st.text(max_size=3)
    return st.lists(pieces, max_size=most).map("".join)


@st.composite
def damaged(draw: st.DrawFn, form: Format, most: int = 4) -> str:
    """Calls as the format writes them, then cut, deleted from and inserted into."""
    text = draw(prose()) + render(draw(writable(form, 1, 2)), form) + draw(prose())
    marks = st.sampled_from(literals(form)) if literals(form) else st.just("")
    for _ in range(draw(st.integers(0, most))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 3)))
        text = text[:start] + draw(fragments(1) | marks) + text[end:]
    return text[: draw(st.integers(0, len(text)))] if draw(st.booleans()) else text


def chunkings(text: str) -> st.SearchStrategy[list[str]]:
    """Ways to cut a text: each character alone, in equal steps, or anywhere."""
    size = max(1, len(text))
    steps = st.sampled_from([1, 2, 3, 4, 7, 16]).map(
        lambda step: [text[i : i + step] for i in range(0, size, step)]
    )
    cuts = st.lists(st.integers(0, len(text)), max_size=8).map(
        lambda at: [text[a:b] for a, b in pairwise([0, *sorted(at), len(text)])]
    )
    return steps | cuts


def stream_of(stream: Stream, chunks: Sequence[str]) -> tuple[ParseResult, list[Event]]:
    """Feed all chunks; the result and every event."""
    events = [event for chunk in chunks for event in stream.feed(chunk)]
    result = stream.finish()
    return result, [*events, *stream.last_events()]


def check_format(format: Format | Reader) -> None:  # noqa: A002 - the field's word
    """Check all laws for a format or a reader of several; raises AssertionError with the text."""
    for name in LAWS:
        check_law(name, format)


def check_law(name: str, format: Format | Reader) -> None:  # noqa: A002 - as in check_format
    """Check one of `LAWS`."""
    LAWS[name](format if isinstance(format, Reader) else reader_of(format))


def _texts(reader: Reader) -> st.SearchStrategy[str]:
    damage: st.SearchStrategy[str] = st.one_of([damaged(form) for form in reader.formats])
    return damage | fragments() | st.text(max_size=40)


def _tells_types(form: Format) -> bool:
    """Whether a text in this format says itself what is a number and what is a string."""
    return form.call is not None or Arguments in map(type, form.words)


def _said(found: Sequence[ToolCall]) -> list[tuple[str, JsonValue]]:
    return [(call.name, call.arguments) for call in found]


def _rendered_is_read_back(reader: Reader) -> None:
    @given(data=st.data(), form=st.sampled_from(reader.formats))
    def law(data: st.DataObject, form: Format) -> None:
        made = data.draw(writable(form))
        text = render(made, form)
        note(repr(text))
        names = Tools({call.name: ToolSpec(call.name) for call in made}.values())
        for tools in (None, names) if _tells_types(form) else (tools_for(made),):
            result = reader.parse(text, tools=tools)
            assert _said(result.calls) == _said(made)
            assert not result.content.strip()

    law()


def _chunks_do_not_matter(reader: Reader) -> None:
    @given(data=st.data(), text=_texts(reader), level=st.sampled_from(LEVELS))
    def law(data: st.DataObject, text: str, level: str) -> None:
        whole = reader.parse(text, level=level)  # type: ignore[arg-type]  # drawn from LEVELS
        chunks = data.draw(chunkings(text))
        stream = reader.stream(level=level)  # type: ignore[arg-type]  # as above
        assert stream_of(stream, chunks)[0] == whole

    law()


def _events_tile_the_text(reader: Reader) -> None:
    @given(data=st.data(), text=_texts(reader))
    def law(data: st.DataObject, text: str) -> None:
        chunks = data.draw(chunkings(text))
        result, events = stream_of(reader.stream(), chunks)
        tiles = _after_reclassification(events)
        at = 0
        for event in tiles:
            assert event.span.start == at, (event, at)
            at = event.span.end
            if event.kind != "call_finished":
                assert event.text == text[event.span.start : event.span.end]
        assert at == len(text)
        assert [event.call for event in tiles if event.call] == list(result.calls)
        content = "".join(event.text for event in tiles if event.kind == "content")
        assert content == result.content

    law()


def _after_reclassification(events: Sequence[Event]) -> list[Event]:
    """The tiling events, with those that were taken back replaced by what replaced them."""
    tiles: list[Event] = []
    for event in events:
        if event.kind == "reclassified":
            start = event.span.start
            kept = [tile for tile in tiles if tile.span.end <= start]
            tiles = [*kept, Event("reasoning", event.span, event.text)]
        elif event.kind in TILES:
            tiles.append(event)
    return tiles


def _nothing_raises(reader: Reader) -> None:
    @given(text=_texts(reader), level=st.sampled_from(LEVELS))
    def law(text: str, level: str) -> None:
        result = reader.parse(text, level=level)  # type: ignore[arg-type]  # drawn from LEVELS
        assert (result.outcome == "calls") == bool(result.calls)
        for call in result.calls:
            assert isinstance(call.arguments, dict)
            assert call.span is not None
            assert 0 <= call.span.start < call.span.end <= len(text)

    law()


def _levels_are_monotone(reader: Reader) -> None:
    @given(text=_texts(reader))
    def law(text: str) -> None:
        results = [reader.parse(text, level=level) for level in LEVELS]
        for lower, higher in pairwise(results):
            if not lower.diagnoses:
                assert lower == higher

    law()


def _prose_changes_no_call(reader: Reader) -> None:
    @given(before=prose(), after=prose(), data=st.data())
    def law(before: str, after: str, data: st.DataObject) -> None:
        form = data.draw(st.sampled_from(reader.formats))
        made = data.draw(writable(form))
        text = f"{before}\n{render(made, form)}\n{after}"
        tools = None if _tells_types(form) else tools_for(made)
        result = reader.parse(text, tools=tools)
        assert _said(result.calls) == _said(made)
        assert before in result.content
        assert after in result.content

    law()


def _only_tools_are_called(reader: Reader) -> None:
    @given(text=_texts(reader), names=st.sets(_NAMES, max_size=3), level=st.sampled_from(LEVELS))
    def law(text: str, names: set[str], level: str) -> None:
        tools = Tools(ToolSpec(name) for name in names)
        result = reader.parse(text, tools=tools, level=level)  # type: ignore[arg-type]  # LEVELS
        assert {call.name for call in result.calls} <= names

    law()


LAWS: dict[str, Callable[[Reader], None]] = {
    "rendered-is-read-back": _rendered_is_read_back,
    "chunks-do-not-matter": _chunks_do_not_matter,
    "events-tile-the-text": _events_tile_the_text,
    "nothing-raises": _nothing_raises,
    "levels-are-monotone": _levels_are_monotone,
    "prose-changes-no-call": _prose_changes_no_call,
    "only-tools-are-called": _only_tools_are_called,
}
"""The laws by name, each a check of one reader."""
