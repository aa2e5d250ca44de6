"""The models' own chat templates decide what `render` writes, and all that they write is read.

The templates are those of TRL's wheel, which needs no torch for them: pip install --no-deps trl.
docs/reference/templates.md has the same table.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tunaeval import ToolCall, parse, render, stream
from tunaeval.errors import UsageError
from tunaeval.grammar.formats import FORMATS
from tunaeval.parsing.read_back import misread
from tunaeval.parsing.templates import (
    check_template,
    render_by,
    turn_by,
    wanted_arguments,
    writes_alike,
)
from tunaeval.parsing.write import render_calls
from tunaeval.types.calls import JsonValue, Tools, ToolSpec

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "templates.md"

OLD_NULL = "it writes `None` for null, as gemma4_v5 no longer does"
PYTHON_WORDS = "it writes `True`, `False` and `None`, as qwen3_6 and qwen3_8 no longer do"
UNESCAPED = (
    "it escapes nothing in a text, where lfm2_v2 and lfm2_2_5_vl do, and lists are Python's; "
    "a text with a quote or a newline is ambiguous, and read with a repair"
)
FORMAT_OF = {
    "deepseekv3": "deepseek-v3", "diffusion_gemma": "gemma4", "gemma4_v5": "gemma4",
    "glm4moe": "glm45", "gptoss": "harmony", "lfm2_2_5_vl": "lfm2-pythonic",
    "lfm2_v2": "lfm2-pythonic", "llama3_1": "llama3-bare", "llama3_2": "llama3-bare",
    "muse_glimmer": "muse", "qwen2_5": "hermes", "qwen3": "hermes", "qwen3_6": "qwen3-coder",
    "qwen3_8": "qwen3-coder", "qwen3_instruct_2507": "hermes", "qwen3_vl": "hermes",
}  # fmt: skip
"""The templates that `render` equals to the letter, each with its format."""
OTHERWISE = {
    **dict.fromkeys(("gemma4", "gemma4_v2", "gemma4_v3", "gemma4_v4"), ("gemma4", OLD_NULL)),
    **dict.fromkeys(
        (
            "nemotron_3_5_lightning", "nemotron_3_nano", "nemotron_3_super", "nemotron_3_ultra",
            "qwen3_5_nothink", "qwen3_5_think",
        ),
        ("qwen3-coder", PYTHON_WORDS),
    ),
    **dict.fromkeys(("lfm2_2_5", "lfm2_2_5_v2"), ("lfm2-pythonic", UNESCAPED)),
}  # fmt: skip
"""The templates that write some calls otherwise, each with its format and the reason."""
ONE_CALL = ("gptoss", "llama3_1", "llama3_2")
"""Those that write one call a turn."""
NO_CALLS = "{{ messages[0].content }}"


def templates() -> dict[str, str]:
    """Return the templates of TRL that write calls, by name; those for training, too."""
    spec = find_spec("trl")
    if spec is None or spec.origin is None:
        return {}
    files = sorted((Path(spec.origin).parent / "chat_templates").glob("*.jinja"))
    found = {file.stem: file.read_text("utf-8") for file in files}
    return {
        name: text
        for name, text in found.items()
        if "tool_calls" in text and not name.startswith("deepseek_r1")  # writes results alone
    }


TEMPLATES = templates()
needs_trl = pytest.mark.skipif(not TEMPLATES, reason="pip install --no-deps trl")
each_template = pytest.mark.parametrize("name", TEMPLATES)


def stem(name: str) -> str:
    """Return the name of the template that a template for training was made from."""
    return name.removesuffix("_training")


TEXTS = st.text("ab 1,:'\"\\\n{}[]=äß", max_size=12)
SCALARS = st.one_of(TEXTS, st.integers(-999, 10**12), st.floats(-9, 9), st.booleans(), st.none())
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abC"), inner, max_size=3)
    ),
    max_leaves=6,
)
CALLS = st.builds(
    ToolCall,
    st.sampled_from(["get_weather", "now"]),
    st.dictionaries(st.sampled_from(["place", "Days", "unit", "x1"]), VALUES, max_size=4),
)
KINDS = {str: "string", bool: "boolean", type(None): "null", list: "array", dict: "object"}


def tools_of(calls: list[ToolCall]) -> Tools:
    """Return tools with a schema that every value of the calls fits."""
    kinds: dict[str, dict[str, set[str]]] = {}
    for call in calls:
        declared = kinds.setdefault(call.name, {})
        for key, value in call.arguments.items():
            declared.setdefault(key, set()).add(KINDS.get(type(value), "number"))
    return Tools(
        ToolSpec(name, parameters={"properties": {k: {"type": sorted(v)} for k, v in d.items()}})
        for name, d in kinds.items()
    )


def one_kind_each(calls: list[ToolCall]) -> bool:
    """Whether no argument is a text in one call and another value in the other.

    Where values are bare text, a schema of several types does not say which one is meant.
    """
    kinds: dict[tuple[str, str], set[type]] = {}
    for call in calls:
        for key, value in call.arguments.items():
            kinds.setdefault((call.name, key), set()).add(type(value))
    return all(len(found) == 1 for found in kinds.values())


def drawn_for(name: str) -> st.SearchStrategy[list[ToolCall]]:
    most = 1 if stem(name) in ONE_CALL else 2
    return st.lists(CALLS, min_size=1, max_size=most).filter(one_kind_each)


@needs_trl
def test_every_template_is_in_the_table() -> None:
    assert {stem(name) for name in TEMPLATES} == {*FORMAT_OF, *OTHERWISE}


@needs_trl
@each_template
def test_what_a_template_writes_is_read_strictly_whole_and_streamed(name: str) -> None:
    form, reason = OTHERWISE.get(stem(name)) or (FORMAT_OF[stem(name)], "")
    if reason == UNESCAPED:
        assert "a raw control character" in check_template(TEMPLATES[name]).fault
        return

    @settings(max_examples=12)
    @given(calls=drawn_for(name))
    def read_back(calls: list[ToolCall]) -> None:
        text, tools = turn_by(TEMPLATES[name], calls), tools_of(calls)
        result = parse(text, FORMATS[form], tools, "strict")
        assert misread(result, calls) is None
        reading = stream(FORMATS[form], tools=tools, level="strict")
        for character in text:
            reading.feed(character)
        assert reading.finish() == result

    read_back()


@needs_trl
@pytest.mark.parametrize("name", [name for name in TEMPLATES if stem(name) in FORMAT_OF])
def test_render_writes_what_the_template_writes(name: str) -> None:
    form = FORMATS[FORMAT_OF[stem(name)]]

    @settings(max_examples=12)
    @given(calls=drawn_for(name))
    def written_alike(calls: list[ToolCall]) -> None:
        assert writes_alike(turn_by(TEMPLATES[name], calls), render_calls(calls, form), form)

    written_alike()


@needs_trl
@pytest.mark.parametrize("name", [name for name in TEMPLATES if stem(name) in OTHERWISE])
def test_a_difference_is_still_one(name: str) -> None:
    assert not check_template(TEMPLATES[name]).equal


@needs_trl
def test_the_page_has_the_table() -> None:
    page = PAGE.read_text("utf-8")
    for name, form in FORMAT_OF.items():
        assert f"| `{name}` | `{form}` | yes |" in page
    for name, (form, reason) in OTHERWISE.items():
        assert f"| `{name}` | `{form}` | {reason} |" in page


@needs_trl
def test_a_template_says_what_arguments_it_wants() -> None:
    wanted = {name: wanted_arguments(text) for name, text in TEMPLATES.items()}
    assert [name for name, kind in wanted.items() if kind == "text"] == ["deepseekv3"]


HERMES = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content }}"
    "{% for c in m.tool_calls %}{{ '\n' if not loop.first }}<tool_call>\n"
    "{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}\n</tool_call>"
    "{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""A template that is written like Qwen's, in few lines."""
