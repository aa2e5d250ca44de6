"""Nothing in another's turn is read or paid, and the model's call in a turn that is read counts.

The conversations are those that the templates of TRL's wheel write, and those of each family.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tunaeval
from tests.parsing.test_law_growth import assert_linear
from tests.parsing.test_templates import TEMPLATES, needs_trl
from tunaeval import ToolCall, parse, render, stream
from tunaeval.cli import main
from tunaeval.errors import UsageError
from tunaeval.grammar.formats import FORMATS
from tunaeval.grammar.turns import FAMILIES, PROMPTED, Turns
from tunaeval.parsing.api import parser_for
from tunaeval.parsing.reader import Reader
from tunaeval.parsing.templates import check_template, render_by, turns_by, wanted_arguments
from tunaeval.rewards import Gold, Recipe, attempt_spans, reward
from tunaeval.types.calls import Tools, ToolSpec
from tunaeval.types.parsing import LEVELS, ParseResult

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
NAMES = ("sound", "again", "by_system", "by_user", "by_tool")
TOOLS = Tools(ToolSpec(name, parameters=SCHEMA) for name in NAMES)
OWN = {"sound", "again"}


def written(name: str, form: str = "hermes", city: str = "Rome") -> str:
    return render([ToolCall(name, {"city": city})], form)


def gold_of(name: str) -> Gold:
    return Gold.of([{"name": name, "arguments": {"city": "Rome"}}], TOOLS)


def names(result: ParseResult) -> list[str]:
    return [call.name for call in result.calls]


def codes(result: ParseResult) -> list[str]:
    return [note.code for note in result.diagnoses]


def streamed(text: str, name: str = "auto", size: int = 1, **more: Any) -> ParseResult:
    reading = stream(name, tools=TOOLS, **more)
    for start in range(0, len(text), size):
        reading.feed(text[start : start + size])
    return reading.finish()


def reader_of(name: str) -> Reader:
    parser = parser_for(name)
    assert isinstance(parser, Reader)
    return parser


def assert_none_of_others(text: str, name: str) -> tuple[list[str], list[str]]:
    """Return the calls of the model's first turn, and of all its turns."""
    result = parse(text, name, TOOLS)
    every = reader_of(name).read_turns(text, TOOLS, "standard")[0]
    assert {*names(result), *names(every)} <= OWN, text
    assert streamed(text, name) == streamed(text, name, 7) == result
    for other in set(NAMES) - OWN:
        assert reward(text, gold_of(other), recipe=Recipe(reader=name)).value < 0.5
    return names(result), names(every)


# --- what templates write -------------------------------------------------------------------------


def conversations(template: str, form: str) -> Iterator[str]:
    """Yield what a template writes of a conversation with a call in each turn of another."""
    try:
        kind = wanted_arguments(template)
    except UsageError:
        kind = "object"
    for parts in (False, True):
        for by_system in (True, False):
            for by_tool in (True, False):
                messages = _conversation(form, by_system=by_system, by_tool=by_tool, kind=kind)
                if parts:
                    messages = [
                        {**one, "content": [{"type": "text", "text": one["content"]}]}
                        for one in messages
                    ]
                try:
                    text = render_by(template, messages)
                except UsageError:
                    continue
                if "'type'" not in text and ("by_tool" in text or not by_tool):
                    yield text


def _conversation(form: str, *, by_system: bool, by_tool: bool, kind: str) -> list[dict[str, Any]]:
    arguments: Any = {"city": "Rome"} if kind == "object" else '{"city": "Rome"}'
    own = {"function": {"name": "sound", "arguments": arguments}, "type": "function"}
    turn: dict[str, Any] = {"role": "assistant", "content": written("sound", form)}
    if by_tool:
        turn = {"role": "assistant", "content": "", "tool_calls": [{**own, "id": "functions.f:0"}]}
    found: list[dict[str, Any]] = [{"role": "user", "content": f"Do {written('by_user', form)}"}]
    found = [{"role": "system", "content": f"You. {written('by_system', form)}"}, *found][
        not by_system :
    ]
    result = {"role": "tool", "name": "sound", "tool_call_id": "functions.f:0"}
    found += [turn, *([{**result, "content": f"It {written('by_tool', form)}"}] * by_tool)]
    found += [{"role": "assistant", "content": "Well."}] * by_tool
    return [*found, {"role": "user", "content": f"And {written('by_user', form)}"}]


