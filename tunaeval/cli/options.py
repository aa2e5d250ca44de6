"""The options of every command, as a table, and how their values are read.

A command's own module is imported when it runs, so `--help` loads nothing that a command needs.
"""

from __future__ import annotations

import math
from argparse import ArgumentTypeError, _ActionsContainer
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from tunaeval.files.keys import Secret

from .budget import read_budget


class Option(NamedTuple):
    """The names of an option, or of an argument, and what argparse is told about it."""

    names: list[str]
    settings: dict[str, Any]


class Group(NamedTuple):
    """Options under a title; those without a title exclude each other."""

    title: str | None
    options: tuple[Option, ...]


Options: TypeAlias = tuple[Option | Group, ...]


def add_options(parser: _ActionsContainer, options: Options) -> None:
    """Add the options to a parser, or to a group of it."""
    for one in options:
        if isinstance(one, Option):
            parser.add_argument(*one.names, **one.settings)
        elif one.title is None:
            add_options(parser.add_mutually_exclusive_group(), one.options)
        else:
            add_options(parser.add_argument_group(one.title), one.options)


def value(words: str, text: str, **settings: Any) -> Option:
    """Return an option with one value, or an argument: its names and what its value is called, as
    the usage has them ("-o --out FILE"), and its help.
    """
    first, *others = words.split()
    names = [first, *(word for word in others if word.startswith("-"))]
    called = " ".join(others[len(names) - 1 :]) or None
    return Option(names, {"metavar": called, "help": text, **settings})


def many(words: str, text: str, **settings: Any) -> Option:
    """Return an option that may be given again; its value is a list."""
    return value(words, text, **{"action": "append", "default": [], **settings})


def flag(name: str, text: str, **settings: Any) -> Option:
    """Return an option without a value."""
    return Option([name], {"action": "store_true", "help": text, **settings})


def one_of(name: str, choices: tuple[str, ...], text: str | None, **settings: Any) -> Option:
    """Return an option whose value is one of these."""
    return Option([name], {"choices": choices, "help": text, **settings})


# --- how values are read -------------------------------------------------------------------------


