"""`tunaeval rescore`: reads a run's replies again, by another format, level or profile.

With `--from bfcl` the replies are those in BFCL's own results.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial

from tunaeval.errors import UsageError
from tunaeval.files.records import json_text
from tunaeval.reports.console import show
from tunaeval.reports.json import summary_object
from tunaeval.runs.rescore import rescore
from tunaeval.runs.rescore_bfcl import BfclModel, rescore_bfcl
from tunaeval.tasks.suites.loading import load_suite
from tunaeval.types.calls import JsonObject
from tunaeval.types.parsing import LEVELS

from .output import Output, print_listing


def run(arguments: argparse.Namespace, output: Output) -> int:
    if arguments.source == "bfcl":
        return rescore_results(arguments, output)
    if arguments.prompts is not None:
        raise UsageError("--prompts is for results of BFCL: add --from bfcl, or leave it out")
    done = rescore(
        arguments.run_directory,
        format=arguments.format,
        level=arguments.level,
        profile=arguments.profile,
        calls=arguments.calls,
        abstain=arguments.abstain,
        suite=load_suite(arguments.suite, bfcl=arguments.bfcl) if arguments.suite else None,
        out=arguments.out,
    )
    changes = {"gained": done.gained, "lost": done.lost, "unasked": done.unasked}
    if arguments.json:
        output.result(json_text({**summary_object(done.report), "changes": changes}))
        return 0
    output.draw(partial(show, done.report))
    output.result(f"against the old run: {done.gained} more passed, {done.lost} no longer pass")
    if done.unasked:
        output.note(
            f"tunaeval: {done.unasked} would be asked once more by these rules; "
            "their last reply is used"
        )
    return 0


_NOT_ALL = 2
_OF_RUNS = ("profile", "calls", "suite", "bfcl", "out")
"""Options that apply only to tunaeval's own runs."""
_MOST = 4
"""How many formats and repairs of a model are printed; `--json` has all."""


def rescore_results(arguments: argparse.Namespace, output: Output) -> int:
    """Print the scores of each model in BFCL's results. Return 2 if a result cannot be used."""
    for name in _OF_RUNS:
        if getattr(arguments, name) is not None:
            raise UsageError(
                f"--{name} is for runs of tunaeval: leave it out, or leave out --from bfcl"
            )
    models: list[JsonObject] = []
    printed: set[str] = set()
    for model in rescore_bfcl(
        arguments.run_directory,
        prompts=arguments.prompts,
        format=arguments.format or "auto",
        level=arguments.level or "standard",
        abstain=arguments.abstain,
    ):
        for sentence in (*_left_out(model), *model.notes, *model.faults):
            if sentence not in printed:
                printed.add(sentence)
                output.note(f"tunaeval: {sentence}")
        models.append(_counted(model))
    if arguments.json:
        output.result(json_text({"models": models}))
    else:
        _print(models, output)
    return _NOT_ALL if any(model["faults"] for model in models) else 0


def _left_out(model: BfclModel) -> list[str]:
    names = ", ".join(model.left_out)
    return [f"not judged here, because it is no single turn in Python: {names}"] if names else []


def _counted(model: BfclModel) -> JsonObject:
    summary = model.summary
    beside = [(one.ok, model.verdicts[one.scenario]) for one in model.results
              if one.scenario in model.verdicts]  # fmt: skip
    return {
        "model": model.name,
        "summary": summary.model_dump(),
        "categories": dict(model.categories),
        "bfcl": {
            "passed": sum(theirs for _, theirs in beside),
            "total": len(beside),
            "passed_here_alone": sum(ours and not theirs for ours, theirs in beside),
            "passed_there_alone": sum(theirs and not ours for ours, theirs in beside),
        },
        "left_out": list(model.left_out),
        "notes": list(model.notes),
        "faults": list(model.faults),
    }


def _print(models: Sequence[JsonObject], output: Output) -> None:
    scores = [_scores(model) for model in models]
    print_listing(output, "models", scores, list(scores[0]), as_json=False)
    output.result("")
    found = [
        {
            "model": model["model"],
            "formats": _most(model["summary"]["formats"]),
            "repairs": _most(model["summary"]["repairs"]),
        }
        for model in models
    ]
    print_listing(output, "models", found, ["model", "formats", "repairs"], as_json=False)


def _scores(model: JsonObject) -> JsonObject:
    summary, theirs = model["summary"], model["bfcl"]
    rates = {one: summary["levels"][one]["value"] for one in LEVELS}
    outcomes = summary["outcomes"]
    return {
        "model": model["model"],
        "replies": summary["scenarios"],
        **{one: "-" if rate is None else f"{100 * rate:.1f}" for one, rate in rates.items()},
        "BFCL": f"{100 * theirs['passed'] / theirs['total']:.1f}" if theirs["total"] else "-",
        "here alone": theirs["passed_here_alone"] if theirs["total"] else "-",
        "there alone": theirs["passed_there_alone"] if theirs["total"] else "-",
        **{name.replace("_", " "): outcomes.get(name, 0) for name in _OUTCOMES},
    }


_OUTCOMES = ("calls", "no_call", "malformed", "truncated", "transport_failure")


def _most(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    words = [f"{name} {count}" for name, count in ordered[:_MOST]]
    return ", ".join([*words, "..."] if len(ordered) > _MOST else words) or "none"
