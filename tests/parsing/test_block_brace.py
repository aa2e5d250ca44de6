"""Braces with bare keys and texts between marks: `call:f{a:<escape>x<escape>}`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parsing.samples import codes, said
from tests.parsing.test_law_growth import check_floods
from tunaeval import ToolCall, parse, render
from tunaeval.errors import FormatError
from tunaeval.grammar import Arguments, Literal, Name
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import FUNCTIONGEMMA, GEMMA4
from tunaeval.parsing.reader import reader_of
from tunaeval.testing.strategies import chunkings, json_values
from tunaeval.testing.streams import stream_of
from tunaeval.types.calls import JsonValue
from tunaeval.types.parsing import LEVELS, Level

FORMS = (FUNCTIONGEMMA, GEMMA4)
MARKS = {FUNCTIONGEMMA.name: "<escape>", GEMMA4.name: '<|"|>'}

PIECES = (
    "{", "}", "[", "]", ":", ",", "=", "a", "b:", "1", "-", "1e", "true", "None", "null", "'", '"',
    "MARK", "MAR", "<", "call:", "call:f{", "\n", " ", "Oslo", "\\", "\\u", "\\n", "é", "\x00",
    "a:MARKxMARK", "b:MARK", "call:f{a:1}", "`", "Os lo", "x" * 199, "/", "#", "OPEN", "CLOSE",
)  # fmt: skip


def framed(form: Format, body: str) -> str:
    """A call of `f` with these braces; MARK stands for the format's own."""
    assert form.opener
    assert form.closer
    mark = MARKS[form.name]
    text = f"{form.opener.text}call:f{body}{form.closer.text}"
    text = text.replace("MARK", mark).replace("MAR", mark[:-1])
    return text.replace("OPEN", form.opener.text).replace("CLOSE", form.closer.text)


def one(form: Format, body: str, level: Level = "standard") -> JsonValue:
    """The arguments of the one call; None if it is refused."""
    result = parse(framed(form, body), form, level=level)
    return result.calls[0].arguments if result.calls else None


every_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)


@every_form
def test_numbers_and_words_are_what_they_are_at_every_depth(form: Format) -> None:
    """Peers drop them, or make texts of them where no schema tells."""
    body = "{days:2,opts:{ok:false,l:[1,2.5],z:null,n:-1e3}}"
    wanted = {"days": 2, "opts": {"ok": False, "l": [1, 2.5], "z": None, "n": -1000.0}}
    assert one(form, body, "strict") == wanted


@every_form
def test_a_text_is_everything_up_to_its_mark(form: Format) -> None:
    for text in ("}CLOSE", 'say "hi", it\'s', "a:1,b:[2]", "\\n\n\t", "<", "MAR", "{", ""):
        body = f"{{a:MARK{text}MARK,b:1}}"
        wanted = framed(form, text).removesuffix(form.closer.text if form.closer else "")
        wanted = wanted.partition("call:f")[2]
        assert one(form, body, "strict") == {"a": wanted, "b": 1}


@given(
    arguments=st.dictionaries(st.text(max_size=8), json_values(), max_size=4),
    form=st.sampled_from(FORMS),
)
def test_what_is_written_needs_no_mend(arguments: dict[str, JsonValue], form: Format) -> None:
    """But for a text that holds the mark itself."""
    text = render([ToolCall("f", arguments)], form)
    assert said(parse(text, form)) == [("f", arguments)]
    if MARKS[form.name] not in str(arguments):
        assert said(parse(text, form, level="strict")) == [("f", arguments)]


@every_form
def test_a_text_that_holds_the_mark_is_written_in_quotes(form: Format) -> None:
    arguments = {"a": f'say "{MARKS[form.name]}"', MARKS[form.name]: 1}
    (call,) = parse(render([ToolCall("f", arguments)], form), form).calls
    assert call.arguments == arguments
    assert {repair.code for repair in call.repairs} == {"other-quotes"}


@every_form
@pytest.mark.parametrize(
    ("body", "repair", "arguments"),
    [
        ("{a:OsloMARK,b:2}", "missing-quote", {"a": "Oslo", "b": 2}),
        ("{a:New YorkMARK}", "missing-quote", {"a": "New York"}),
        ("{a:1x MARK}", "missing-quote", {"a": "1x "}),
        ("{a:~x@y.z,b:2}", "unquoted-string", {"a": "~x@y.z", "b": 2}),
        ("{a=2}", "separator", {"a": 2}),
        ("{a:[1,2}", "missing-closer", {"a": [1, 2]}),
        ("{a:1", "missing-closer", {"a": 1}),
        ('{a:"say "it" now"}', "inner-quote", {"a": 'say "it" now'}),
    ],
)
def test_what_is_guessed_stands_only_when_lenient(
    form: Format, body: str, repair: str, arguments: JsonValue
) -> None:
    assert one(form, body) is None
    (call,) = parse(framed(form, body), form, level="lenient").calls
    assert call.arguments == arguments
    assert repair in [each.code for each in call.repairs]


