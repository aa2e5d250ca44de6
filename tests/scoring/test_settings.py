"""What a host may set: read once, refused at once when it cannot be used; tokens by any counter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import tunaeval
from tests.scoring.transcripts import FINE, transcript
from tunaeval import ScoreSettings
from tunaeval.errors import ExpectationError, UnknownNameError, UsageError
from tunaeval.scoring.settings import TUNACODE_0_2, TUNACODE_2025_12, Price, Steps
from tunaeval.types.runs import Expectation, WeightedScore


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"completion_tools": "done"}, "completion_tools is 'done'; wanted texts"),
        ({"completion_phrases": [""]}, "texts that are not empty"),
        ({"last_word_ends": "yes"}, "last_word_ends is 'yes'; wanted True or False"),
        ({"polling_tools": [3]}, r"polling_tools\[0\] is 3; wanted"),
        ({"retry_penalty": float("nan")}, "retry_penalty is nan; wanted a number from 0 up"),
        ({"failure_penalty": -0.1}, "failure_penalty is -0.1"),
        ({"many_steps": "many"}, "many_steps is 'many'"),
        ({"tools": [{"name": "a"}]}, r"write tools=tunaeval\.to_tools"),
        ({"count_tokens": 4}, "count_tokens is 4; wanted"),
        ({"count_tokens": "cl100k"}, "count_tokens is 'cl100k'; wanted"),
    ],
)
def test_what_cannot_be_used_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ScoreSettings(**wrong)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Steps(((1, 1.0), (1, 0.5)), 0),
        lambda: Steps(((2, 1.0), (1, 0.5)), 0),
        lambda: Steps(((float("nan"), 1.0),), 0),
        lambda: Steps(((1, 1.5),), 0),
        lambda: Steps((), float("nan")),
        lambda: Price(-1, 0),
        lambda: Price(0, float("inf")),
    ],
)
def test_thresholds_and_prices_are_sound(make: Callable[[], object]) -> None:
    with pytest.raises(UsageError):
        make()


@pytest.mark.parametrize("settings", [TUNACODE_2025_12, TUNACODE_0_2])
def test_a_task_of_tunacode_ends_with_the_last_word_and_by_no_tool(settings: ScoreSettings) -> None:
    assert settings.last_word_ends
    assert not settings.completion_tools
    assert replace(settings, polling_tools=frozenset({"bash"})).last_word_ends


def test_an_expectation_is_read_when_it_is_set() -> None:
    assert isinstance(ScoreSettings(expect={"tools": ["a"]}).expect, Expectation)
    with pytest.raises(ExpectationError):
        ScoreSettings(expect={"tools": ["a"], "none": True})
    with pytest.raises(UnknownNameError):
        ScoreSettings(profile="lax")


def context(count_tokens: Any, text: str = "one two") -> WeightedScore:
    settings = ScoreSettings(count_tokens=count_tokens, context_steps=Steps(((4, 1.0),), 0.5))
    result = tunaeval.score(transcript(("a", text)), "q", settings=settings)
    return result.categories["context-efficiency"]


def words(text: str) -> int:
    return len(text.split())


class Whitespace:
    """A tokenizer of the kind that is an object, and can be called as well."""

    def encode(self, text: str) -> list[str]:
        return text.split()

    def __call__(self, text: str) -> dict[str, list[str]]:
        return {"input_ids": self.encode(text)}


@pytest.mark.parametrize(("counter", "name"), [(words, "words"), (Whitespace(), "Whitespace")])
def test_tokens_are_counted_by_whoever_is_given_and_named(counter: object, name: str) -> None:
    score = context(counter)  # "do it", "one two", "a {}"
    assert score.reason.startswith("about 6 tokens (")
    assert name in score.reason
    assert score.value == 0.5


def test_an_encoding_of_tiktoken_counts_texts_that_spell_its_special_tokens() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    single = {bytes([number]): number for number in range(256)}
    encoding = tiktoken.Encoding(
        "bytes", pat_str=".", mergeable_ranks=single, special_tokens={"<|end|>": 256}
    )
    assert context(encoding, "<|end|>").reason == "about 16 tokens (bytes)"


@pytest.mark.parametrize("counted", [-1, 1.5, None, True, float("nan")])
def test_a_counter_that_gives_no_number_leaves_the_others_alone(counted: object) -> None:
    result = tunaeval.score(
        transcript(("a", FINE)),
        "q",
        settings=ScoreSettings(count_tokens=lambda _: counted),  # type: ignore[arg-type, return-value]  # wrong on purpose
    )
    assert result.context_efficiency is None
    assert result.categories["context-efficiency"].reason.startswith("it failed: UsageError")
    assert result.success_ratio == 1


def test_evals2_looks_at_no_setting() -> None:
    messages = transcript(("finish", FINE), ("plan", FINE))
    settings = ScoreSettings(
        completion_tools=frozenset({"finish"}),
        planners=frozenset({"plan"}),
        context_steps=Steps((), 0),
        count_tokens=words,
    )
    assert tunaeval.score(messages, "q", preset="evals2", settings=settings) == tunaeval.score(
        messages, "q", preset="evals2"
    )
