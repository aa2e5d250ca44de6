"""Messages with headers: every word goes where its header says, and only there calls are called."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.parsing.samples import codes, said
from tests.parsing.test_law_growth import BOUND, assert_linear, growth
from tunaeval import parse, parser_for, render, stream
from tunaeval.errors import FormatError
from tunaeval.grammar import Arguments, Envelope, Literal, Name, Route, Space
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import FORMATS, HARMONY, INKLING, KIMI_K3, MUSE
from tunaeval.parsing.reader import Reader
from tunaeval.testing.laws import LAWS, check_law
from tunaeval.testing.strategies import calls, chunkings, prose
from tunaeval.testing.streams import stream_of
from tunaeval.types.calls import ToolCall

CALL = ToolCall("find_files", {"folder": "src"})
WORDS = {
    "harmony": ("<|start|>assistant<|channel|>final<|message|>{}<|end|>", HARMONY),
    "muse": ("<|start|>assistant to=user<|message|>{}<|eom|>", MUSE),
    "inkling": ("<|message_model|><|content_text|>{}<|end_message|>", INKLING),
    "kimi-k3": ("<|open|>response<|sep|>{}<|close|>response<|sep|>", KIMI_K3),
}
"""How a model of each format speaks to the user."""

THOUGHTS = {
    "harmony": ("<|start|>assistant<|channel|>analysis<|message|>{}<|end|>", HARMONY),
    "muse": ("<|start|>assistant to=self<|message|>{}<|eom|>", MUSE),
    "inkling": ("<|message_model|><|content_thinking|>{}<|end_message|>", INKLING),
    "kimi-k3": ("<|open|>think<|sep|>{}<|close|>think<|sep|>", KIMI_K3),
}
"""How it thinks."""


@pytest.mark.parametrize("name", WORDS)
@given(data=st.data())
def test_every_message_goes_where_its_header_says(name: str, data: st.DataObject) -> None:
    """Any row of thoughts, words and calls, in any chunks."""
    (word, form), (thought, _) = WORDS[name], THOUGHTS[name]
    row = data.draw(st.lists(st.sampled_from(["word", "thought", "call"]), max_size=6))
    text, content, thoughts, made = "", "", "", []
    for kind in row:
        what = data.draw(prose().filter(bool))
        if kind == "call":
            made += data.draw(calls(1, 1).map(lambda some: _sayable(some, form)))
            text += render(made[-1:], form)
        elif kind == "word":
            text, content = text + word.format(what), content + what
        else:
            text, thoughts = text + thought.format(what), thoughts + what
    result, _ = stream_of(Reader(name, (form,)).stream(), data.draw(chunkings(text)))
    assert result == parse(text, form)
    assert said(result) == [(call.name, call.arguments) for call in made]
    assert (result.content, result.reasoning or "") == (content, thoughts)
    assert not result.truncated


def _sayable(made: list[ToolCall], form: Format) -> list[ToolCall]:
    """The calls, as far as bare text can say them without a schema."""
    if form is not MUSE and form is not KIMI_K3:
        return made
    return [ToolCall(call.name, {"a": "b", "n": 1}) for call in made]


@pytest.mark.parametrize("name", THOUGHTS)
def test_a_call_in_the_reasoning_is_none(name: str) -> None:
    thought, form = THOUGHTS[name]
    inner = render([CALL], form) if name == "muse" else json.dumps({"name": "f", "arguments": {}})
    inner = inner.partition("<|message|>")[2].partition("<|eom|>")[0] if name == "muse" else inner
    result = parse(thought.format(inner), form)
    assert not result.calls
    assert result.reasoning == inner


HEADERS = [
    "<|start|>assistant<|channel|>commentary to=functions.find_files <|constrain|>json<|message|>",
    "<|start|>assistant to=functions.find_files<|channel|>commentary json<|message|>",
    "<|start|>assistant<|channel|>commentary to=functions.find_files<|message|>",
    "<|channel|>commentary to=find_files code<|message|>",
    "<|channel|>analysis to=functions.find_files <|constrain|>json<|message|>",
    " to=functions.find_files<|channel|>commentary <|constrain|>json<|message|>",
    "<|start|>assistant to=functions.find_files<|message|>",
]


@pytest.mark.parametrize("closer", ["<|call|>", "<|end|>", "<|return|>", ""])
@pytest.mark.parametrize("header", HEADERS)
def test_harmony_names_its_recipient_anywhere_in_the_header(header: str, closer: str) -> None:
    result = parse(f'{header}{{"folder": "src"}}{closer}', HARMONY, level="strict")
    assert said(result) == [("find_files", {"folder": "src"})]
    assert not result.content
    assert not result.diagnoses


def test_harmony_reads_a_name_outside_of_a_header_as_text() -> None:
    text = 'send it to=functions.f and then {"a": 1}'
    assert parse(text, HARMONY).content == text


@pytest.mark.parametrize("size", [320, 400, 5000])
def test_a_header_that_never_ends_is_text(size: int) -> None:
    text = "<|start|>assistant " + "x" * size + '<|message|>{"a": 1}'
    result = parse(text, HARMONY)
    assert not result.calls
    assert "x" * size in result.content


LONG_HEADERS = [
    "<|channel|>", "<|channel|>analysis", "<|constrain|>", "<|start|>", " ", "x", "to=all",
    "to=functions.f", "to=self ", "\n",
]  # fmt: skip


@pytest.mark.parametrize("reader", [Reader("f", (HARMONY,)), Reader("g", (HARMONY, MUSE, INKLING))])
@given(
    pieces=st.lists(st.tuples(st.sampled_from(LONG_HEADERS), st.integers(1, 400)), max_size=3),
    opener=st.sampled_from(["<|channel|>", "<|start|>assistant", "to=functions.f", "<|start|>"]),
    body=st.sampled_from(["hello", '{"a": 1}']),
)
@example(opener="<|channel|>", pieces=[("<|channel|>", 30)], body="hello")
@example(opener="<|channel|>", pieces=[("<|channel|>analysis", 28)], body="hello")
@example(opener="to=functions.f", pieces=[("<|constrain|>", 24)], body='{"a": 1}')
def test_a_long_header_is_read_alike_however_it_arrives(
    reader: Reader, pieces: list[tuple[str, int]], opener: str, body: str
) -> None:
    """What is far behind an opener does not count, although a whole text shows it at once."""
    header = "".join(piece * times for piece, times in pieces)[:500]
    text = f"{opener}{header}<|message|>{body}<|end|>"
    for size in (1, 7, len(text)):
        chunks = [text[at : at + size] for at in range(0, len(text), size)]
        assert stream_of(reader.stream(), chunks)[0] == reader.parse(text)


@pytest.mark.parametrize("times", [29, 30, 60])
def test_a_message_begins_where_the_end_of_its_header_is_near(times: int) -> None:
    result = parse("<|channel|>" * times + "<|message|>hello", HARMONY)
    assert result.content == "<|channel|>" * max(times - 29, 0) + "hello"


@given(at=st.integers(0, 200))
def test_a_cut_message_is_flagged_wherever_it_is_cut(at: int) -> None:
    text = render([CALL], HARMONY)
    whole = text.index("}") + 1
    cut = text[: min(at, whole - 1)]
    result = parse(cut, HARMONY)
    assert not result.calls
    assert result.truncated or len(cut) < len("<|sta")
    assert result.content == cut


def test_broken_arguments_of_an_addressed_call_are_an_attempt() -> None:
    text = "<|channel|>commentary to=functions.f <|constrain|>json<|message|>no JSON<|call|>"
    result = parse(text, HARMONY)
    assert (result.outcome, codes(result)) == ("malformed", ["invalid-arguments"])


def test_missing_brackets_end_at_the_message() -> None:
    text = '<|channel|>commentary to=functions.f<|message|>{"a": {"b": 1}<|call|>'
    assert parse(text, HARMONY).outcome == "malformed"
    assert said(parse(text, HARMONY, level="lenient")) == [("f", {"a": {"b": 1}})]


def test_formats_with_the_same_headers_are_told_apart_side_by_side() -> None:
    reader = Reader("both", (HARMONY, MUSE, INKLING))
    muse = render([CALL], MUSE)
    harmony = HEADERS[-1] + '{"folder": "src"}<|call|>'
    for text, form in ((muse, MUSE), (harmony, HARMONY), (render([CALL], INKLING), INKLING)):
        for chunk in (1, 4, len(text)):
            reading = reader.stream()
            for start in range(0, len(text), chunk):
                reading.feed(text[start : start + chunk])
            result = reading.finish()
            assert said(result) == [(CALL.name, CALL.arguments)]
            assert result.calls[0].format == form.name
            assert not result.diagnoses


@pytest.mark.parametrize("law", LAWS)
def test_formats_with_headers_keep_the_laws_side_by_side(law: str) -> None:
    check_law(law, Reader("headers", (HARMONY, INKLING)))


BODY = Literal("<|message|>")
OPENS, CLOSES = Literal("<|start|>"), Literal("<|end|>")
TO = Route("call", r"to=(?P<name>\w{1,64})", "<|message|>", "to={name}")


@pytest.mark.parametrize(
    ("words", "envelope", "reason"),
    [
        ((BODY, Arguments()), Envelope(OPENS, (), CLOSES), "no route of its envelope leads to"),
        ((BODY, Arguments()), Envelope(Literal(""), (TO,), CLOSES), "a message is empty"),
        ((BODY, Arguments()), Envelope(OPENS, (TO,), OPENS), "both opens and closes a message"),
        ((BODY, Arguments()), Envelope(OPENS, (Route("call", "x", ""),), CLOSES), "never ends"),
        (
            (BODY, Arguments()),
            Envelope(OPENS, (Route("call", r"to=(?P<name>\w+)", "<|m|>", "to={name}"),), CLOSES),
            "has no bound",
        ),
        (
            (BODY, Arguments()),
            Envelope(OPENS, (TO, Route("content", "[^x]{0,90}", "<|message|>")), CLOSES),
            "would swallow '<|message|>'",
        ),
        (
            (BODY, Arguments()),
            Envelope(OPENS, (Route("call", r"to=(?P<name>\w{1,9})", "<|message|>"),), CLOSES),
            "cannot be written: its Route has no `text`, as in text='to={name}'",
        ),
        (
            (BODY, Arguments()),
            Envelope(OPENS, (replace(TO, text="for={name}"),), CLOSES),
            "what it writes is not what it reads: '<|start|>for=",
        ),
        ((Literal("<|m|>"), Arguments()), Envelope(OPENS, (TO,), CLOSES), "has to be '<|message|>"),
        (
            (BODY, Name(), Arguments()),
            Envelope(OPENS, (TO,), CLOSES),
            "⟨name⟩ follows '<|message|>', where",
        ),
        ((BODY, Space(), Literal("x")), Envelope(OPENS, (TO,), CLOSES), "no arguments"),
    ],
)
def test_an_envelope_that_could_never_be_read_is_refused(
    words: tuple[Literal | Arguments, ...], envelope: Envelope, reason: str
) -> None:
    with pytest.raises(FormatError) as refusal:
        parser_for(Format("f", words, envelope=envelope))
    assert reason in str(refusal.value)


FLOODS = (
    "<|start|>", "<|channel|>", "<|start|>assistant", " to=", "to=functions.", "<|message|>",
    "<|start|>assistant to=", "<|end|>", "<|start|>assistant<|channel|>analysis<|message|>",
    "<|start|>a<|channel|>", "<|message_model|>", "<|content_thinking|>", "<|start|>" + "a" * 300,
)  # fmt: skip


@pytest.mark.parametrize("reader", [Reader("f", (HARMONY,)), Reader("g", (HARMONY, MUSE, INKLING))])
def test_floods_of_headers_take_linear_time(reader: Reader) -> None:
    def streamed(text: str) -> object:
        reading = reader.stream()
        for start in range(0, len(text), 4):
            reading.feed(text[start : start + 4])
        return reading.finish()

    readings: list[tuple[Callable[[str], object], int]] = [(reader.parse, 4096), (streamed, 2048)]
    for read, size in readings:
        for flood in FLOODS:
            for prefix in ("", "<|start|>assistant<|channel|>analysis<|message|>"):
                if growth(read, prefix, flood, size, runs=1) > BOUND:
                    assert_linear(read, prefix, flood, 4 * size)


def test_what_stands_around_words_is_dropped_and_never_written() -> None:
    dropping = [form for form in FORMATS.values() if form.dropped]
    assert dropping
    for form in dropping:
        for token in form.dropped:
            assert token not in render([CALL], form)
            assert parse(f"Well.{token}", form).content == "Well."
            assert parse(f"A `{token}` in code.", form).content == f"A `{token}` in code."


def test_a_stream_of_a_message_says_its_words_at_once() -> None:
    reading = stream(HARMONY)
    reading.feed("<|channel|>analysis<|message|>")
    assert [event.kind for event in reading.feed("I think")] == ["reasoning"]
    reading.feed(" so.<|end|><|start|>assistant<|channel|>final<|message|>")
    assert [event.text for event in reading.feed("Hello")] == ["Hello"]
