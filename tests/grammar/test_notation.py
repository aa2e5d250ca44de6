"""Patterns of `Format.of`: what they mean, what is refused, and that they say what words say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.fuzz.random_formats import random_formats
from tests.grammar.printed import InexpressibleError, printed
from tunaeval import ToolCall, formats, parse, parser_for, render
from tunaeval.errors import FormatError, UsageError
from tunaeval.grammar import (
    WITH_COLONS,
    Arguments,
    Attribute,
    CallObject,
    Elements,
    Key,
    Literal,
    Many,
    Markup,
    Maybe,
    Name,
    PythonCalls,
    Space,
    Value,
    Word,
)
from tunaeval.grammar.format import PLACEHOLDERS, Format
from tunaeval.grammar.formats import FORMATS, HERMES, JSON, PYTHONIC, TOOLS_TAG
from tunaeval.parsing.api import reader_named

NAME, KEY = Name(WITH_COLONS), Key()


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        # white space
        ("<c>\n⟨call⟩ >", (Literal("<c>"), Space("\n"), CallObject(), Space(" "), Literal(">"))),
        ("<c>⟨⟩⟨call⟩", (Literal("<c>"), Space(), CallObject())),
        ("<a>⟨ ⟩<b>⟨call⟩", (Literal("<a>"), Space(" "), Literal("<b>"), CallObject())),
        ("<a>  \n\t<b>⟨call⟩", (Literal("<a>"), Space("  \n\t"), Literal("<b>"), CallObject())),
        ("<a b>⟨call⟩", (Literal("<a b>"), CallObject())),
        ("\n  <c>⟨call⟩</c>\n", (Literal("<c>"), CallObject(), Literal("</c>"))),
        ("<c⟨= ⟩⟨call⟩⟨=\n⟩>", (Literal("<c "), CallObject(), Literal("\n>"))),
        ("<c> ⟨⟩\n⟨call⟩", (Literal("<c>"), Space(" \n"), CallObject())),
        # fixed text
        ("⟨<c>¦<d> ⟩⟨call⟩", (Literal("<c>", ("<d> ",)), CallObject())),
        ("<c>⟨|⟩<d>⟨call⟩", (Literal("<c>"), Literal("<d>"), CallObject())),
        # calls
        ("<c>⟨[call] keyed⟩", (Literal("<c>"), CallObject(array=True, listed=True, keyed=True))),
        ("<c>⟨call name=do arguments=with⟩", (Literal("<c>"), CallObject("do", "with"))),
        ("<c>⟨call joined=`; `⟩", (Literal("<c>"), CallObject(joined="; "))),
        ("<c>⟨calls⟩</c>", (Literal("<c>"), PythonCalls(listed=False), Literal("</c>"))),
        ("<c>⟨[calls]⟩", (Literal("<c>"), PythonCalls())),
        # names and arguments
        ("<c>⟨name⟩ ⟨arguments⟩", (Literal("<c>"), NAME, Space(" "), Arguments())),
        ("<c>⟨name⟩:⟨arguments⟩", (Literal("<c>"), Name(), Literal(":"), Arguments())),
        (
            "<c>⟨name⟩⟨maybe written⟩::⟨/maybe⟩⟨arguments mark=|⟩",
            (Literal("<c>"), Name(), Maybe((Literal("::"),), written=True), Arguments(mark="|")),
        ),
        (
            "<c>⟨name⟩⟨each⟩<⟨key escaped⟩⟨type text=s json=n,o⟩>⟨value quotes=(,)⟩<⟨/each⟩>",
            (
                Literal("<c>"),
                NAME,
                Many(
                    (
                        Literal("<"),
                        Key(escaped=True),
                        Attribute(("s",), ("n", "o")),
                        Literal(">"),
                        Value(quotes=("(", ")")),
                        Literal("<"),
                    )
                ),
                Literal(">"),
            ),
        ),
        ("<⟨name⟩⟨elements prefix=~⟩~</c>", (Literal("<"), NAME, Elements("~"), Literal("~</c>"))),
        (
            "<c>⟨skip text=`1 ` pattern=`[0-9 ]{0,3}`⟩⟨call⟩",
            (Literal("<c>"), Markup("1 ", "[0-9 ]{0,3}"), CallObject()),
        ),
    ],
)  # fmt: skip
def test_a_pattern_means_its_words(pattern: str, words: tuple[Word, ...]) -> None:
    assert Format.of("f", pattern, checked=False).words == words


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("<c>⟨cal⟩</c>", "⟨cal⟩ is no placeholder; there are ⟨call⟩, "),
        ("<c>⟨call</c>", "⟨ at '<c>⟨call</c>' has no other bracket"),
        ("<c>call⟩</c>", "⟩ at '<c>call⟩</c>' has no other bracket"),
        ("<c>⟨name⟩⟨each⟩<k>⟨key⟩⟨value⟩</v>", "⟨each⟩ has no ⟨/each⟩ behind it"),
        ("<c>⟨call⟩⟨/maybe⟩", "⟨/maybe⟩ has no ⟨maybe⟩ before it"),
        ("<c>⟨maybe⟩a⟨each⟩b⟨/maybe⟩", "⟨/maybe⟩ has no ⟨maybe⟩ before it"),
        ("<c>⟨name⟩⟨each⟩<k>⟨key⟩</k>⟨/each⟩", "so ⟨key⟩ and ⟨value⟩ are in it"),
        ("<c>⟨call colour=red⟩", "has the option 'colour=red'; ⟨call⟩ has name, arguments, "),
        ("<c>⟨call array=yes⟩", "the option array is written without a value"),
        ("<c>⟨call name⟩", "the option name needs a value"),
        ("<c>⟨skip text=1 pattern=[0-9] ?⟩⟨call⟩", "option '?'; ⟨skip⟩ has text, pattern, as in"),
        ("<c></c>", "nothing in it says which tool is called"),
        ("⟨name⟩ ⟨arguments⟩", "⟨name⟩ comes first, where fixed text or ⟨call⟩ or ⟨calls⟩ may be"),
        # nothing, and what comes to nothing
        ("", "nothing in it says which tool is called"),
        ("⟨=⟩", "nothing in it says which tool is called"),
        ("⟨|⟩", "nothing in it says which tool is called"),
        ("  ", "the pattern is '  ', and has to be a text that begins with a placeholder or fixed"),
        ("  \n⟨call⟩\n", r"the pattern is '  \n⟨call⟩\n', and has to be a text that begins with"),
        ("\u200b⟨call⟩\u200b", r"'\u200b' is found everywhere"),
        ("<c>⟨call⟩\u2060", r"'\u2060' is found everywhere"),
        # placeholders and options that are not there
        ("<c><call></c>", "says which tool is called; in these brackets (U+27E8) it needs"),
        ("<c>⟨cal⟩</c>", "⟨|⟩; did you mean ⟨call⟩ or ⟨calls⟩"),
        ("<c>⟨Call⟩</c>", "⟨|⟩; did you mean ⟨call⟩ or ⟨calls⟩"),
        ("<c>⟨call nme=do⟩", "has the option 'nme=do'; ⟨call⟩ has name, arguments, "),
        ("<c>⟨call nme=do⟩", ", inside, as in ⟨call name=`a b`⟩"),
        ("<c>⟨each keyed⟩a⟨/each⟩", "⟨each keyed⟩ has the option 'keyed'; ⟨each⟩ has none"),
        ("<c>⟨call name=a name=b⟩", "⟨call name=a name=b⟩ has the option name twice"),
        # keys
        ('<c>⟨call name="do"⟩', "⟨call⟩ has the keys ('\"do\"', 'arguments'); write two different"),
        ("<c>⟨call name=do, arguments=with⟩", "⟨call⟩ has the keys ('do,', 'with'); write two"),
        ("<c>⟨call name= arguments=with⟩", "⟨call⟩ has the keys ('', 'with'); write two different"),
        ("<c>⟨call arguments=`\\`⟩", r"⟨call⟩ has the keys ('name', '\\'); write two different"),
        ("<c>⟨call name=x arguments=x⟩", "⟨call⟩ has the keys ('x', 'x'); write two different"),
        # what is there twice, or too much
        ("<a>⟨name⟩<b>⟨name⟩<c>⟨arguments⟩", "; ⟨name⟩ is there already, so leave one of them"),
        ("<a>⟨call⟩<b>⟨call⟩", "; ⟨call⟩ is there already, so leave one of them out"),
        ("<a>⟨name⟩⟨call⟩", "; ⟨name⟩ is there already, so leave one of them out"),
        ("<a>⟨name⟩|⟨arguments⟩⟨each⟩<k>⟨key⟩=⟨value⟩;⟨/each⟩", "; ⟨arguments⟩ is there already"),
        ("<a>⟨name⟩⟨each⟩<⟨key⟩>⟨value⟩|⟨value⟩;⟨/each⟩", "; ⟨value⟩ is there already"),
        # what is missing, or comes too late
        ("<d>⟨name⟩<k>⟨key⟩=⟨value⟩</k>", "; put ⟨each⟩ and ⟨/each⟩ around what repeats for "),
        ("<d>⟨name⟩ ⟨value⟩", "; put ⟨each⟩ and ⟨/each⟩ around what repeats for each argument"),
        ("⟨call⟩</act>", "; put fixed text before ⟨call⟩"),
        ("⟨name⟩ ⟨arguments⟩", "; put fixed text before ⟨name⟩"),
        ("<d>⟨arguments⟩</d>", "; put ⟨name⟩ before ⟨arguments⟩, or, if the model writes none"),
        ("<d>⟨arguments⟩ ⟨name⟩</d>", "; ⟨name⟩ has to be before ⟨arguments⟩; another order needs"),
        ("<d>⟨name⟩ ⟨each⟩[⟨value⟩]⟨/each⟩", "; put ⟨key⟩ and fixed text before ⟨value⟩, or, if"),
        ("<d>⟨name⟩ ⟨each⟩[⟨value⟩ for ⟨key⟩]⟨/each⟩", "; ⟨key⟩ has to be before ⟨value⟩; ano"),
        ("<d>⟨name⟩ ⟨each⟩[⟨key⟩⟨value⟩]⟨/each⟩", "; put fixed text before ⟨value⟩"),
        ("<d>⟨name⟩⟨each⟩[⟨key⟩ ⟨value⟩\n⟨/each⟩", r"there is fixed text, as in ⟨=\n⟩"),
        # elements
        ('<do tool="⟨name⟩">⟨elements⟩</do>', "; ⟨elements⟩ needs a prefix before each tag, with"),
        ("<do>⟨name⟩</do>⟨elements prefix=p:⟩</end>", "; ⟨elements⟩ needs a prefix before each"),
    ],
)  # fmt: skip
def test_a_pattern_that_means_nothing_is_refused(pattern: str, reason: str) -> None:
    with pytest.raises(FormatError) as refusal:
        parser_for(Format.of("f", pattern))
    message = str(refusal.value)
    assert message.startswith("format 'f': ")
    assert reason in message


def test_texts_around_calls_are_in_the_same_notation() -> None:
    form = Format.of("f", "<c>⟨call⟩", around=("⟨<all>¦<ALL>⟩", Literal("</all>")))
    assert form.around == (Literal("<all>", ("<ALL>",)), Literal("</all>"))
    with pytest.raises(FormatError, match="has more than one fixed text"):
        Format.of("f", "<c>⟨call⟩", around=("<all>⟨call⟩", "</all>"))


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"arround": ("<b>", "</b>")}, "no option is called 'arround'; did you mean 'around'?"),
        ({"words": ()}, "no option is called 'words'; "),
        ({"around": ("<b>", " ")}, "the pattern is ' ', and has to be a text that begins"),
        ({"opens": 3}, "`opens` is for a call without fixed text before it; leave it out"),
        ({"opens": [("{",)]}, "`opens` is for a call without fixed text before it"),
    ],
)
def test_an_option_that_does_nothing_is_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(FormatError) as refusal:
        Format.of("f", "<c>⟨call⟩", **options)
    assert str(refusal.value).startswith("format 'f': ")
    assert reason in str(refusal.value)


def test_the_rows_of_a_bare_call_are_texts() -> None:
    with pytest.raises(FormatError, match="opens is 3; write a tuple"):
        Format.of("f", "⟨call⟩", opens=3)  # type: ignore[arg-type]  # the claim


def test_texts_around_calls_may_be_empty() -> None:
    form = Format.of("f", "<c>⟨call⟩", around=("<b>", ""))
    assert form.around == (Literal("<b>"), Literal(""))
    call = ToolCall("g", {})
    assert parse(render([call], form), form, level="strict").calls[0].name == "g"


def test_formats_side_by_side_are_given_one_by_one() -> None:
    with pytest.raises(FormatError) as refusal:
        Format.of("f", "<c>⟨call⟩", also=(formats.get("mistral"),))
    said = "also[0] is Reader('mistral'), and no Format; of a Reader, give those in its `formats`"
    assert said in str(refusal.value)
    several = reader_named("mistral").formats
    form = Format.of("f", "<c>⟨call⟩", also=several)
    assert parse('[TOOL_CALLS]g{"a": 1}', form).calls[0].format == "mistral-v11"


def test_a_format_beside_others_is_in_a_tuple() -> None:
    with pytest.raises(FormatError) as refusal:
        Format.of("f", "<c>⟨call⟩", also=HERMES)
    assert str(refusal.value).endswith("; write a tuple: (tunaeval.formats.get('hermes'),)")


def test_a_bare_call_knows_what_it_begins_with() -> None:
    assert Format.of("f", "⟨call array⟩", marked=False).words == JSON.words
    assert Format.of("f", "⟨[calls]⟩", marked=False).words == PYTHONIC.words
    rows = [("{", '"fn"')]
    form = Format.of("f", "⟨call name=fn⟩", opens=rows, marked=False)
    assert form.words == (CallObject("fn", opens=(("{", '"fn"'),)),)
    assert Format.of("f", "⟨calls loose⟩", marked=False, whole=True).call is None


@pytest.mark.parametrize("given", [5, None, b"<c>", ("<c>",)])
def test_a_pattern_is_a_text(given: Any) -> None:
    with pytest.raises(UsageError, match=r"format 'f': the pattern is .*has to be a text"):
        Format.of("f", given)


def test_a_format_of_one_s_own_is_what_a_built_in_is() -> None:
    own = Format.of("mine", "<tool_call>\n⟨call⟩\n</tool_call>")
    assert own.words == HERMES.words
    assert Format.of("mine", "<tools>\n⟨call array⟩\n</tools>").words == TOOLS_TAG.words


@pytest.mark.parametrize("kind", PLACEHOLDERS)
def test_every_placeholder_is_described(kind: str) -> None:
    page = Path(__file__).parents[2] / "docs" / "how-to" / "write-a-plug-in.md"
    for text in (page.read_text("utf-8"), Format.of.__doc__ or ""):
        assert f"⟨{kind}⟩" in text or f"⟨{kind} " in text


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_every_format_is_expressed_by_a_pattern(form: Format) -> None:
    assert words_of_bare(printed(form.words), form) == form.words


def words_of_bare(pattern: str, form: Format) -> tuple[Word, ...]:
    """The words of a pattern, with what a bare call of the format begins with."""
    word = form.call or form.python
    opens = word.opens if word and word.opens else None
    return Format.of(form.name, pattern, opens=opens, whole=form.whole, checked=False).words


@settings(deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(form=random_formats(), damage=st.integers(0, 40))
def test_a_random_format_is_the_same_by_its_pattern(form: Format, damage: int) -> None:
    try:
        pattern = printed(form.words)
    except InexpressibleError:
        assume(False)
    words = words_of_bare(pattern, form)
    assert words == form.words, pattern
    form = replace(form, prompted=False)  # of which a pattern says nothing
    twin = replace(form, words=words)
    text = render([ToolCall("f", {"a": "x", "b": 1})], form)
    assert render([ToolCall("f", {"a": "x", "b": 1})], twin) == text
    for each in (text, text[:damage], text[damage:]):
        assert parse(each, twin) == parse(each, form)


@pytest.mark.parametrize(
    ("pattern", "text", "arguments"),
    [
        ("(do ⟨name⟩ ⟨each⟩(⟨key⟩ ⟨value⟩)⟨/each⟩)", "(do f (aRome)(b 3))", {"aRome": "", "b": 3}),
        ("{do ⟨name⟩⟨each⟩; ⟨key⟩ = ⟨value⟩.⟨/each⟩}", "{do f; a=x.; b = 3.}", {"a": "x", "b": 3}),
        ("{do ⟨name⟩⟨each⟩; ⟨key⟩ is ⟨value⟩.⟨/each⟩}", "{do f; kiwi is 3.}", {"kiwi": 3}),
    ],
)  # fmt: skip
def test_a_key_leaves_the_sign_behind_white_space(
    pattern: str, text: str, arguments: dict[str, object]
) -> None:
    (call,) = parse(text, Format.of("f", pattern), level="strict").calls
    assert call.arguments == arguments
