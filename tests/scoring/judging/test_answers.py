"""A reply is exactly what was asked for, or no verdict with the reason why."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.scoring.judging.judges import cpu_seconds
from tunaeval.scoring.judging.answers import read_answers, reply_schema
from tunaeval.testing.strategies import json_values

GOAL = ("goal-completion",)
BOTH = ("goal-completion", "plan-correctness")


def value(text: str, scale: int = 10) -> float | None:
    return read_answers(text, GOAL, scale)["goal-completion"].value


def why(text: str) -> str:
    answer = read_answers(text, GOAL, 10)["goal-completion"]
    assert answer.value is None
    return answer.words


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ('{"reason": "Done.", "score": 8}', 0.8),
        ('{"score": 0, "reason": "Nothing."}', 0.0),
        ('{"reason": "", "score": 10.0}', 1.0),
        ('{"reason": "x", "score": 7.5}', 0.75),
        ('{"reason": "x", "score": "8/10"}', 0.8),
        ("8/10", 0.8),
        (" 8 out of 10. ", 0.8),
        ("7.5 of 10", 0.75),
        ('```json\n{"reason": "x", "score": 3}\n```', 0.3),
        ('<think>10/10?</think>\n{"reason": "x", "score": 3}', 0.3),
        ('never opened </think> {"reason": "x", "score": 3}', 0.3),
        ('{"reason": "said </think>", "score": 3}', 0.3),
        ('{"reason": "x", "score": 3}\n{"reason": "x", "score": 3}', 0.3),
    ],
)
def test_a_score_on_the_scale_is_read(text: str, score: float) -> None:
    assert value(text) == pytest.approx(score)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the reply is empty"),
        ("  \n", "the reply is empty"),
        ("I cannot score this.", "wanted one JSON object"),
        ("8", "wanted one JSON object"),
        ("On a 1-10 scale: 3", "wanted one JSON object"),
        ('The score: {"reason": "x", "score": 8}', "wanted one JSON object"),
        ('{"reason": "x", "score": 8} I hope this helps.', "wanted one JSON object"),
        ('{"reason": "x", "score": 11}', "the score is 11; wanted a number from 0 to 10"),
        ('{"reason": "x", "score": -2}', "the score is -2"),
        ('{"reason": "x", "score": true}', "the score is True"),
        ('{"reason": "x", "score": null}', "the score is None"),
        ('{"reason": "x", "score": "high"}', "the score is 'high'"),
        ('{"reason": "x", "score": "8"}', "the score is '8'"),
        ('{"reason": "x", "score": "4/5"}', "found '4/5'; wanted a score of 10"),
        ('{"reason": "x", "score": "12/10"}', "the score is 12"),
        ('{"reason": "x", "score": 1e999}', "found 1e999"),
        ('{"reason": "x", "score": NaN}', "found NaN"),
        ("8/5", "found '8/5'; wanted a score of 10"),
        ("80/100", "found '80/100'"),
        ('{"score": 8}', "wanted exactly reason, score"),
        ('{"reason": "x"}', "wanted exactly reason, score"),
        ('{"reason": "x", "score": 8, "confidence": 1}', "wanted exactly reason, score"),
        ('{"reason": 3, "score": 8}', "the reason is 3"),
        ('[{"reason": "x", "score": 8}]', "wanted one JSON object"),
        ('{"reason": "x", "score": 2}{"reason": "x", "score": 9}', "several different answers"),
        ('{"reason": "x", "score": 2, "score": 9}', "is in the reply twice"),
        ('{"reason": "x", "score": 2}' * 9, "more than 8 answers"),
        ('{"reason": "cut', "wanted one JSON object"),
        ("{" * 5000, "wanted one JSON object"),
        ("[" * 90_000, "wanted one JSON object"),
        ('{"reason": "x", "score": ' + "9" * 5000 + "}", "wanted"),
        ("x" * 100_001, "100001 characters"),
    ],
)
def test_anything_else_is_no_verdict(text: str, words: str) -> None:
    assert words in why(text)


def test_one_category_may_fail_alone() -> None:
    text = json.dumps(
        {
            "goal-completion": {"reason": "x", "score": 8},
            "plan-correctness": {"reason": "x", "score": 80},
        }
    )
    goal, plan = read_answers(text, BOTH, 10).values()
    assert goal == (0.8, "x")
    assert plan.value is None


@pytest.mark.parametrize("text", ['{"reason": "x", "score": 8}', "8/10", "{}", '{"a": 1}'])
def test_several_categories_want_several_answers(text: str) -> None:
    assert all(answer.value is None for answer in read_answers(text, BOTH, 10).values())


def test_the_schema_asks_for_what_is_read() -> None:
    schema = reply_schema(BOTH, 3)
    assert list(schema["properties"]) == schema["required"] == list(BOTH)
    score = schema["properties"]["goal-completion"]["properties"]["score"]
    assert score == {"enum": [0, 1, 2, 3]}


ODD = st.sampled_from(
    ['{"reason": "x", "score": ', "}", "8/10", "10", "```", "</think>", "{", '"', "NaN", "\ud800"]
)
TEXTS = (
    st.text(max_size=60)
    | st.lists(ODD | st.text(max_size=5), max_size=8).map("".join)
    | json_values().map(json.dumps)
    | st.builds(
        lambda score, more: json.dumps({"reason": "x", "score": score} | more),
        json_values(),
        st.dictionaries(st.sampled_from(["reason", "score", "x"]), json_values(), max_size=2),
    )
)


@given(text=TEXTS, names=st.sampled_from([GOAL, BOTH]), scale=st.integers(1, 100))
def test_whatever_is_said_is_a_share_or_a_reason_why_not(
    text: str, names: tuple[str, ...], scale: int
) -> None:
    answers = read_answers(text, names, scale)
    assert tuple(answers) == names
    for answer in answers.values():
        assert answer.value is None or 0 <= answer.value <= 1
        assert answer.words


@pytest.mark.parametrize(
    "part", ["{", '{"a":', "```", "</think>", " ", '{"reason":"x"}', "9", "\\"]
)
def test_twice_the_reply_takes_about_twice_the_time(part: str) -> None:
    def seconds(size: int) -> float:
        text = part * (size // len(part))
        return cpu_seconds(lambda: [read_answers(text, GOAL, 10) for _ in range(20)])

    assert seconds(80_000) < 0.02 + 9 * seconds(20_000)  # 4 times as much; a square would be 16
