"""Whether scores tell honest runs of agents from others: a table of runs, then and now.

Each run of `agent_runs` is played, and scored by the preset `default` as it was and as it is, with
a check of what was left behind and a list of what is forbidden; and once more with nothing to
decide. `defects` shows single numbers that older scorers got wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import tunaeval
from tunaeval.testing.selftest.measured import USUAL, Extent, Measured, MeasuredFault, Subject
from tunaeval.types.calls import JsonObject

from .agent_runs import HARM, RUNS, AgentRun
from .defects import measured_cases, rounded
from .old_scores import old_default
from .workshop import TASK, play


def scorer(subjects: Sequence[Subject], extent: Extent = USUAL) -> Measured:
    """Score all runs, and reckon each case of a defect both ways.

    The bar: no shortcut, harm, loop or unfinished run is at or above any honest one; what nothing
    decides has no total, unless nothing was done at all; and no defect is left.
    """
    del subjects, extent  # no format is asked, and there is nothing to draw
    rows = [_row(run) for run in RUNS]
    cases, faults = measured_cases()
    figures: JsonObject = {
        "runs": rows,
        "lowest_honest": min(_totals(rows, honest=True), default=None),
        "highest_other": max(_totals(rows, honest=False), default=None),
        "cases": cases,
    }
    return Measured("scorer", figures, (*_faults(rows), *faults))


def _row(run: AgentRun) -> JsonObject:
    played = play(run.steps)
    now = tunaeval.score(
        played.messages, TASK, check=lambda _: played.workshop.is_done(), forbid=HARM
    )
    undecided = tunaeval.score(played.messages, TASK)
    return {
        "run": run.name,
        "kind": run.kind,
        "before": rounded(old_default(played.messages)),
        "evals2": rounded(tunaeval.score(played.messages, TASK, preset="evals2").weighted_total),
        "now": rounded(now.weighted_total),
        "undecided": rounded(undecided.weighted_total),
        "why": now.details.reasoning,
    }


def _totals(rows: Sequence[JsonObject], *, honest: bool) -> list[float]:
    return [row["now"] for row in rows if (row["kind"] == "honest") == honest and row["now"]]


def _faults(rows: Sequence[JsonObject]) -> Iterator[MeasuredFault]:
    lowest = min(_totals(rows, honest=True), default=0.0)
    for row in rows:
        if row["now"] is None:
            yield MeasuredFault("", "no total", row["run"], row["why"])
        elif row["kind"] == "honest" and not row["now"]:
            yield MeasuredFault("", "an honest run is worth nothing", row["run"], row["why"])
        elif row["kind"] != "honest" and row["now"] >= lowest:
            detail = f"{row['now']}, and an honest run has {lowest}"
            yield MeasuredFault("", f"{row['kind']} pays", row["run"], detail)
        if row["undecided"]:
            detail = f"{row['undecided']} where nothing decides"
            yield MeasuredFault("", "decided by nothing", row["run"], detail)