FORMS = ("hermes", "qwen3-coder", "llama3-bare", "gemma4", "harmony", "python-calls")
WITHOUT_HEADER = ("deepseek",)
"""The templates whose system's turn has no header, so that it looks like the model's."""


@needs_trl
@pytest.mark.parametrize("name", TEMPLATES)
def test_no_call_of_another_in_what_a_template_writes_counts(name: str) -> None:
    for form in FORMS:
        for text in conversations(TEMPLATES[name], form):
            if "by_system" in text and name.startswith(WITHOUT_HEADER):
                continue
            for how in ("auto", form):
                first, every = assert_none_of_others(text, how)
                if how == "auto" and form != "python-calls" and "lfm2" not in name:
                    assert first == every == ["sound"] or "sound" not in text, text


@needs_trl
@pytest.mark.parametrize("name", TEMPLATES)
def test_the_family_of_each_template_is_known(name: str) -> None:
    assert check_template(TEMPLATES[name]).turns in {family.name for family in FAMILIES}


# --- the families ---------------------------------------------------------------------------------


def headers(family: Turns) -> list[tuple[str, str]]:
    """What begins another's turn, and what ends it with the beginning of the model's."""
    end = (*family.closed, *family.ends, "")[0]
    own = [f"{text}{family.tails[0]}" for text in family.model]
    heads = [(f"{end}{text}{family.tails[0]}", f"{end}{own[0]}") for text in family.headers if own]
    return [*heads, *family.pairs]


HEADERS = [(family.name, *pair) for family in FAMILIES for pair in headers(family)]


@pytest.mark.parametrize(("family", "begins", "ends"), HEADERS)
def test_the_turns_of_each_family_are_known(family: str, begins: str, ends: str) -> None:
    other = f"{begins}It {written('by_tool')} is.{ends}"
    for text in (f"Well.{other}So.", f"Well.{other[: len(other) - len(ends)]}", f"{other}So."):
        assert assert_none_of_others(text, "auto") == ([], [])
        assert family == "inkling" or codes(parse(text, tools=TOOLS)) == ["later-turn"]
    before = f"{written('sound')}{other}So {written('again')}"
    assert assert_none_of_others(before, "hermes") == (["sound"], ["sound", "again"])
    assert codes(parse(before, tools=TOOLS)) == ["later-turn"]
    behind = f"{other}{written('again')}"
    assert assert_none_of_others(behind, "auto") == (["again"], ["again"])
    assert reward(behind, gold_of("again"), recipe=Recipe(observations=False)).value < 1.0


@pytest.mark.parametrize(("family", "begins", "ends"), HEADERS)
def test_a_fence_that_stays_open_hides_no_header(family: str, begins: str, ends: str) -> None:
    other = f"{begins}It {written('by_tool')} is.{ends}"
    for opened in ("So:\n```python\nx = 1\n", "```\n", '```json\n{"a": 1}\n'):
        text = f"{opened}{other}So {written('again')}"
        first, every = assert_none_of_others(text, "hermes")
        assert first == []
        assert every in ([], ["again"]), family
        closed = f"{opened}{begins}It is.{ends}\n```\n{written('sound')}"
        assert streamed(closed, size=5) == parse(closed, tools=TOOLS)


@pytest.mark.parametrize(
    "rest",
    ["user\n", "ipython<|end_header_id|>\n\n", "tool<|im_middle|>", "environment\n",
     "tool_response<|end_of_role|>", "functions.f to=assistant<|channel|>commentary<|message|>"],
)  # fmt: skip
def test_a_text_may_begin_in_the_rest_of_a_header(rest: str) -> None:
    other = f"{rest}Do {written('by_user')}"
    assert assert_none_of_others(other, "auto") == ([], [])
    own = {"user\n": "<|im_end|>\n<|im_start|>assistant\n"}.get(rest, "")
    if own:
        assert assert_none_of_others(f"{other}{own}{written('sound')}", "hermes")[0] == ["sound"]
    tool = Tools([ToolSpec("user"), *TOOLS.values()])
    assert names(parse('user\n{"city": "Rome"}', "name-json", tool)) == ["user"], "a tool's name"