@every_form
@pytest.mark.parametrize("value", ["Oslo", "New York", "src/main.py", "a-b.c"])
def test_words_without_marks_are_a_text(form: Format, value: str) -> None:
    result = parse(framed(form, f"{{a:{value},b:[{value}]}}"), form)
    assert said(result) == [("f", {"a": value, "b": [value]})]
    assert [repair.code for repair in result.calls[0].repairs] == ["unmarked-text"] * 2
    assert one(form, f"{{a:{value}}}", "strict") is None
    assert one(form, f"{{a:{value}, then}}") is None


@every_form
@pytest.mark.parametrize(
    "body", ["{a:}", "{:1}", "{a 1}", "{1:2}", "{a:MARKxMARK MARKyMARK}", "{a:NaN}", "{a:1e999}"]
)
def test_what_makes_no_sense_is_refused(form: Format, body: str) -> None:
    for level in LEVELS:
        result = parse(framed(form, body), form, level=level)
        assert result.outcome == "malformed"
        assert len(result.diagnoses) == 1


@every_form
def test_every_cut_inside_a_call_is_told(form: Format) -> None:
    text = render([ToolCall("f", {"city": "Os\\lo", "days": 23, "all": [True]})], form)
    for cut in range(text.index("{"), text.rindex("}") + 1):
        assert parse(text[:cut], form).outcome == "truncated", text[:cut]
        for call in parse(text[:cut], form, level="lenient").calls:
            assert "truncated" in [repair.code for repair in call.repairs]


def hostile(most: int = 12) -> st.SearchStrategy[str]:
    """Braces that begin well, and what marks, keys and values are made of."""
    starts = st.sampled_from(["{a:", "{", "{a:MARK", '{a:"', "{a:MARKxMARK,"])
    body = st.lists(st.sampled_from(PIECES), max_size=most).map("".join)
    return st.tuples(starts, body).map("".join)


@every_form
@pytest.mark.parametrize("body", ["{a:Os lo", "{a:OsloMAR", "{a:MAR", "{a:1,MAR", "{a:MARKx"])
def test_a_cut_beside_a_mark_is_told(form: Format, body: str) -> None:
    text = framed(form, body).removesuffix(form.closer.text if form.closer else "")
    assert parse(text, form).outcome == "truncated"
    (call,) = parse(text, form, level="lenient").calls
    assert "truncated" in [repair.code for repair in call.repairs]


@every_form
@given(data=st.data(), body=hostile(), level=st.sampled_from(LEVELS))
def test_chunks_do_not_matter(form: Format, data: st.DataObject, body: str, level: Level) -> None:
    reader, text = reader_of(form), framed(form, body)
    found = stream_of(reader.stream(level=level), data.draw(chunkings(text)))[0]
    assert found == reader.parse(text, level=level)


@given(body=hostile(), form=st.sampled_from(FORMS))
def test_levels_are_monotone(body: str, form: Format) -> None:
    text = framed(form, body)
    strict, standard, lenient = (parse(text, form, level=level) for level in LEVELS)
    assert strict.diagnoses or strict == standard
    assert standard.diagnoses or standard == lenient


FLOODS = (
    "<escape>", "<esc", "call:f{a:", "{", "{a:", "a:", "a", "1", "-", ",", "}", "x ", '"', "\\",
    "<start_function_call>", "<start_function_call>call:f{a:1}", "<end_function_call>",
    "a:<escape>", "a:1,", "true,", " ", "Oslo<escape>,a:", "[", "<escape>x<escape> ",
)  # fmt: skip


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("prefix", ["", "{a:", "{a:<escape>", '{a:"', "{"])
def test_twice_the_text_takes_about_twice_the_time(prefix: str, every: int) -> None:
    """Without `-m slow` it is every third flood, and another third behind each prefix."""
    reader = reader_of(FUNCTIONGEMMA)
    before = f"<start_function_call>call:f{prefix}" if prefix else ""
    check_floods(reader, before, FLOODS[len(prefix) % every :: every])


@every_form
def test_depth_is_capped(form: Format) -> None:
    for depth, outcome in ((127, "calls"), (128, "malformed"), (50_000, "malformed")):
        result = parse(framed(form, f"{{a:{'[' * depth}{']' * depth}}}"), form)
        assert result.outcome == outcome
        assert codes(result) == ([] if outcome == "calls" else ["too-deep"])


@pytest.mark.parametrize("mark", ['"', "a", "{", ":", "<>a<>", "<c>", "</c>", "<c>x", " "])
def test_a_mark_that_could_be_something_else_is_refused(mark: str) -> None:
    with pytest.raises(FormatError, match="the mark"):
        Format("f", (Literal("<c>"), Name(), Arguments(mark=mark), Literal("</c>")))