LS = ToolCall("ls", {"path": "."})


def test_calls_are_written_by_a_template() -> None:
    asked = [{"role": "user", "content": "Which files?"}]
    assert render([LS], template=HERMES, messages=asked, tools=[{"name": "ls"}]) == render([LS])
    assert render([], template=HERMES) == ""


def test_a_format_and_a_template_are_refused() -> None:
    with pytest.raises(UsageError, match="give one of the two"):
        render([LS], "hermes", template=HERMES)


def test_a_template_that_leaves_out_calls_is_no_writer() -> None:
    with pytest.raises(UsageError, match="writes 0 of 1 calls of 'ls'"):
        render([LS], template=NO_CALLS)


def test_a_template_may_want_text() -> None:
    joined = HERMES.replace(
        "{{ {'name'", '{{ \'{"name": "\' + c.function.name + \'", "arguments": \''
    )
    joined = joined.replace(
        ": c.function.name, 'arguments': c.function.arguments} | tojson",
        "+ c.function.arguments + '}'",
    )
    assert wanted_arguments(joined) == "text"
    assert render([LS], template=joined) == render([LS])


GROWING = (
    "{{% set ns = namespace(x={}) %}}{{% for i in range(60) %}}{{% set ns.x = {} %}}{{% endfor %}}"
)
HOSTILE = {
    "{% for i in range(10**9) %}{% endfor %}": "Range too big",
    "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}": "steps",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}": "calls itself without end",
    "{{ 'a' * 10**10 }}": "characters",
    "{{ 'a'.center(10**10) }}": "characters",
    "{{ 'a' | center(10**10) }}": "characters",
    "{{ '%9999999999d' % 1 }}": "characters",
    "{{ '%*d' % (9999999999, 1) }}": "characters",
    "{{ '{:>9999999999}'.format(1) }}": "characters",
    "{{ (1).to_bytes(10**10) }}": "characters",
    "{{ 7 ** (10**8) }}": "characters",
    "{{ [1] | tojson(indent=10**10) }}": "characters",
    "{% set x = 'a' * 9999 %}{{ x.replace('a', x) }}": "characters",
    "{% set x = 'a' * 9999 %}{{ x | join(x) }}": "characters",
    GROWING.format("'a'", "ns.x + ns.x"): "characters",
    GROWING.format("'a'", "ns.x ~ ns.x"): "characters",
    GROWING.format("'a'", "[ns.x, ns.x]"): "characters",
    GROWING.format("7", "ns.x * ns.x"): "characters",
    "{% for i in range(99999) %}" + "x" * 99999 + "{% endfor %}": "steps",
    "{% include '/etc/passwd' %}": "includes another file",
    "{{ open('/etc/passwd').read() }}": "'open' is undefined",
    "{{ ''.__class__.__mro__ }}": "is unsafe",
    "{{ messages.append(1) }}": "is unsafe",
    "{{ raise_exception('only one call') }}": "it says 'only one call'",
    "{{ 1 / 0 }}": "rendered: division by zero (line 1)",
    "a\n{{ 'a' + 1 }}": "rendered: can only concatenate",
    "a\n{{ messages.role.of }}": "rendered: 'list object' has no attribute 'role' (line 2)",
    "{{ '{x}'.format() }}": "rendered: there is no 'x' (line 1)",
    "{% for %}": "line 1 of the template is no Jinja",
}  # fmt: skip