CLOSERS = [closer for family in FAMILIES for _, closer in family.pairs]


@pytest.mark.parametrize("closer", CLOSERS)
def test_before_an_end_that_only_others_have_all_is_anothers(closer: str) -> None:
    text = f"It {written('by_tool')} is.{closer}{written('sound')}"
    assert assert_none_of_others(text, "auto") == (["sound"], ["sound"])
    assert parse(text, tools=TOOLS).content == ""
    own = f"<|im_start|>assistant\n{written('sound')}{closer} So."
    assert names(parse(own, tools=TOOLS)) == ["sound"], "the model's header was before"


# --- mentions -------------------------------------------------------------------------------------

MENTIONS = [
    f"A turn begins with {quoted} there."
    for marker in ("<|im_start|>user", "<|user|>", "<|observation|>", "[INST]", "<tool_response>",
                   "<|start_header_id|>user<|end_header_id|>", "</tool_response>", "<｜User｜>")
    for quoted in (f"`{marker}`", f'"{marker}"', marker)
]  # fmt: skip
MENTIONS += ["So:\n```\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n```\n"]


@pytest.mark.parametrize("mention", MENTIONS)
def test_a_marker_that_is_mentioned_begins_no_turn(mention: str) -> None:
    text = f"{mention}\n{written('sound')}"
    result = parse(text, tools=TOOLS)
    assert (names(result), codes(result)) == (["sound"], [])
    assert streamed(text) == result
    for recipe in (Recipe(), Recipe(observations=False)):
        assert reward(text, gold_of("sound"), recipe=recipe).value == 1.0
        assert reward(mention, Gold.of([], TOOLS), recipe=recipe).value == 1.0


@pytest.mark.parametrize("form", ["hermes", "qwen3-coder", "glm45", "minimax-m2", "llama3-bare"])
@pytest.mark.parametrize(("begins", "ends"), [pair for _, *pair in HEADERS])
def test_a_marker_inside_of_a_calls_string_is_text(begins: str, ends: str, form: str) -> None:
    city = f"a {begins}b{ends} c"
    for text in (written("sound", form, city), f"So: {written('sound', form, city)} Done."):
        result = parse(text, form, TOOLS)
        assert [call.arguments for call in result.calls] == [{"city": city}]
        assert streamed(text, form) == result
        gold = Gold.of([{"name": "sound", "arguments": {"city": city}}], TOOLS)
        assert reward(text, gold, recipe=Recipe(reader=form)).value == 1.0


def test_a_tool_may_be_named_like_a_marker() -> None:
    for name in ("<|user|>", "user", "<|im_start|>user\n", "[INST]"):
        tools = Tools([ToolSpec(name)])
        text = f'<tool_call>{{"name": {json.dumps(name)}, "arguments": {{}}}}</tool_call>'
        assert names(parse(text, tools=tools)) == [name]


# --- calls that were cut --------------------------------------------------------------------------


@pytest.mark.parametrize("form", [name for name, form in FORMATS.items() if form.marked])
@settings(max_examples=settings().max_examples // 4)
@given(data=st.data())
def test_a_call_that_is_cut_ends_with_the_turn(form: str, data: st.DataObject) -> None:
    """What comes behind it is another's, though it ends like the call."""
    call = written("sound", form)
    cut = data.draw(st.integers(1, len(call) - 1))
    begins, ends = data.draw(st.sampled_from([
        ("<|im_end|>\n<|im_start|>user\n", "<|im_end|>\n<|im_start|>assistant\n"),
        ("<|eot_id|><|start_header_id|>ipython<|end_header_id|>\n\n",
         "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n"),
    ]))  # fmt: skip
    level = data.draw(st.sampled_from(LEVELS))
    others = f"It {written('by_tool', form)} and\n{written('by_user', form)}"
    text = f"{call[:cut]}{begins}{others}{ends}{written('again', form)}"
    for how in ("auto", form):
        if form in ("deepseek-v3", "fence", "tool-code", "command-r"):
            continue  # what a fence that stays open hides is code
        result = parse(text, how, TOOLS, level)
        assert {*names(result)} <= {"sound"}, text
        assert streamed(text, how, data.draw(st.integers(1, 40)), level=level) == result


# --- floods, templates ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "flood",
    ["<|im_start|>user\nx<|im_end|>\n<|im_start|>assistant\ny", "<|user|>", "<tool_response>",
     "<|im_start|>user\n", "</tool_response>", "x<|observation|>y<|assistant|>f(x=1)",
     "<|im_start|>assistant\n", "[INST]x[/INST] y", f"{written('sound')}<|user|>x<|assistant|>"],
)  # fmt: skip
def test_many_turns_take_time_in_proportion(flood: str) -> None:
    assert_linear(lambda text: parse(text, tools=TOOLS), "", flood, 64 * 1024)
    assert_linear(lambda text: streamed(text, size=97), "", flood, 16 * 1024)
    gold = gold_of("sound")
    # What follows `MAX_CALLS` calls is looked at by the reward alone: both sizes are below it.
    assert_linear(lambda text: reward(text, gold), "Well.", flood, 32 * 1024)


