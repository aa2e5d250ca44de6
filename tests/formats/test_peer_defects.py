"""What parsers of others were seen to get wrong, by the number of the defect in our catalogue.

Each test is a claim about what tunaeval does with such a text, whole and as a stream. Here are 1 to
9; 10 and 19 are in `test_peer_defects_values.py`, the others in `test_peer_defects_texts.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.formats.reading import (
    FIND,
    FOUND,
    PING,
    PINGED,
    SUM,
    SUMMED,
    TOOLS,
    read,
    saving,
    with_invoke,
    with_pairs,
    with_parameters,
    with_steps,
)
from tests.parsing.samples import codes, said, tagged
from tests.parsing.test_law_growth import BOUND, assert_linear, growth
from tunaeval import parse, stream
from tunaeval.types.calls import JsonValue

BOTH = [FOUND, SUMMED]
"""What most rows call."""

_FOLDER, _SUMMANDS = '{"folder": "src", "depth": 2}', '{"a": 1, "b": 2.5}'


# --- 1: texts that take forever ----------------------------------------------------------------

_FLOODS = {
    "1 pythonic": ("pythonic", "[A(A=", ")A(A=, "),
    "1b parameters": ("qwen3_coder", "<tool_call>\n<function=f>\n", "<parameter=a>"),
    "1c spaces": ("poolside_v1", "<tool_call>", " "),
    "1c spaces and more": ("poolside_v1", "", "<tool_call>" + " " * 40 + "x\n<</tool_call>"),
    "1d glm45": ("glm45", "", "<tool_call>"),
    "1d mimo": ("mimo", "", "<tool_call>"),
    "1d minicpm5": ("minicpm5", "", "<function"),
    "1d minicpm5 names": ("minicpm5", "", '<function name="'),
}


@pytest.mark.parametrize(("name", "prefix", "flood"), _FLOODS.values(), ids=_FLOODS)
@pytest.mark.parametrize("chunk", [0, 4], ids=["whole", "streamed"])
@pytest.mark.parametrize("auto", [False, True], ids=["named", "auto"])
def test_1_no_flood_takes_more_than_about_twice_the_time_for_twice_the_text(
    name: str, prefix: str, flood: str, chunk: int, *, auto: bool
) -> None:
    format_ = "auto" if auto else name

    def reading(text: str) -> object:
        if not chunk:
            return parse(text, format_, level="lenient")
        fed = stream(format_, level="lenient")
        for start in range(0, len(text), chunk):
            fed.feed(text[start : start + chunk])
        return fed.finish()

    size = 4 * 1024
    if growth(reading, prefix, flood, size, runs=1) > BOUND:
        assert_linear(reading, prefix, flood, 4 * size)


def test_1_short_floods_are_no_calls() -> None:
    for name, prefix, flood in _FLOODS.values():
        assert not read(prefix + flood * 12, name).calls
    assert not read(f"<tool_call>{' ' * 2000}x\n<</tool_call>", "poolside_v1").calls


# --- 2 and 3: markup inside of values ----------------------------------------------------------

_ENDS_IN_JSON = {
    "hermes": "<tool_call>\n{}\n</tool_call>",
    "granite4": "<tool_call>\n{}\n</tool_call>",
    "qwen25": "<tool_call>\n{}\n</tool_call>",
    "longcat": "<longcat_tool_call>\n{}\n</longcat_tool_call>",
    "internlm": "<|action_start|><|plugin|>\n{}\n<|action_end|>",
    "jamba": "<tool_calls>[{}]</tool_calls>",
    "nemotron": "<TOOLCALL>[{}]</TOOLCALL>",
    "lfm2": "<|tool_call_start|>[{}]<|tool_call_end|>",
    "fence": "```json\n{}\n```",
    "tools-tag": "<tools>\n{}\n</tools>",
}


@pytest.mark.parametrize("name", _ENDS_IN_JSON)
def test_2_an_end_tag_inside_a_json_string_ends_nothing(name: str) -> None:
    frame = _ENDS_IN_JSON[name]
    content = f"write {frame.partition('{}')[2].strip()} here"
    call = saving(content).replace("arguments", "parameters" if name == "internlm" else "arguments")
    for format_ in (name, "auto"):
        result = read(frame.format(call), format_, TOOLS)
        assert said(result) == [("save_file", {"path": "a", "content": content})]
        assert (result.content, codes(result)) == ("", [])


_ENDS_BEHIND_NAMES = {
    "kimi_k2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.save_file:0"
    "<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
    "deepseek_v31": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>save_file<｜tool▁sep｜>"
    "{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "deepseek_v3": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>save_file\n"
    "```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "openai": "<|channel|>commentary to=functions.save_file <|constrain|>json<|message|>{}<|call|>",
    "functionary-v3.1": "<function=save_file>{}</function>",
}


@pytest.mark.parametrize("name", _ENDS_BEHIND_NAMES)
def test_2b_special_tokens_inside_a_string_are_text(name: str) -> None:
    frame = _ENDS_BEHIND_NAMES[name]
    marker = frame.partition("{}")[2].strip().partition("><")[0].rstrip(">") + ">"
    content = f"x {marker} y"
    for format_ in (name, "auto"):
        body = f'{{"path": "a", "content": "{content}"}}'
        result = read(frame.format(body), format_, TOOLS)
        assert said(result) == [("save_file", {"path": "a", "content": content})]
        assert (result.content, codes(result)) == ("", [])


_DSML = "<｜DSML｜function_calls>\n{}\n</｜DSML｜function_calls>"
_TAGS_IN_VALUES: dict[str, tuple[Callable[[str], str], tuple[str, ...]]] = {
    "qwen3_coder": (
        lambda value: with_parameters("save_file", path="a", content=value),
        ("x </parameter> y", "if </function> then", "see <parameter=foo> tag", "a </tool_call> b"),
    ),
    "glm45": (
        lambda value: with_pairs("save_file", path="a", content=value),
        ("x </arg_value> y", "x </tool_call> y", "x <arg_key>k</arg_key> y"),
    ),
    "minimax_m2": (
        lambda value: with_invoke("save_file", path="a", content=value),
        ("x </parameter> y", "x </invoke> y", 'see <parameter name="foo"> tag'),
    ),
    "deepseek_v32": (
        lambda value: _DSML.format(with_invoke("save_file", "｜DSML｜", path="a", content=value)),
        ("x </｜DSML｜parameter> y", "x </｜DSML｜invoke> y"),
    ),
    "step3": (
        lambda value: with_steps("save_file", path="a", content=value),
        ("x </steptml:parameter> y", "x </steptml:invoke> y"),
    ),
}


@pytest.mark.parametrize("name", _TAGS_IN_VALUES)
def test_3_a_tag_inside_a_bare_value_is_part_of_it(name: str) -> None:
    write, values = _TAGS_IN_VALUES[name]
    for value in values:
        for format_ in (name, "auto"):
            result = read(write(value), format_, TOOLS)
            assert said(result) == [("save_file", {"path": "a", "content": value})]
            assert (result.content.strip(), codes(result)) == ("", ["swallowed-markup"])


# --- 4 to 9: which call, and which arguments ---------------------------------------------------


@pytest.mark.parametrize("name", ["hermes", "qwen25", "auto"])
@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ('{"arguments": {"name": "evil", "path": "p"}, "name": "save_file"}',
         {"name": "evil", "path": "p"}),
        ('{"arguments": {"arguments": {"x": 1}}, "name": "save_file"}', {"arguments": {"x": 1}}),
        ('{"meta": {"name": "evil"}, "name": "save_file", "arguments": {"path": "p"}}',
         {"path": "p"}),
    ],
)  # fmt: skip
def test_4_only_the_calls_own_name_is_called(
    name: str, call: str, arguments: dict[str, JsonValue]
) -> None:
    assert said(read(tagged(call), name, TOOLS)) == [("save_file", arguments)]
    told = [event for event in stream(name, tools=TOOLS).feed(tagged(call)) if event.name]
    assert {event.name for event in told} == {"save_file"}
    assert "".join(event.text for event in told if event.kind == "arguments")[:1] == "{"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("jamba", f"<tool_calls>[{FIND}, {SUM}]</tool_calls>"),
        ("hunyuan_a13b", f"<tool_calls>[{FIND}, {SUM}]</tool_calls>"),
        ("xlam", f"[{FIND}, {SUM}]"),
        ("mistral", f"[TOOL_CALLS] [{FIND}, {SUM}]"),
        ("mistral", f"[TOOL_CALLS]find_files{_FOLDER}[TOOL_CALLS]sum_up{_SUMMANDS} That is all."),
        ("phi4_mini_json", f"functools[{FIND}, {SUM}]"),
    ],
)  # fmt: skip
def test_5_a_stream_says_what_the_whole_says(name: str, text: str) -> None:
    for format_ in (name, "auto"):
        result = read(text, format_, TOOLS)
        assert said(result) == BOTH
        assert result.content in ("", " That is all.")


_EMPTY = {
    "llama3_json": '<|python_tag|>{"name": "ping", "parameters": {}}',
    "granite-20b-fc": f"<function_call> {PING}",
    "internlm": '<|action_start|><|plugin|>\n{"name": "ping", "parameters": {}}<|action_end|>',
    "jamba": f"<tool_calls>[{PING}]</tool_calls>",
    "step3": with_steps("ping"),
    "cohere_command4": '<|START_ACTION|>[{"tool_name": "ping", "parameters": {}}]<|END_ACTION|>',
    "openai": "<|channel|>commentary to=functions.ping <|constrain|>json<|message|><|call|>",
    "kimi_k2": "<|tool_call_begin|>functions.ping:0<|tool_call_argument_begin|>null"
    "<|tool_call_end|>",
}
_EMPTY_KEYS = ('{"name": "ping"}', '{"name": "ping", "arguments": null}',
               '{"name": "ping", "arguments": ""}', PING)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text"), [*_EMPTY.items(), *(("hermes", tagged(call)) for call in _EMPTY_KEYS)]
)
def test_6_no_arguments_are_an_empty_object(name: str, text: str) -> None:
    for format_ in (name, "auto"):
        result = read(text, format_, TOOLS, "strict")
        assert said(result) == [PINGED]
        assert not result.content
        told = stream(format_, tools=TOOLS)
        events = told.feed(text)
        told.finish()
        events += told.last_events()
        assert "".join(event.text for event in events if event.kind == "arguments") == "{}"


@pytest.mark.parametrize("name", ["hermes", "granite4", "qwen25", "auto"])
def test_7_a_broken_call_takes_no_other_with_it(name: str) -> None:
    broken, repaired = SUM.replace('1, "b": 2.5', "oh no"), SUM.replace('1, "b": 2.5', "1, ")
    for text in (tagged(PING) + tagged(broken), tagged(broken) + tagged(PING)):
        result = read(text, name, TOOLS)
        assert said(result) == [PINGED]
        assert len(codes(result)) == 1
        assert result.content.strip() == tagged(broken)
    text = tagged(PING) + tagged(repaired)
    assert said(read(text, name, TOOLS)) == [PINGED, ("sum_up", {"a": 1})]
    assert codes(read(text, name, TOOLS, "strict")) == ["invalid-json"]


@pytest.mark.parametrize("name", ["hermes", "granite4", "qwen25", "auto"])
@pytest.mark.parametrize("body", [f"{FIND}\n{SUM}", f"[{FIND}, {SUM}]", f"{FIND}, {SUM}"])
def test_8_several_calls_between_one_pair_of_tags_are_all_read(name: str, body: str) -> None:
    result = read(tagged(body), name, TOOLS)
    assert said(result) == BOTH
    assert not result.content


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("qwen25", f"{tagged(FIND)}\n{tagged(SUM)}"),
        ("hermes", f"{tagged(FIND)}{tagged(SUM)}"),
        ("glm45", with_pairs("find_files", folder="src", depth="2") + "\n"
                  + with_pairs("sum_up", a="1", b="2.5")),
        ("step3", with_steps("find_files", folder="src", depth="2")
                  + with_steps("sum_up", a="1", b="2.5")),
    ],
)  # fmt: skip
def test_8_all_calls_that_arrive_at_once_are_told(name: str, text: str) -> None:
    for format_ in (name, "auto"):
        assert said(read(text, format_, TOOLS)) == BOTH
        events = stream(format_, tools=TOOLS).feed(f"{text}\n.")
        finished = [event.call for event in events if event.kind == "call_finished"]
        assert [call.name for call in finished if call] == ["find_files", "sum_up"]


@pytest.mark.parametrize("name", ["hermes", "granite4", "qwen25", "auto"])
def test_9_arguments_encoded_as_a_string_are_decoded_once(name: str) -> None:
    text = tagged(r'{"name": "find_files", "arguments": "{\"folder\": \"src\", \"depth\": 2}"}')
    result = read(text, name, TOOLS)
    assert said(result) == [FOUND]
    assert [repair.code for repair in result.calls[0].repairs] == ["encoded-arguments"]
    assert codes(read(text, name, TOOLS, "strict")) == ["invalid-arguments"]
