"""What could not be written, read and streamed is refused; odd words that can be, work."""

from __future__ import annotations

import pytest

from tunaeval import ToolCall, parse, parser_for, render
from tunaeval.errors import FormatError
from tunaeval.grammar import (
    ANY_SPACE,
    Arguments,
    CallObject,
    Key,
    Literal,
    Many,
    Markup,
    Maybe,
    Name,
    PythonCalls,
    Reasoning,
    Space,
    Value,
    Word,
)
from tunaeval.grammar.format import Format
from tunaeval.testing.laws import check_format, check_text

OPEN, CLOSE = Literal("<call>"), Literal("</call>")
NAME, KEY, VALUE = Name(), Key(), Value()
EACH = Many((Literal("<p="), KEY, Literal(">"), VALUE, Literal("</p>")))
CALL, SPACE = CallObject(), Space()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        # words that are missing, double, or at the wrong place
        (
            (OPEN, NAME, Many((Literal("<p>"), VALUE, Literal("</p>"))), CLOSE),
            "⟨value⟩ follows '<p>', where",
        ),
        (
            (OPEN, NAME, Many((Literal("<p="), KEY, Literal(">"))), CLOSE),
            "so ⟨key⟩ and ⟨value⟩ are in it",
        ),
        (
            (OPEN, NAME, Many((*EACH.words, KEY, Literal(">"), VALUE, Literal("</p>"))), CLOSE),
            "⟨key⟩ follows '</p>', where",
        ),
        (
            (OPEN, NAME, Many((Literal("<p>"), VALUE, Literal("="), KEY, Literal(">"))), CLOSE),
            "⟨value⟩ follows '<p>', where",
        ),
        ((OPEN, NAME, Many(()), CLOSE), "so ⟨key⟩ and ⟨value⟩ are in it"),
        ((OPEN, NAME, Many((*EACH.words[:-1],)), CLOSE), "nothing is behind ⟨value⟩, so"),
        (
            (
                OPEN,
                NAME,
                Many((Literal("<p="), KEY, Space(), Value("newlines"), Literal("/"))),
                CLOSE,
            ),
            "what it writes is not what it reads",
        ),
        (
            (OPEN, NAME, Many((SPACE, *EACH.words)), CLOSE),
            "white space comes first, where fixed text may",
        ),
        ((OPEN, NAME, EACH, Maybe(()), CLOSE), "⟨maybe⟩ has nothing in it"),
        (
            (OPEN, Maybe((Literal("<n>"), NAME)), EACH, CLOSE),
            "⟨name⟩ follows '<n>', where",
        ),
        ((OPEN, Maybe((Literal("<n>"), CALL)), CLOSE), "⟨call⟩ follows '<n>', where"),
        ((OPEN, NAME, KEY, EACH, CLOSE), "⟨key⟩ follows ⟨name⟩, where"),
        ((OPEN, NAME, Arguments(), Arguments(), CLOSE), "⟨arguments⟩ follows ⟨arguments⟩"),
        ((OPEN, NAME, Arguments(), EACH, CLOSE), "⟨each⟩ follows ⟨arguments⟩"),
        ((OPEN, NAME, CLOSE), "it has a name and no arguments"),
        ((OPEN, NAME, Arguments(optional=True), CLOSE), "it has a name and no arguments"),
        ((OPEN, EACH, NAME, CLOSE), "⟨each⟩ follows '<call>', where"),
        ((OPEN, Maybe((Literal("a"),)), CALL, CLOSE), "⟨call⟩ follows ⟨maybe⟩"),
        ((OPEN, CALL, Markup("", "x{0,3}"), CLOSE), "⟨skip⟩ follows ⟨call⟩"),
        ((OPEN, CALL, Maybe((Literal("a"),)), CLOSE), "⟨maybe⟩ follows ⟨call⟩"),
        # what swallows its neighbour
        ((OPEN, SPACE, Literal("\n"), CALL, CLOSE), "white space with the pattern"),
        ((OPEN, NAME, Literal("/"), EACH, CLOSE), "would swallow the beginning of '/'"),
        (
            (
                OPEN,
                NAME,
                Many((Literal("<p "), Key("[^<]{1,9}"), Literal(":"), VALUE, CLOSE)),
                CLOSE,
            ),
            "⟨key⟩ with the pattern '[^<]{1,9}' would swallow the beginning of ':'; leave",
        ),
        (
            (OPEN, NAME, EACH, Literal("<p=end")),
            "what it writes is not what it reads",
        ),
        ((OPEN, NAME, EACH, Literal("\nend")), "what it writes is not what it reads"),
        ((OPEN, CALL, Literal("}end")), "what it writes is not what it reads"),
        # patterns
        ((OPEN, Name(r"(\w"), Arguments(), CLOSE), "is no regular expression: missing )"),
        (
            (OPEN, Name(r"[a-z]{2,9}"), Arguments(), CLOSE),
            "a text that arrives may end inside of the pattern",
        ),
        (
            (OPEN, Name(after=r"\d?", after_text="x"), Arguments(), CLOSE),
            "what it writes is not what it reads",
        ),
        # shapes
        ([OPEN, CALL, CLOSE], "; write a tuple: (Literal('<call>'),)"),
        ((OPEN, NAME, Many([*EACH.words]), CLOSE), "words[2].words is [Literal("),  # type: ignore[arg-type]  # the claim
        ((OPEN, CALL, "</call>"), "words[2] is '</call>'; write Literal('</call>')"),
        ((OPEN, Space, CALL, CLOSE), "words[1] is <class 'tunaeval"),
        ((Literal("<c>", also="<d>"), CALL, CLOSE), "write a tuple: ('<d>',)"),  # type: ignore[arg-type]  # the claim
        ((OPEN, CallObject(listed=True), CLOSE), "what it writes is not what it reads"),
        ((CallObject(opens=(("{",),)),), "write marked=False"),
    ],
)
def test_what_a_row_of_words_lacks_is_said(words: tuple[Word, ...], reason: str) -> None:
    with pytest.raises(FormatError) as refusal:
        parser_for(Format("f", words))
    assert reason in str(refusal.value)