@pytest.mark.parametrize("template", HOSTILE, ids=lambda text: text[:60])
def test_a_hostile_template_gets_a_clear_sentence(template: str) -> None:
    with pytest.raises(UsageError, match=re.escape(HOSTILE[template])) as caught:
        render_by(template, [{"role": "user", "content": "aa"}] * 2)
    assert "Error" not in str(caught.value), "no name that only Python has"


def test_a_long_conversation_is_within_the_limits() -> None:
    """400 messages, and files of 20,000 characters."""
    said = [
        {"role": role, "content": "word " * 4000}
        for _ in range(200)
        for role in ("user", "assistant")
    ]
    assert len(render_by(HERMES, said)) > 8_000_000


BIG = "{% set a = 'a' * 4000000 %}{% set b = 'a' * 3999999 ~ 'b' %}"
EACH = BIG + "{% for i in range(99999) %}{% if HERE %}{% endif %}{% endfor %}"
COSTLY = {
    **{
        f"if {one}": EACH.replace("HERE", one)
        for one in (
            "a == b", "a < b", "b in a", "b is in a", "a is eq b", "a[1:]", "a.count('ab')",
            "a.find('ab')", "a.strip('a')", "a.isalpha()", "a | title", "a | wordcount",
            "(a | replace('a', 'b')) == b", "range(99999) | sum", "7 ** 5000 // 7 ** 2500",
        )
    },
    "if words are wrapped": EACH.replace("4000000", "400").replace("HERE", "a | wordwrap(1)"),
    "if characters are mapped": EACH.replace("4000000", "9999").replace("HERE", "a | map('title')"),
    "a long template": "{{ a }}" * 500_000,
    "a deep template": "".join("{{ a" + ".a" * 90 + " }}" for _ in range(240)),
    "a long turn": HERMES.replace("<|im_end|>", "{{ '<tool_call>{' * 90000 }}<|im_end|>"),
    "a long end": "{% for m in messages %}{{ m.content }}{% endfor %}{{ '<' * 4000000 }}",
}  # fmt: skip
"""Templates of which each took minutes, or the memory."""


@pytest.mark.parametrize("name", COSTLY)
def test_a_check_ends_in_bounded_time(name: str) -> None:
    began = time.process_time()
    with suppress(UsageError):
        assert check_template(COSTLY[name]).fault
    assert time.process_time() - began < 15


def test_all_renderings_of_a_check_have_one_budget() -> None:
    """A template that is rendered within the limits takes half of them in each rendering."""
    slow = HERMES + "{% for i in range(99999) %}{% if i is even %}{% endif %}{% endfor %}" * 2
    asked = [{"role": "user", "content": "aa"}]
    assert render_by(slow, asked)
    assert wanted_arguments(slow) == "object"
    assert turn_by(HERMES, [LS])
    assert "more than 500,000 steps" in check_template(slow).fault
