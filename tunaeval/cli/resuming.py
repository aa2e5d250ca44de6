"""The options of a run as `run.json` and `matrix.json` keep them, and how `--resume` reads them."""

from __future__ import annotations

import argparse
from pathlib import Path

from tunaeval.errors import RecordError, UsageError
from tunaeval.files.keys import COVER
from tunaeval.files.plain_files import is_there
from tunaeval.runs.directory import read_info
from tunaeval.runs.matrix import is_matrix, read_matrix
from tunaeval.tasks.suites import SUITES
from tunaeval.tools.mcp import shown_place
from tunaeval.types.calls import JsonObject
from tunaeval.types.error_budget import ErrorBudget
from tunaeval.types.runs import RunInfo

from .columns import as_lists
from .settings import visible_value

_NOT_KEPT = frozenset(
    {"out", "resume", "retry_failures", "take_over", "record"}
    | {"quiet", "json", "given", "check_server", "dry_run", "last_failed", "first_failure"}
    | {"max_cost", "max_total_tokens", "max_requests"}
)
"""Options of one command that are not part of the run."""

_GATE = ("fail_under", "max_errors")
"""The run's gate: a continued run has to pass it, too, so it is not lost by resuming."""

_PATHS = ("suite", "bfcl", "model_file", "recording", "faults", "ca", "cert", "cert_key", "cache",
          "trained_on")  # fmt: skip
"""Options that may be paths: kept as paths from the root, so that a run goes on from anywhere."""

_BY_FIELD = {
    **{name: name for name in ("suite", "client", "model", "format", "level", "profile", "calls")},
    **{name: name for name in ("abstain", "attempts", "repeats", "max_tokens", "temperature")},
    **{name: name for name in ("seed", "concurrency", "tools_from")},
    "timeout": "deadline_seconds",
}
"""The field that has each option's value in runs that were made in Python, without `options`."""


def resumed_options(arguments: argparse.Namespace) -> JsonObject:
    """Set the options that a resumed run or matrix was begun with, unless they are given again.

    Returns these options: none for a new run, and for a run that did not store them. Raises
    RecordError for a directory that is no run, UsageError for options that need `--resume`.
    """
    if arguments.resume is None:
        for name in ("retry_failures", "take_over"):
            if getattr(arguments, name):
                option = f"--{name.replace('_', '-')}"
                raise UsageError(f"{option} needs a run to continue; name it with --resume RUN")
        return {}
    path = Path(arguments.resume)
    if is_matrix(path):
        begun_with = read_matrix(path).options
        _fill_in(arguments, begun_with, begun_with)
        return begun_with
    info = read_info(path)
    _fill_in(arguments, info.options, info.options or _of_fields(info))
    if not info.options and "suite" not in arguments.given and _has_own_suite(info):
        raise RecordError(
            f"{arguments.resume}: this run was made in Python, which keeps no file name of its "
            f"suite {info.suite!r:.60}; give the file with --suite"
        )
    if info.rescored is None and info.client == "replay" and arguments.recording is None:
        raise RecordError(
            f"{arguments.resume}: this run replayed a recording, but did not keep its name; give "
            "it with --recording"
        )
    return info.options


def _fill_in(arguments: argparse.Namespace, kept: JsonObject, options: JsonObject) -> None:
    """Set the options that are not given again. `kept` are those in the file, without secrets."""
    if "report" in arguments.given:
        arguments.given |= {"writer"}  # that of then was for a report of then
    refuse_unkept(kept, arguments.given)
    for name, value in as_lists(options):
        is_no_bar = name in _GATE and value is None
        is_own = name in arguments.given or name in _NOT_KEPT
        if not is_own and hasattr(arguments, name) and not is_no_bar:
            if name == "max_errors" and isinstance(value, str):
                setattr(arguments, name, ErrorBudget.read(value))
            else:
                setattr(arguments, name, value)


def _has_own_suite(info: RunInfo) -> bool:
    """Whether the run's suite is a file of the user's, and not a built-in one."""
    return info.suite not in SUITES and not info.suite.startswith("bfcl:")


def as_kept(arguments: argparse.Namespace) -> JsonObject:
    """Return the options as `run.json` stores them: without secrets, and with absolute paths."""
    options = {key: value for key, value in vars(arguments).items() if key not in _NOT_KEPT}
    for name in _PATHS:
        value = options.get(name)
        # A name without a suffix is a packaged suite, or a packaged list of faults.
        is_name = name in {"suite", "faults"} and not Path(str(value)).suffix
        if isinstance(value, str) and not is_name and is_there(value):
            options[name] = str(Path(value).absolute())
    for name in ("header", "proxy"):
        options[name] = visible_value(name, options.get(name))
    options["report"] = [str(Path(file).absolute()) for file in arguments.report]
    if options["max_errors"] is not None:
        options["max_errors"] = str(options["max_errors"])
    given = options.get("base_url") or []
    addresses = [given] if isinstance(given, str) else given
    if any("?" in address or "@" in address for address in addresses):
        del options["base_url"]  # it may contain a key, so it has to be given again
    if any(shown_place(one) != one for one in arguments.mcp):
        del options["mcp"]  # as above
    if files := options.get("system_prompt"):
        options["system_prompt"] = (
            str(Path(files).absolute())
            if isinstance(files, str)
            else [str(Path(file).absolute()) for file in files]
        )
    return options


def _of_fields(info: RunInfo) -> JsonObject:
    document = info.model_dump()
    options = {name: document[field] for name, field in _BY_FIELD.items()}
    options["base_url"] = info.model_details.get("base_url")
    if info.client != "openai":
        del options["model"]
    if info.ask in ("api", "prompt"):
        options["tools"] = info.ask
    return options


def refuse_unkept(options: JsonObject, given: set[str]) -> None:
    """Raise UsageError if a secret that the run was begun with, and no file keeps, is missing."""
    for option in {"header", "proxy"} - given:
        value = options.get(option)
        words = ", ".join(map(repr, value)) if isinstance(value, list) else repr(value)
        if COVER in words:
            raise UsageError(
                f"the run was started with --{option} {words}, and its secrets were not kept; "
                f"give --{option} again"
            )
