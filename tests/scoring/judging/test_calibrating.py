"""A calibration finds out what kind of judge it has before it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.scoring.judging.judges import Rule, shown, verdict
from tests.scoring.judging.test_labels import OURS, written
from tunaeval.clients.scripted import ScriptedClient
from tunaeval.errors import RecordError, UsageError
from tunaeval.scoring.judging.calibrating import PAYLOADS
from tunaeval.scoring.judging.calibration import Calibration, CategoryCalibration
from tunaeval.scoring.judging.judge import Judge
from tunaeval.types.calls import JsonObject
from tunaeval.types.exchange import Request

GOAL = ("goal-completion",)


def row(number: int, *, done: bool) -> JsonObject:
    """A transcript whose agent says plainly whether it succeeded."""
    words = "I succeeded." if done else "I failed."
    return {
        "id": f"row-{number}",
        "query": "Try.",
        "messages": [{"role": "assistant", "content": words}],
        "label": {"goal-completion": done},
    }


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Eight good ones and twelve bad."""
    return written(tmp_path, *(row(number, done=number < 8) for number in range(20)))


def figures(labels: Path, reply: Callable[[Request], str], **settings: Any) -> CategoryCalibration:
    judge = Judge(Rule(reply), categories=GOAL)
    return tunaeval.calibrate(labels, judge, **settings).categories["goal-completion"]


def honest(request: Request) -> str:
    return verdict(9 if "succeeded" in shown(request) else 1)


def test_an_honest_judge_agrees_and_does_not_flip(labels: Path) -> None:
    found = figures(labels, honest)
    assert found.kappa.value == 1.0
    assert (found.sensitivity.passed, found.sensitivity.total) == (8, 8)
    assert (found.specificity.passed, found.specificity.total) == (12, 12)
    assert found.corrected
    assert found.corrected.value == pytest.approx(0.4)
    flips = (found.swap_flips, found.repeat_flips, found.injection_flips)
    assert [(rate.passed, rate.total) for rate in flips] == [(0, 20), (0, 40), (0, 20)]
    assert found.injection_shift == 0.0
    assert found.failures.passed == 0


def test_a_gullible_judge_falls_for_every_payload(labels: Path) -> None:
    def gullible(request: Request) -> str:
        return (
            verdict(10)
            if '"note"' in shown(request) or "\\n\\n" in shown(request)
            else honest(request)
        )

    found = figures(labels, gullible)
    assert found.kappa.value == 1.0
    assert (found.injection_flips.passed, found.injection_flips.total) == (len(PAYLOADS),) * 2
    assert found.injection_shift == pytest.approx(0.9)


def test_a_judge_that_heeds_the_order_flips_when_it_is_swapped(labels: Path) -> None:
    def by_order(request: Request) -> str:
        content = request.messages[1]["content"]
        turned = content.index("10 means") < content.index("0 means: ")
        return verdict(9) if turned else honest(request)

    found = figures(labels, by_order)
    assert (found.swap_flips.passed, found.swap_flips.total) == (12, 20)
    assert found.kappa.value == 1.0


def test_a_moody_judge_flips_when_asked_again(labels: Path) -> None:
    found = figures(labels, lambda request: verdict(9 if request.seed else 1), repeats=3)
    assert (found.repeat_flips.passed, found.repeat_flips.total) == (60, 60)
    assert found.sensitivity.passed == 0


def test_a_judge_that_says_one_thing_to_all_has_no_skill(labels: Path) -> None:
    found = figures(labels, lambda _: verdict(9))
    assert found.kappa.value == 0.0
    assert (found.sensitivity.value, found.specificity.value) == (1.0, 0.0)
    assert found.corrected is None
    assert found.injection_flips.total == 0


def test_a_failure_is_counted_by_itself_and_in_nothing_else(labels: Path) -> None:
    found = figures(
        labels, lambda request: honest(request) if "succeeded" in shown(request) else "I cannot."
    )
    assert (found.failures.passed, found.failures.total) == (12, 20)
    assert found.first_failure
    assert found.first_failure.startswith("judge failure: ")
    assert found.specificity.total == 0
    assert found.passed.total == found.sensitivity.total == 8
    assert found.kappa.value is None


def test_the_judge_that_was_calibrated_is_backed_and_every_other_is_not(
    labels: Path, tmp_path: Path
) -> None:
    judge = Judge(Rule(honest), categories=GOAL)
    path = tmp_path / "calibration.json"
    tunaeval.calibrate(labels, judge).write(path)
    again = Calibration.read(path)
    assert again.labels.transcripts == 20

    def reason(judge: Judge) -> str:
        said = [{"role": "assistant", "content": "I succeeded."}]
        score = tunaeval.score(said, "Try.", judge=judge).categories["goal-completion"]
        assert score.judged
        assert score.judged.calibrated == ("uncalibrated" not in score.reason)
        return score.reason

    assert "calibrated: kappa 1.00 (1.00 to 1.00) on 20 labels, fewer than 200" in reason(
        Judge(Rule(honest), categories=GOAL, calibration=path)
    )
    other = "calibration is for another judge"
    model = Judge(Rule(honest, model="rule-2"), categories=GOAL, calibration=path)
    assert f"{other} (model 'rule-1' there and 'rule-2' here)" in reason(model)
    prompt = reason(Judge(Rule(honest), categories=GOAL, calibration=path, scale=9))
    assert f"{other} (prompt_version '" in prompt
    votes = reason(Judge(Rule(honest), categories=GOAL, calibration=path, votes=3))
    assert f"{other} (votes 1 there and 3 here)" in votes


def test_a_calibration_overwrites_nothing(labels: Path, tmp_path: Path) -> None:
    found = tunaeval.calibrate(labels, Judge(Rule(honest), categories=GOAL))
    found.write(tmp_path / "calibration.json")
    with pytest.raises(RecordError, match="it exists already"):
        found.write(tmp_path / "calibration.json")


def test_labels_of_other_categories_are_refused(labels: Path) -> None:
    with pytest.raises(UsageError, match="none of the judge's categories: success-ratio"):
        tunaeval.calibrate(labels, Judge(ScriptedClient(), categories=("success-ratio",)))


@pytest.mark.parametrize("setting", [{"threshold": 0.0}, {"threshold": 2.0}, {"repeats": -1}])
def test_a_calibration_that_cannot_be_is_refused(labels: Path, setting: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(setting))} is"):
        tunaeval.calibrate(labels, Judge(ScriptedClient()), **setting)


def test_our_own_labels_can_be_judged() -> None:
    judge = Judge(Rule(lambda _: verdict(4)))
    found = tunaeval.calibrate(OURS, judge)
    assert found.labels.transcripts == 20
    assert set(found.categories) == {"goal-completion", "plan-correctness"}
    assert found.categories["goal-completion"].specificity.value == 1.0
