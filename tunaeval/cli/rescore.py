"""`tunaeval rescore`: reads a run's replies again, by another format, level or profile.

With `--from bfcl` the replies are those in BFCL's own results.
"""

from __future__ import annotations

import argparse
from functools import partial

from tunaeval.errors import UsageError

from .listing import add_bfcl, add_json
from .output import Output
from .reading import add_abstain


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "run_directory", metavar="RUN", help="the directory of a run, or of results of BFCL"
    )
    parser.add_argument(
        "--from",
        dest="source",
        choices=("bfcl",),
        help="RUN is a folder of results that `bfcl generate` wrote",
    )
    parser.add_argument(
        "--prompts",
        metavar="DIR",
        help="with --from bfcl: the prompts, with possible_answer (the installed bfcl-eval)",
    )
    parser.add_argument("--format", help="wire format, see `tunaeval formats` (the run's)")
    parser.add_argument(
        "--level", choices=("strict", "standard", "lenient"), help="which repairs count (the run's)"
    )
    parser.add_argument("--profile", help="how arguments are matched (the run's)")
    parser.add_argument(
        "--calls", choices=("any", "structured"), help="which calls count (as in the run)"
    )
    add_abstain(parser)
    parser.add_argument(
        "--suite", metavar="NAME|FILE", help="what is expected, and the tools (what the run kept)"
    )
    add_bfcl(parser)
    parser.add_argument("--out", metavar="DIR", help="where the new run is kept (beside the old)")
    add_json(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    if arguments.source == "bfcl":
        from .rescore_bfcl import rescore_results  # noqa: PLC0415 - not for --help

        return rescore_results(arguments, output)
    if arguments.prompts is not None:
        raise UsageError("--prompts is for results of BFCL: add --from bfcl, or leave it out")
    from tunaeval.reports.console import show  # noqa: PLC0415 - as above
    from tunaeval.reports.json import json_text, summary_object  # noqa: PLC0415 - as above
    from tunaeval.runs.rescore import rescore  # noqa: PLC0415 - pydantic, not for --help
    from tunaeval.runs.suites.loading import load_suite  # noqa: PLC0415 - pydantic, not for --help

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
