"""How hard scenarios are: how often each passed over the repeats of one run or several."""

from __future__ import annotations

from collections.abc import Iterable

from tunaeval.errors import ComparisonError
from tunaeval.types.calls import JsonObject
from tunaeval.types.runs import ScenarioResult
from tunaeval.types.tables import INFRASTRUCTURE

from .statistics import pass_at_k, wilson

_DRAWS = (1, 2, 4, 8, 16)


def difficulties(results: Iterable[ScenarioResult]) -> list[JsonObject]:
    """Return for each scenario how many of its answers passed, with Wilson's 95 % interval of that
    rate and unbiased estimates of pass@k. Failures of infrastructure are no answers.

    Raises ComparisonError for one id with several prompts or expectations.
    """
    counts: dict[str, list[bool]] = {}
    asked: dict[str, tuple[object, object]] = {}
    for one in results:
        known = asked.setdefault(one.scenario, (one.prompt, one.expected))
        if known != (one.prompt, one.expected):
            raise ComparisonError(
                f"scenario {one.scenario!r} has another prompt or expectation in another run; "
                "pool runs of the same scenarios"
            )
        verdicts = counts.setdefault(one.scenario, [])
        verdicts += [] if one.outcome in INFRASTRUCTURE else [one.ok]
    found: list[JsonObject] = []
    for name, verdicts in counts.items():
        passed, of = sum(verdicts), len(verdicts)
        rate = wilson(passed, of)
        at = {str(k): pass_at_k(of, passed, k) for k in _DRAWS if k <= of}
        found.append({
            "id": name, "passed": passed, "of": of, "low": rate.low, "high": rate.high,
            "pass_at": at,
        })  # fmt: skip
    return found