def whole_number(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a function that reads a whole number within these bounds."""
    bounds = f"{least} or more" if most is None else f"{least} to {most}"

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least or (most is not None and number > most):
            raise ArgumentTypeError(f"found {text!r}; wanted a whole number, {bounds}")
        return number

    return read


POSITIVE = whole_number(1)


def any_whole_number(text: str) -> int:
    """Read a whole number of either sign."""
    try:
        return int(text)
    except ValueError:
        raise ArgumentTypeError(f"found {text!r}; wanted a whole number") from None


def seconds(text: str) -> float:
    """Read a time in seconds above 0; infinity is allowed."""
    number = _number(text)
    if not number > 0:  # true for NaN, too
        raise ArgumentTypeError(f"found {text!r}; wanted seconds above 0")
    return number


def above_zero(text: str) -> float:
    """Read a finite number above 0."""
    number = _number(text)
    if not 0 < number < math.inf:
        raise ArgumentTypeError(f"found {text!r}; wanted a number above 0")
    return number


def amount(text: str) -> float:
    """Read a finite number of 0 or more."""
    number = _number(text)
    if not 0 <= number < math.inf:
        raise ArgumentTypeError(f"found {text!r}; wanted a number, 0 or more")
    return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def percentage(text: str) -> float:
    """Read "70" or "70%" as 70.0. Below one percent, "%" is required, as 0.7 could be a share."""
    digits = text.removesuffix("%")
    try:
        number = float(digits)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 100:
        raise ArgumentTypeError(f"found {text!r}; wanted a percentage from 0 to 100, as 70 or 70%")
    if 0 < number < 1 and digits == text:
        raise ArgumentTypeError(
            f"found {text!r}, which may be a share; write {100 * number:g}% for it, or {text}% for "
            "less than one percent"
        )
    return number


def share(text: str) -> float:
    """Read a percentage as a share: "2%" is 0.02."""
    return percentage(text) / 100


def _measuring(text: str) -> str:
    if text not in _MEASURINGS:
        raise ArgumentTypeError(f"found {text!r}; wanted {', '.join(_MEASURINGS)}")
    return text


_MEASURINGS = ("linear", "stream", "accuracy", "null")
"""The arguments of `tunaeval selftest`, listed here so that --help does not import them."""


# --- what several commands have ------------------------------------------------------------------


def _level(text: str, default: str | None = None) -> Option:
    return one_of("--level", ("strict", "standard", "lenient"), text, default=default)


_JSON = flag("--json", "one JSON object instead of text")
_BFCL = value("--bfcl DIR", "where BFCL's data are (the installed bfcl-eval)")
_RUNS = value("runs RUN", "run directories, the baseline first", nargs="+")
_QUIET = flag("--quiet", "no progress")
_TEMPERATURE = value("--temperature", "(0)", type=amount, default=0.0)
_ABSTAIN = many(
    "--abstain NAME",
    "a call of this name means no call, as some prompts ask for; may be given again",
)
_READING = (
    value("--format", "wire format, see `tunaeval formats`; openai is harmony", default="auto"),
    _level("which repairs are allowed (default: standard)", "standard"),
    value("--tools", "the tools that may be called: a JSON file, or the name of a catalogue"),
    _ABSTAIN,
)
_MAX_ERRORS = value(
    "--max-errors N|P%",
    "exit 3, with nothing judged, when more results than these got no answer: a number, "
    "or a share of all (0 where a gate is asked for)",
    type=read_budget,
)
_NETWORK = (
    many(
        "--header 'NAME: VALUE'",
        "send this header with every request; may be given again, and its value is in no file",
        type=Secret,
        default=None,
    ),
    value("--ca FILE", "trust these authorities (PEM) in place of the system's"),
    value("--cert FILE", "the client's own certificate (PEM)"),
    value("--cert-key FILE", "its key, where --cert has none"),
    value(
        "--proxy URL",
        "ask through this proxy; '' for none (that of $HTTPS_PROXY and the like)",
        type=Secret,
    ),
    flag("--http2", "speak HTTP/2 with a server that does (extra http2)", default=None),
)


def _client(otherwise: str, *addresses: Option) -> tuple[Option, ...]:
    """Return `--client` and its settings; `otherwise` names the default client in the help."""
    return (
        value(
            "--client NAME",
            f"llamacpp, openai, replay, scripted or a plug-in (default: {otherwise})",
        ),
        *addresses,
        value("--model-file FILE", "weights for the embedded model"),
        value(
            "--recording PATH|NAME",
            "replies to replay: a recording (a file, or a packaged one by its name), or a run",
        ),
        *_NETWORK,
    )


# --- the commands --------------------------------------------------------------------------------


_CACHE = value(
    "--cache DIR", "keep replies in this directory, and ask a model only what is not there (off)"
)
_QUESTIONS = (
    value("--suite NAME|FILE", "see `tunaeval suites` (tunacode)", default="tunacode"),
    _BFCL,
    many("--exclude ID|TAG", "leave out a scenario, or all with a tag; may be given again"),
    many("--id ID", "only this scenario; may be given again", dest="ids"),
    many("--tag TAG", "only scenarios with this tag; may be given again", dest="tags"),
    many(
        "-k --like PATTERN",
        "only scenarios with this in their id or prompt, or whose id fits it (read-*); may "
        "be given again",
        dest="patterns",
    ),
    value("--limit N", "only the first N scenarios", type=POSITIVE),
    value(
        "--faults NAME|FILE",
        "ask each task of many turns once for each way in which things go wrong: model, agent "
        "(for a command), or a JSON file of lists of faults by name",
    ),
    many(
        "--tools-from MODULE:NAME",
        "ask with the tools of an installed agent in place of the suite's: a list, a "
        "dictionary or one of them; may be given again",
    ),
    one_of(
        "--tools",
        ("api", "prompt"),
        "give the tools through the API, or write them into the prompt "
        "(default: api; the embedded model can only write what fits a schema of the calls)",
    ),
    flag("--free-text", "the embedded model answers without a schema"),
    many(
        "--system-prompt FILE",
        "a text in place of the suite's system prompt; given several times, every model is asked "
        "with each",
    ),
)
_MODEL = (
    *_client(
        "the embedded model, or its recording where it is not installed",
        many(
            "--base-url URL",
            "an OpenAI-compatible server's address; given once for all models, or once for each",
        ),
        many(
            "--model NAME",
            "the server's model (its first), or the name of a column in tunaeval.toml; given "
            "several times, all are asked and ranked",
        ),
    ),
    many(
        "--key-variable NAME",
        "the environment variable with the server's key (TUNAEVAL_API_KEY, OPENAI_API_KEY); may "
        "be given again, and the first that is set counts",
        default=None,
    ),
    value("--rpm N", "begin at most N requests in a minute", type=above_zero),
    flag(
        "--check-server",
        "examine the server first (`tunaeval doctor --quick`), and keep the verdict in run.json",
    ),
    value(
        "--price-in PRICE",
        "of a million tokens that are asked: the run says what it cost",
        type=amount,
    ),
    value(
        "--price-out PRICE",
        "of a million tokens that are answered: the run says what it cost",
        type=amount,
    ),
    value(
        "--max-cost COST",
        "ask nothing more once the run has cost this much, by the prices (exit code 3)",
        type=amount,
    ),
    value(
        "--max-total-tokens N",
        "ask nothing more once so many tokens went in and out (exit code 3)",
        type=POSITIVE,
    ),
    value(
        "--max-requests N",
        "ask nothing more after so many requests (exit code 3)",
        type=POSITIVE,
    ),
    flag("--dry-run", "only print how many requests, tokens and what cost it would be at most"),
    flag(
        "--stream",
        "have replies streamed: time to the first token, tokens per second, and whether the "
        "calls that come in pieces are those of the whole",
        default=None,
    ),
    _CACHE,
    _TEMPERATURE,
    value("--max-tokens N", "(300)", type=POSITIVE, default=300),
    value("--seed N", "the server's own unless given", type=any_whole_number),
)
_RULES = (
    value("--format", "wire format (auto); openai is harmony, not tool_calls", default="auto"),
    _level("which repairs are allowed (standard); the report has all three", "standard"),
    value("--profile", "how arguments are matched, see the reference (the suite's, or strict)"),
    one_of(
        "--calls",
        ("any", "structured"),
        "which calls count: any, or at every level those alone that the server parsed (any)",
        default="any",
    ),
    _ABSTAIN,
    value(
        "--attempts N",
        "at most, while no call is found at the level that counts (2)",
        type=POSITIVE,
        default=2,
    ),
    value("--repeats N", "of the suite (1)", type=POSITIVE, default=1),
    value("--timeout SECONDS", "for a scenario (30; embedded: 120)", type=seconds),
    value(
        "--concurrency N",
        "scenarios at once, fewer after 429 and timeouts (8; embedded: 1)",
        type=POSITIVE,
    ),
)
_OUTPUTS = (
    value("--out DIR", "where runs are kept (runs)", default="runs"),
    value("--resume RUN", "continue a run that was cut off; nothing else is needed"),
    flag(
        "--retry-failures",
        "with --resume: ask again what infrastructure failed; both results are kept, and the "
        "last counts",
    ),
    flag("--take-over", "with --resume: go on although another machine has locked the run"),
    value("--record FILE", "write the replies for `--client replay`"),
    many(
        "--report FILE",
        "write a report, as its suffix says: .html, .md, .xml (JUnit), .csv, .json, .parquet; "
        "may be given again; missing directories are made",
    ),
    value("--writer NAME", "github or a plug-in, for a --report of another suffix"),
    value("--fail-under PERCENT", "exit 1 when the score is lower", type=percentage),
    _MAX_ERRORS,
    _QUIET,
    _JSON,
)
_OF_COLUMNS = ("--format", "--timeout", "--tools", "--free-text")
COLUMN_OPTIONS: Options = (
    *_MODEL,
    *(one for one in (*_QUESTIONS, *_RULES) if one.names[0] in _OF_COLUMNS),
)
"""The options that a column of a matrix may have of its own."""
_PARSE = (
    value(
        "file",
        "what to read, packed by gzip or Zstandard or not; - (the default): stdin",
        nargs="?",
        default="-",
    ),
    *_READING,
    flag("--jsonl", "read a record on each line (as for a .jsonl file)"),
    value("--field NAME", "JSON lines: the field with the text or message"),
    value("--workers N", "JSON lines: processes (1)", type=POSITIVE, default=1),
    value(
        "-o --out FILE",
        "JSON lines: write the objects of --json there; .gz and .zst are packed; missing "
        "directories are made",
    ),
    flag("--strict", "JSON lines: end at the first bad line"),
    _JSON,
)
_STRUCTURED = (
    "(see `tunaeval formats`); structured: tool_calls beside the text (openai is an alias of that "
    "here; as a wire format it is harmony)"
)
_CONVERT = (
    value("file", "JSON lines; - (the default): stdin", nargs="?", default="-"),
    value(
        "--from FORMAT",
        f"the format the calls are written in {_STRUCTURED}",
        dest="from_format",
        required=True,
    ),
    value(
        "--to FORMAT",
        f"the format they are to be written in {_STRUCTURED}",
        dest="to_format",
        required=True,
    ),
    value("-o --out", "where to write (default: stdout)", default="-"),
    value("--field", "the field with the reply, if not as usual"),
    value("--tools", "the tools, for the types of arguments: a JSON file, or a catalogue"),
    _level("which repairs are allowed in reading (default: standard)", "standard"),
)
_DATASET = (
    one_of("action", ("check", "filter"), "count what is wrong, or split"),
    value("file", "a .jsonl, .json or .parquet file"),
    value(
        "--shape",
        "how rows are written: openai, sharegpt, llama-factory, xlam, toolace, glaive, "
        "when2call, trl (default: looked up in each row)",
        default="auto",
    ),
    many(
        "--against SUITE",
        "a suite whose questions must not be in the data; may be given several times",
    ),
    many(
        "--allow CODE",
        "a finding that is no fault (repaired-call, say); may be given several times",
    ),
    flag("--strict", "exit with 1 when anything is found, or no row"),
    value("--examples", "rows shown of each kind (default: 3)", type=any_whole_number, default=3),
    Group(
        "filter",
        (
            value("--kept FILE", "where rows go that nothing is wrong with"),
            value("--rejected FILE", "where the others go, with their reasons"),
        ),
    ),
    _JSON,
)
_STREAM = (
    *_READING,
    flag("--sse", "stdin is the body of an OpenAI-compatible stream (lines of `data: {...}`)"),
    _JSON,
)
_SHOW = (
    value("runs RUN", "the directory of a run", nargs="+"),
    Group(
        None,
        (
            value("--scenario ID", "this conversation, with what was found in the reply"),
            flag("--failed", "what did not pass, and why"),
        ),
    ),
    value("--repeat N", "of the scenario, only its N-th repeat (all)", type=POSITIVE),
    _JSON,
)
SHAPES = {
    "html": "a page of its own, for a browser",
    "junit": "XML, as CI servers read it",
    "csv": "a row for each scenario and repeat",
    "markdown": "for a pull request, or a step's summary",
    "parquet": "the rows as columns (extra arrow)",
    "json": "all of it, as one object",
    "github": "annotations of GitHub Actions",
}
"""The writers that are options of `tunaeval report`, with their help."""
_REPORT = (
    _RUNS,
    Group(
        None,
        (
            *(
                flag(f"--{name}", words, dest="writer", action="store_const", const=name)
                for name, words in SHAPES.items()
            ),
            value("--writer NAME", "a plug-in"),
        ),
    ),
    value(
        "-o --out FILE",
        "where to write (stdout); its suffix may say what; missing directories are made",
    ),
)
_COMPARE = (
    _RUNS,
    _level("take the verdicts of this level (default: that of the runs)"),
    value(
        "--cluster BY",
        "which scenarios hang together: group, scenario (none), or tag:PREFIX (group)",
        default="group",
    ),
    flag(
        "--intersect",
        "compare runs of other suites, prompts, profiles or levels, in what they share",
    ),
    value(
        "--fail-if-worse PERCENT",
        "exit 1 unless a run is surely not worse than the first by so many points",
        type=share,
    ),
    _MAX_ERRORS,
    value("--flips N", "flipped scenarios shown (20)", type=whole_number(0), default=20),
    Group(None, (flag("--markdown", "as Markdown, for a pull request"), _JSON)),
)
_RESCORE = (
    value("run_directory RUN", "the directory of a run, or of results of BFCL"),
    one_of(
        "--from", ("bfcl",), "RUN is a folder of results that `bfcl generate` wrote", dest="source"
    ),
    value(
        "--prompts DIR",
        "with --from bfcl: the prompts, with possible_answer (the installed bfcl-eval)",
    ),
    value("--format", "wire format, see `tunaeval formats` (the run's)"),
    _level("which repairs count (the run's)"),
    value("--profile", "how arguments are matched (the run's)"),
    one_of("--calls", ("any", "structured"), "which calls count (as in the run)"),
    _ABSTAIN,
    value("--suite NAME|FILE", "what is expected, and the tools (what the run kept)"),
    _BFCL,
    value("--out DIR", "where the new run is kept (beside the old)"),
    _JSON,
)
_DECIDING = (
    value(
        "--check COMMAND",
        "a command line for the shell that exits with 0 when all is well; it has the "
        "transcript as JSON on its standard input",
    ),
    value("--check-timeout SECONDS", "for a check (60)", type=float, default=60.0),
    value("--expect FILE|JSON", "else the calls that are expected, as in a suite"),
    many(
        "--forbid NAME|JSON",
        "a tool whose call makes the total 0, or a call with the arguments that are meant, "
        "as JSON; may be given again",
    ),
    value("--tools", "the tools there were: a JSON file, or a catalogue's name"),
)
_SCORE = (
    value("files FILE", "transcripts in JSON or JSON lines; -: stdin", nargs="+"),
    value("--shape NAME", "whose messages they are (as they look)"),
    value("--query", "what was asked (what the first user says)"),
    value("--preset", "the categories and their weights (that of the library)"),
    many("--category NAME", "a category to ask beside those of the preset; may be given again"),
    value("--start INDEX", "the message at which the task begins (0)", type=int, default=0),
    Group("what decides whether the goal was reached", _DECIDING),
    _JSON,
)
_CHECKS = (
    "reach", "prompt", "calls", "parallel", "stream", "choice", "schema", "values", "history",
    "reasoning", "limits", "names", "stability"
)  # fmt: skip
"""The values of `tunaeval doctor --only`, written here so that --help does not import it."""
_DOCTOR = (
    value("--base-url URL", "an OpenAI-compatible server's address", required=True),
    value("--model NAME", "the server's model (its first)"),
    value("--only GROUP", f"one group of checks: {', '.join(_CHECKS)}"),
    flag("--quick", "about 30 requests instead of 90"),
    value("--repeats N", "for rates, how often (3)", type=POSITIVE, default=3),
    value("--concurrency N", "requests at once (1)", type=POSITIVE, default=1),
    value("--deadline SECONDS", "for all of it (600)", type=seconds, default=600.0),
    _QUIET,
    Group("how the server is reached", _NETWORK),
    Group(None, (_JSON, flag("--markdown", "Markdown for an issue report instead of text"))),
)
_JUDGE = (
    *_client(
        "the embedded model",
        value("--base-url URL", "an OpenAI-compatible server's address"),
        value("--model NAME", "the server's model (its first)"),
    ),
    _TEMPERATURE,
    value("--max-tokens N", "of a reply (500)", type=int, default=500),
    value("--seed N", "counted up for votes and repeats", type=any_whole_number),
    many(
        "--category NAME",
        "judge this category; may be given again (goal-completion, plan-correctness)",
        default=None,
    ),
    flag("--together", "ask all categories in one request"),
    value("--votes N", "for each question (1)", type=int, default=1),
    flag("--swap", "ask each vote in both orders"),
    _CACHE,
    value(
        "--characters N",
        "how much of a transcript is shown (24000; a small model takes less)",
        type=int,
        default=24_000,
    ),
)
_CALIBRATION = (
    value(
        "--threshold SHARE",
        "the share from which a label or a score counts as good (0.5)",
        type=float,
        default=0.5,
    ),
    value("--repeats N", "ask each question again (2 times)", type=int, default=2),
    value("--concurrency N", "transcripts judged at once (4)", type=int, default=4),
)
_SUITES = (
    value(
        "words SUITE",
        "a built-in name, a file or bfcl:CATEGORY: list its scenarios; "
        "after the word check: compare each with its own answer (exit 1 where one fails it); "
        "after the word renamed: the same suite with other names and prompts, for models that "
        "may have seen it",
        nargs="*",
    ),
    value("--profile", "check: how arguments are matched (the suite's, or strict)"),
    value("--seed", "renamed: what chance begins with (0)", type=any_whole_number, default=0),
    value("-o --out FILE", "renamed: the .jsonl file to write"),
    _BFCL,
    _JSON,
)
_SELFTEST = (
    value(
        "measuring MEASURING",
        f"{', '.join(_MEASURINGS)} (default: all of them)",
        nargs="*",
        type=_measuring,
    ),
    many(
        "--format",
        "measure only this wire format; may be repeated (default: all that are registered)",
    ),
    value("--seed", "what chance begins with (default: 0)", type=any_whole_number, default=0),
    value(
        "--examples",
        "texts of each kind (default: as each measuring thinks)",
        type=whole_number(1, 10_000_000),
    ),
    value(
        "--largest",
        "characters of the largest text that growth is measured on (default: 65536)",
        type=whole_number(4096, 16 * 1024 * 1024),
        default=65536,
    ),
)

OPTIONS: dict[str, Options] = {
    "run": (
        Group("what to ask", _QUESTIONS),
        Group("the model", _MODEL),
        Group("the rules", _RULES),
        Group("what the model is given", _OUTPUTS),
    ),
    "parse": _PARSE,
    "convert": _CONVERT,
    "dataset": _DATASET,
    "stream": _STREAM,
    "show": _SHOW,
    "report": _REPORT,
    "compare": _COMPARE,
    "rescore": _RESCORE,
    "score": _SCORE,
    "doctor": _DOCTOR,
    "judge": (
        one_of("action", ("calibrate",), None, metavar="calibrate"),
        value("labels LABELS.jsonl", "a transcript with its labels on each line"),
        value("--out FILE", "write the calibration; must not be there"),
        Group("the judge", _JUDGE),
        Group("how it is compared with the labels", _CALIBRATION),
        _JSON,
    ),
    "suites": _SUITES,
    "formats": (
        value("format", "a name or an alias: show that one, in full", nargs="?"),
        Group(None, (_JSON, flag("--markdown", "the built-in ones as a page of documentation"))),
    ),
    "plugins": (
        value(
            "--group", "only this group: parsers, scorers, clients, writers, classifiers or checks"
        ),
        _JSON,
    ),
    "selftest": _SELFTEST,
}
"""The options of each command."""

USAGE = {
    "judge": "%(prog)s calibrate LABELS.jsonl [options]",
    "suites": "%(prog)s [-h] [options] [[check|renamed] SUITE]",
}
"""The usage of commands whose first word is a part of the command."""
