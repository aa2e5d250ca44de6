"""`tunaeval judge calibrate`: compares a judge with labelled transcripts."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tunaeval.errors import UsageError
from tunaeval.files.plain_files import is_there
from tunaeval.showing import counted, visible

from .asked import add_client
from .listing import add_json, print_listing
from .numbers import amount, any_whole_number
from .output import Output

if TYPE_CHECKING:
    # At run time these are imported with the judging code, not for --help.
    from tunaeval.reports.statistics import Corrected, Kappa
    from tunaeval.scoring.judging.calibration import Calibration, CategoryCalibration
    from tunaeval.scoring.judging.judge import Judge
    from tunaeval.types.calls import JsonObject
    from tunaeval.types.runs import Rate

_BELOW_THE_BAR = 1
_CONCURRENCY = 4
_NAME = 60
"""How many characters of a transcript's id are shown in a line of progress."""
_COLUMNS = ("category", "figure", "value", "interval", "of", "remark")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.usage = "%(prog)s calibrate LABELS.jsonl [options]"
    parser.add_argument("action", choices=("calibrate",), metavar="calibrate")
    parser.add_argument(
        "labels", metavar="LABELS.jsonl", help="a transcript with its labels on each line"
    )
    parser.add_argument("--out", metavar="FILE", help="write the calibration; must not be there")
    _judge(parser.add_argument_group("the judge"))
    _calibration(parser.add_argument_group("how it is compared with the labels"))
    add_json(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Return 1 if there is a category for which the judge gave no verdict at all."""
    import tunaeval  # noqa: PLC0415 - not for --help

    if arguments.out and is_there(arguments.out):
        raise UsageError(f"--out {arguments.out!r} is there already; choose another file")
    if not is_there(arguments.labels):
        raise UsageError(
            f"found no file {arguments.labels!r}; wanted JSON lines, a transcript with its labels "
            "on each"
        )
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


def _judge(group: argparse._ArgumentGroup) -> None:
    add_client(group, otherwise="the embedded model")
    group.add_argument("--temperature", type=amount, default=0.0, help="(0)")
    group.add_argument("--max-tokens", type=int, default=500, metavar="N", help="of a reply (500)")
    group.add_argument(
        "--seed", type=any_whole_number, metavar="N", help="counted up for votes and repeats"
    )
    group.add_argument(
        "--category",
        action="append",
        metavar="NAME",
        help="judge this category; may be given again (goal-completion, plan-correctness)",
    )
    group.add_argument("--together", action="store_true", help="ask all categories in one request")
    group.add_argument("--votes", type=int, default=1, metavar="N", help="for each question (1)")
    group.add_argument("--swap", action="store_true", help="ask each vote in both orders")
    group.add_argument("--cache", metavar="FILE", help="keep replies, and ask nothing twice")
    group.add_argument(
        "--characters",
        type=int,
        default=24_000,
        metavar="N",
        help="how much of a transcript is shown (24000; a small model takes less)",
    )


def _calibration(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--threshold",
        type=float,
        default=0.5,
        metavar="SHARE",
        help="the share from which a label or a score counts as good (0.5)",
    )
    group.add_argument(
        "--repeats", type=int, default=2, metavar="N", help="ask each question again (2 times)"
    )
    group.add_argument(
        "--concurrency",
        type=int,
        default=_CONCURRENCY,
        metavar="N",
        help=f"transcripts judged at once ({_CONCURRENCY})",
    )


def _judge_of(arguments: argparse.Namespace) -> Judge:
    from tunaeval.scoring.judging.judge import USUAL, Judge  # noqa: PLC0415 - not for --help
    from tunaeval.scoring.judging.view import Shown  # noqa: PLC0415 - not for --help

    from .clients import named_client  # noqa: PLC0415 - httpx2, not for --help

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
        from tunaeval.reports.json import json_text  # noqa: PLC0415 - not for --help

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
    from tunaeval.scoring.judging.calibration import rough  # noqa: PLC0415 - not for --help

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