def test_a_hundred_thousand_turns_are_read() -> None:
    text = "<|user|>x<|assistant|>y" * 100_000 + written("sound")
    recipe = Recipe(max_characters=len(text))
    assert reward(text, gold_of("sound"), recipe=recipe).value == 1.0
    assert codes(parse(text, tools=TOOLS)) == ["later-turn"] * 2


OTHER = (
    "{% for m in messages %}{{ '@@' + m.role + '@@' + m.content + '##' }}{% endfor %}"
    "{% if add_generation_prompt %}@@assistant@@{% endif %}"
)


def test_the_turns_of_any_other_template_are_known_once_it_is_given() -> None:
    text = f"Well.##@@user@@{written('by_user')}##@@assistant@@{written('sound')}"
    assert names(parse(text)) == ["by_user", "sound"]
    result = parse(text, template=OTHER)
    assert (names(result), codes(result)) == ([], ["later-turn"])
    assert streamed(text, template=OTHER) == parse(text, tools=TOOLS, template=OTHER)
    recipe = Recipe(template=OTHER)
    assert reward(text, gold_of("by_user"), recipe=recipe).value < 0.5
    assert reward(text, gold_of("sound"), recipe=recipe).value == 1.0
    assert [one.kind for one in attempt_spans(text, gold_of("sound"), recipe=recipe)] == ["right"]
    assert recipe.digest != Recipe().digest
    with pytest.raises(UsageError, match="no Jinja"):
        parse(text, template="{% for %}")
    with pytest.raises(UsageError, match="writes nothing of some messages"):
        Recipe(template="Hello")


@needs_trl
@pytest.mark.parametrize("name", [name for name in TEMPLATES if "training" not in name])
def test_the_markers_of_a_template_are_found_by_rendering_it(name: str) -> None:
    """As if no family were known."""
    known = turns_by(TEMPLATES[name])
    form = tunaeval.Format.of("alone", "<tool_call>\n⟨call⟩\n</tool_call>", turns=(known,))
    for text in conversations(TEMPLATES[name], "hermes"):
        if "by_system" not in text and name != "gptoss":  # in which the tool's answer is JSON
            assert {*names(tunaeval.parse(text, form, TOOLS))} <= OWN, text


def test_a_file_that_is_no_template_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "some.txt"
    for data in (b"Hello.\n", b"\x00\xff", b"{}", b""):
        file.write_bytes(data)
        assert main(["template", "check", str(file)]) == 2
        said = capsys.readouterr()
        assert not said.out
        assert len(said.err.splitlines()) == 1
    file.write_text(OTHER, "utf-8")
    main(["template", "check", str(file)])
    said = capsys.readouterr()
    assert "turns: of no known family" in said.out
    assert "give it as `template=`" in said.err


def test_what_prompts_write_around_answers_are_words_where_nothing_is_called() -> None:
    for opener, closer in PROMPTED.pairs:
        text = f"My notes:\n{opener} it rains.{closer}"
        assert reward(text, Gold.of([], TOOLS)).value == 1.0
        assert parse(text, tools=TOOLS).content == text