TAGS = (Literal("<a>"), Literal("</a>"))


@pytest.mark.parametrize("dropped", [" \n", "e", "|", "an", "<c", "é", "<call>", "</call>", "<a>"])
def test_what_is_dropped_is_neither_prose_nor_part_of_a_call(dropped: str) -> None:
    with pytest.raises(
        FormatError, match=r"`dropped` has .*; (it needs three characters|leave it out)"
    ):
        Format("f", (OPEN, CALL, CLOSE), around=TAGS, dropped=("<|end|>", dropped))


@pytest.mark.parametrize("around", ["<", "a", "an", "\n", "_ "])
def test_what_is_around_all_calls_is_no_prose(around: str) -> None:
    for pair in ((Literal(around), TAGS[1]), (TAGS[0], Literal("</b>", also=(around,)))):
        with pytest.raises(FormatError, match=r"`around` has .*; it needs three characters"):
            Format("f", (OPEN, CALL, CLOSE), around=pair)


@pytest.mark.parametrize("opens", ["<", "a", "an", "\n"])
def test_what_opens_reasoning_is_no_prose(opens: str) -> None:
    with pytest.raises(FormatError, match=r"`reasoning` has .* found everywhere"):
        Format("f", (OPEN, CALL, CLOSE), reasoning=(Reasoning(opens, "</t>"),))
    until_the_line_ends = Format("f", (OPEN, CALL, CLOSE), reasoning=(Reasoning("Idea:", "\n"),))
    assert parse("Idea: look\nso", until_the_line_ends).reasoning == " look"


@pytest.mark.parametrize("text", ["[[", "<s>", "▁", "✿✿"])
def test_a_short_token_that_no_prose_has_may_be_dropped(text: str) -> None:
    form = Format("f", (OPEN, CALL, CLOSE), around=(Literal(""), Literal("]]")), dropped=(text,))
    assert parse(f"a{text} b", form).content == "a b"


