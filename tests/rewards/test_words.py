"""What is an answer in words, and what is shown rather than made."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rewards.table import TOOLS, WORDS, call
from tunaeval import ToolCall, render
from tunaeval.rewards.gold import Gold
from tunaeval.rewards.reading import has_words
from tunaeval.rewards.recipe import EXACT, TOOLRL, Recipe
from tunaeval.rewards.scored import reward

NONE = Gold.of(None)
ONE = Gold.of([call(city="Paris")])
TOKENS = [
    "<|im_end|>", "</s>", "<s>", "<|endoftext|>", "<end_of_turn>", "<pad>", "<eos>", "[PAD]",
    "<|eot_id|>", "<|eom_id|>", "<|end|>", "<|return|>", "<｜end▁of▁sentence｜>",
    "<|im_start|>assistant\n", "<|start_header_id|>assistant<|end_header_id|>\n\n",
    "</think>", "</tool_call>", "```\n```", "<unused12>",
    "\u200b", "\ufeff", "\u2060", "\u00ad", "\u3164", "\n", " ",
]  # fmt: skip


SILENT = [
    ".", "-", "...", "—", "!", "()", "$", "` `", "\u200b",
    "?", "\uff1f", "¿?", "??", "?!", "\u061f", "\u2753", "👍", "🤷\u200d♂\ufe0f", "🇳🇴",
    "\u2139\ufe0f", "→ ✓",
]  # fmt: skip


def test_an_answer_without_a_letter_or_a_digit_is_none_and_a_short_one_is_one() -> None:
    assert [said for said in SILENT if has_words(said)] == []
    assert all(map(has_words, ["a", "42", "好", "- no", "👍 ok", "?\nx", "½", "٣"]))


@pytest.mark.parametrize("said", SILENT)
@pytest.mark.parametrize("end", ["", "<|im_end|>"])
def test_an_answer_without_words_earns_nothing(said: str, end: str) -> None:
    for recipe, least in ((Recipe(), 0.0), (EXACT, 0.0), (TOOLRL, -3.0)):
        assert reward(said + end, NONE, recipe=recipe).value == least
        message = {"role": "assistant", "content": said + end}
        assert reward([message], NONE, recipe=recipe).value == least
        refused = {"role": "assistant", "content": None, "refusal": said}
        assert reward([refused], NONE, recipe=recipe).value == least


@given(st.text(st.characters(categories=("M", "P", "S", "Z", "C")), max_size=12))
def test_without_letters_and_digits_nothing_is_said(said: str) -> None:
    assert not has_words(said)


@given(st.lists(st.sampled_from(TOKENS), max_size=4), st.sampled_from(["auto", "hermes"]))
def test_special_tokens_and_invisible_characters_are_no_words(made: list[str], reader: str) -> None:
    text = "".join(made)
    for recipe in (Recipe(reader=reader), EXACT):
        assert reward(text, NONE, recipe=recipe).value == 0.0
        said = [{"role": "assistant", "content": text}]
        assert reward(said, NONE, recipe=recipe).value == 0.0
    assert reward(f"<think>hm</think>\n\n{text}", NONE).value == 0.0
    assert reward(text, NONE, recipe=TOOLRL).value == -3.0


@pytest.mark.parametrize("said", ["No.", "42", "👍 Yes", "晴れ", "<b>", "a < b", "[1]", "What?"])
@pytest.mark.parametrize("end", ["", "<|im_end|>", "</s>", "\u200b"])
def test_words_before_a_special_token_are_words(said: str, end: str) -> None:
    assert reward(said + end, NONE).value == 1.0


@pytest.mark.parametrize("mark", ["```", "~~~", "````"])
@pytest.mark.parametrize("reader", ["auto", "hermes"])
def test_a_call_in_a_code_fence_is_shown_by_any_reader(mark: str, reader: str) -> None:
    good = WORDS["GOOD"]
    recipe = Recipe(reader=reader)
    fenced = reward(f"{mark}\n{good}\n{mark}", ONE, recipe=recipe)
    assert (fenced.value, fenced.failures[0].code) == (0.8, "repaired")
    assert reward(f"{mark}\nx\n{mark}\n{good}", ONE, recipe=recipe).value == 1.0
    assert reward(f"a ~~~ b\n{good}", ONE, recipe=recipe).value == 1.0


@pytest.mark.parametrize("reader", ["fence", "tool-code", "deepseek-v3", "hermes", "pythonic"])
def test_a_fence_that_is_the_format_costs_nothing(reader: str) -> None:
    text = render([ToolCall("get_weather", {"city": "Paris"})], reader)
    gold = Gold.of([call(city="Paris")], TOOLS)
    assert reward(text, gold, recipe=Recipe(reader=reader)).value == 1.0, text


def test_what_earns_less_than_all_says_why() -> None:
    """Also where each call by itself is sound."""
    item = {"id": "1", "type": "function", "function": call(city="Paris")}
    beside = {"role": "assistant", "content": WORDS["WRONG"], "tool_calls": [item]}
    found = reward(beside, ONE)
    assert (found.value, [one.code for one in found.failures]) == (0.475, ["not-a-call"])
    made_up = f"<tool_response>{WORDS['WRONG']}</tool_response>{WORDS['GOOD']}"
    found = reward(made_up, ONE, recipe=Recipe(observations=False))
    assert (found.value, [one.code for one in found.failures]) == (0.475, ["not-a-call"])


@pytest.mark.parametrize(
    "part",
    [
        {"type": "tool_use", "id": "a", "name": "get_weather", "input": {"city": "Paris"}},
        {"type": "tool_use", "id": [], "name": "get_weather", "input": {}},
        {"type": "tool_call", "name": "get_weather", "args": {}},
        {"functionCall": {"name": "get_weather", "args": {}}},
    ],
)
def test_a_call_of_another_api_is_no_abstention(part: dict[str, object]) -> None:
    said = {"role": "assistant", "content": [{"type": "text", "text": "Sunny."}, part]}
    for recipe in (Recipe(), EXACT):
        found = reward(said, NONE, recipe=recipe)
        assert (found.value, found.failures[0].code) == (0.0, "not-a-call")
    assert reward(said, ONE).value == 0.0


def test_an_item_or_a_text_in_place_of_calls_is_no_abstention() -> None:
    words = {"role": "assistant", "content": "Sunny."}
    item = {"type": "function_call", "name": "get_weather", "arguments": "{}"}
    for made in ([item, words], {**words, "tool_calls": "x"}, {**words, "tool_calls": {"a": 1}}):
        found = reward(made, NONE)
        assert (found.value, bool(found.broken)) == (0.0, True)
    assert reward([words], NONE).value == 1.0


def test_a_call_that_is_in_two_places_by_one_id_is_one() -> None:
    block = {"type": "tool_use", "id": "a", "name": "get_weather", "input": {"city": "Paris"}}
    item = {"id": "a", "type": "function", "function": call(city="Paris")}
    both = {"role": "assistant", "content": [block], "tool_calls": [item]}
    assert reward(both, ONE).value == 1.0
    assert reward({**both, "tool_calls": [{**item, "id": "b"}]}, ONE).value == 0.475
