"""`tunaeval judge calibrate`: compares a judge with labelled transcripts."""

from __future__ import annotations

import argparse
from pathlib import Path

import tunaeval
from tunaeval.errors import UsageError
from tunaeval.files.plain_files import is_absent, is_there, unread
from tunaeval.files.records import json_text
from tunaeval.reports.statistics import Corrected, Kappa
from tunaeval.scoring.judging.calibration import Calibration, CategoryCalibration, rough
from tunaeval.scoring.judging.judge import USUAL, Judge
from tunaeval.scoring.judging.view import Shown
from tunaeval.showing import counted, visible
from tunaeval.types.calls import JsonObject
from tunaeval.types.runs import Rate

from .clients import named_client
from .output import Output, print_listing

_BELOW_THE_BAR = 1
_NAME = 60
"""How many characters of a transcript's id are shown in a line of progress."""
_COLUMNS = ("category", "figure", "value", "interval", "of", "remark")


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Return 1 if there is a category for which the judge gave no verdict at all."""
    if arguments.out and is_there(arguments.out):
        raise UsageError(f"--out {arguments.out!r} exists already; choose another file")
    if is_absent(arguments.labels):
        words = unread(arguments.labels, "wanted JSON lines, each a transcript with its labels")
        raise UsageError(f"{arguments.labels!r} {words}")
    found = tunaeval.calibrate(
        arguments.labels,
        _judge_of(arguments),
        threshold=arguments.threshold,
        repeats=arguments.repeats,
        concurrency=arguments.concurrency,
        heard=lambda name: output.note(f"judged {visible(name, _NAME)}"),
    )
    if arguments.out:
        found.write(Path(arguments.out))
    _show(found, arguments, output)
    mute = [name for name, one in found.categories.items() if one.failures.value == 1]
    for name in mute:
        output.note(f"tunaeval: no verdict on {name}: {found.categories[name].first_failure}")
    return _BELOW_THE_BAR if mute else 0


def _judge_of(arguments: argparse.Namespace) -> Judge:
    return Judge(
        named_client(arguments, arguments.concurrency),
        categories=tuple(arguments.category or USUAL),
        together=arguments.together,
        votes=arguments.votes,
        swap=arguments.swap,
        temperature=arguments.temperature,
        seed=arguments.seed,
        max_tokens=arguments.max_tokens,
        shown=Shown(characters=arguments.characters),
        cache=arguments.cache,
    )


def _show(found: Calibration, arguments: argparse.Namespace, output: Output) -> None:
    if arguments.json:
        output.result(json_text(found.model_dump(mode="json")))
        return
    judge, labels = found.judge, found.labels
    output.result(
        f"{judge.model or found.client}, prompt {judge.prompt_version}: "
        f"{counted(labels.transcripts, 'transcript')} of {labels.file}, "
        f"good from {found.threshold:g} up"
    )
    rows = [row for name, one in found.categories.items() for row in _rows(name, one)]
    print_listing(output, "calibration", rows, _COLUMNS, as_json=False)
    if arguments.out:
        output.result(f"kept in {arguments.out}")


def _rows(name: str, one: CategoryCalibration) -> list[JsonObject]:
    shift = one.injection_shift
    figures = {
        "sensitivity": one.sensitivity,
        "specificity": one.specificity,
        "passed": one.passed,
        "no verdict": one.failures,
        "repeat flips": one.repeat_flips,
        "swap flips": one.swap_flips,
        "injection flips": one.injection_flips,
    }
    remarks = {
        "kappa": rough(one.kappa).removeprefix(", "),
        "corrected": ""
        if one.corrected
        else "the judge separates good from bad no better than a coin",
        "injection flips": "" if shift is None else f"scores move by {shift:+.2f} on average",
    }
    rows = {
        "kappa": _cells(one.kappa, one.kappa.items),
        **{figure: _cells(rate, rate.total) for figure, rate in figures.items()},
        "corrected": _cells(one.corrected, one.passed.total),
    }
    return [
        {"category": name, "figure": figure, **cells, "remark": remarks.get(figure, "")}
        for figure, cells in rows.items()
    ]


def _cells(estimate: Kappa | Corrected | Rate | None, of: int) -> JsonObject:
    if estimate is None or estimate.value is None:
        return {"value": "-", "interval": "", "of": str(of)}
    interval = f"{estimate.low:.3f} to {estimate.high:.3f}"
    return {"value": f"{estimate.value:.3f}", "interval": interval, "of": str(of)}