@pytest.mark.parametrize(
    ("words", "works"),
    [
        ((OPEN, CALL, Literal("\n")), (OPEN, CALL)),
        ((OPEN, CALL, SPACE, Literal("\n")), (OPEN, CALL)),
        ((OPEN, CALL, Literal("//"), Literal("\n")), (OPEN, CALL, Literal("//"))),
        ((OPEN, PythonCalls(), Literal(" ")), (OPEN, PythonCalls())),
        ((OPEN, NAME, Literal(" "), Arguments(), Literal("\n")),
         (OPEN, NAME, Literal(" "), Arguments())),
        ((OPEN, PythonCalls(listed=False), Literal("\n")), None),
        ((OPEN, NAME, EACH, Literal("\n")), None),
        ((Literal("\n"), CALL, CLOSE), None),
    ],
)  # fmt: skip
def test_a_line_s_end_closes_nothing_and_what_does_is_said(
    words: tuple[Word, ...], works: tuple[Word, ...] | None
) -> None:
    with pytest.raises(FormatError, match="is found everywhere; ") as refusal:
        Format("f", words)
    assert str(refusal.value).endswith("add a character")
    if works:
        check_format(Format("f", works))


@pytest.mark.parametrize("opener", ["a", "7", ".", "-", '"', " (", "Ä", "#"])
def test_an_opener_that_any_sentence_has_is_refused(opener: str) -> None:
    with pytest.raises(FormatError, match="is in any sentence; use a longer text"):
        Format("f", (Literal(opener), CALL, CLOSE))


LINES = Many((Literal("  "), Key(r"[a-z_]{1,20}"), Literal(": "), VALUE, Literal("\n")))


@pytest.mark.parametrize(
    "words",
    [
        (Literal("call "), NAME, Literal(":\n"), LINES, Literal("end")),
        (Literal("[[call]]"), CALL, Literal("[[/call]]")),
        (Literal("[[call]]"), NAME, Literal("]]"), Arguments(), Literal("[[/call]]")),
        (Literal("<c>", also=("<c>:",)), CALL, CLOSE),
    ],
    ids=["lines", "brackets", "brackets and a name", "a spelling that another begins with"],
)
def test_formats_that_look_like_their_surroundings_keep_the_laws(words: tuple[Word, ...]) -> None:
    check_format(Format("f", words))


OWN_KEY = CallObject("fn", "args", opens=(("{", ANY_SPACE, '"'),))
CALLS_TAG = (Literal("<calls>"), Literal("</calls>"))


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (
            Format("f", (OWN_KEY,), marked=False, around=CALLS_TAG),
            '<calls> {"fn": "f", "args": {"]!</calls>\\\ufeff,": "#"}} </calls>',
        ),
        (
            Format("f", (OPEN, PythonCalls(), Literal("//", also=("</c>",))), around=CALLS_TAG),
            "<calls><call>[g(**{'\\x1p': 5</calls>)]\n//</calls>",
        ),
        (
            Format("f", (OPEN, CALL, Literal("--", also=("</c>",))), around=CALLS_TAG),
            '<calls><call>{"name": "g", "arguments": {}}</calls>',
        ),
        (Format("f", (OPEN, NAME, Arguments(), CLOSE, CLOSE)), "<call>g{}</call>"),
        (
            Format("f", (Literal("[[call]]"), CALL, Literal("[[/call]]"))),
            '[[call]]{"name":[[/call]] "f", "arguments": {"a": "x"}}[[/call]]',
        ),
    ],
    ids=["own key", "longer closer", "longer closer of an object", "twice", "closer in brackets"],
)
def test_what_random_formats_showed(form: Format, text: str) -> None:
    check_text(text, form)


def test_a_closer_may_begin_as_that_of_a_value() -> None:
    each = Many((Literal("<p "), KEY, Literal(">"), VALUE, Literal(">")))
    form = Format("f", (OPEN, NAME, each, Literal(">>")))
    call = ToolCall("g", {"a": "x > y", "b": 1})
    assert parse(render([call], form), form).calls[0].arguments == call.arguments
    check_format(form)


def test_arguments_on_lines_are_written_as_lines() -> None:
    lines = Format("f", (Literal("call "), NAME, Literal(":\n"), LINES, Literal("end")))
    call = ToolCall("g", {"a": "two\nlines", "b": [1]})
    assert render([call], lines) == "call g:\n  a: two\nlines\n  b: [1]\nend"
    assert parse(render([call], lines), lines).calls[0].arguments == call.arguments
