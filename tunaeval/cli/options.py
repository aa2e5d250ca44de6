"""The options of every command, as a table, and how their values are read.

A command's own module is imported when it runs, so `--help` loads nothing that a command needs.
"""

from __future__ import annotations

import json
import math
from argparse import ArgumentTypeError, _ActionsContainer
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from tunaeval.errors import UsageError

from .budget import ErrorBudget


class Option(NamedTuple):
    """An option or an argument: its names, and the settings that argparse gets for it."""

    names: list[str]
    settings: dict[str, Any]


class Group(NamedTuple):
    """Options under a title in the help; in a group without a title they exclude each other."""

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
    """Return an option with one value, or an argument. `words` are its names and the name of its
    value, as in the usage ("-o --out FILE"); `text` is its help.
    """
    first, *others = words.split()
    names = [first, *(word for word in others if word.startswith("-"))]
    called = " ".join(others[len(names) - 1 :]) or None
    return Option(names, {"metavar": called, "help": text, **settings})


def many(words: str, text: str, **settings: Any) -> Option:
    """Return an option that may be given several times; its value is a list."""
    return value(words, text, **{"action": "append", "default": [], **settings})


def flag(name: str, text: str, **settings: Any) -> Option:
    """Return an option without a value, which is True if it is given."""
    return Option([name], {"action": "store_true", "help": text, **settings})


def one_of(name: str, choices: tuple[str, ...], text: str | None, **settings: Any) -> Option:
    """Return an option whose value is one of `choices`."""
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


def fields(text: str) -> dict[str, Any]:
    """Read the fields of a JSON object."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArgumentTypeError(f"found {text!r:.80}; wanted a JSON object ({error})") from None
    if not isinstance(found, dict):
        raise ArgumentTypeError(f"found {text!r:.80}; wanted a JSON object such as {{}}")
    return found


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


def secret(text: str) -> str:
    """Return the text as a Secret, which is hidden wherever it is shown."""
    from tunaeval.files.keys import Secret  # noqa: PLC0415 - --help must be quick

    return Secret(text)


def key_variable(text: str) -> str:
    """Return the name of a variable. An invalid one may be a key, so no error shows it."""
    from tunaeval.files.keys import variable_name  # noqa: PLC0415 - --help must be quick

    try:
        return variable_name(text)
    except UsageError as error:
        raise ArgumentTypeError(str(error)) from None


def _measuring(text: str) -> str:
    if text not in _MEASURINGS:
        raise ArgumentTypeError(f"found {text!r}; wanted {', '.join(_MEASURINGS)}")
    return text


_MEASURINGS = ("linear", "stream", "accuracy", "null")
"""The arguments of `tunaeval selftest`, listed here so that --help does not import them."""


# --- what several commands have ------------------------------------------------------------------


def _level(text: str, default: str | None = None) -> Option:
    return one_of("--level", ("strict", "standard", "lenient"), text, default=default)


_JSON = flag("--json", "print one JSON object instead of text")
_BFCL = value(
    "--bfcl DIR", "the directory of BFCL's data (default: that of the installed bfcl-eval)"
)
_RUNS = value(
    "runs RUN",
    "directories of runs, or directories that contain one run; the first is the baseline",
    nargs="+",
)
_LATEST = flag(
    "--latest", "of a directory that contains several runs, take the last that was begun"
)
_QUIET = flag("--quiet", "show no progress")
_TEMPERATURE = value(
    "--temperature", "the sampling temperature (default: 0)", type=amount, default=0.0
)
_ABSTAIN = many(
    "--abstain NAME",
    "count a call of this name as no call, for prompts that ask for such a call if no tool fits; "
    "may be given again",
)
_READING = (
    value(
        "--format",
        "the wire format, see `tunaeval formats` (default: auto; openai means harmony)",
        default="auto",
    ),
    _level("which repairs are made (default: standard)", "standard"),
    value(
        "--tools", "the tools that may be called: a JSON file, or the name of a built-in catalogue"
    ),
    _ABSTAIN,
)
_MAX_ERRORS = value(
    "--max-errors N|P%",
    "exit with 3, and judge nothing, if more requests than this got no answer: a number, or a "
    "percentage of all (default: 0 with a gate, no limit without)",
    type=ErrorBudget.read,
)
_KEY_VARIABLE = many(
    "--key-variable NAME",
    "the environment variable with the server's key (default: TUNAEVAL_API_KEY or "
    "OPENAI_API_KEY); may be given again, and the first that is set counts",
    type=key_variable,
    default=None,
)
_NETWORK = (
    many(
        "--header 'NAME: VALUE'",
        "send this header with every request; may be given again. Its value is written to no file",
        type=secret,
        default=None,
    ),
    value("--ca FILE", "trust the authorities in this file (PEM) instead of the system's"),
    value("--cert FILE", "the client's own certificate (PEM)"),
    value(
        "--cert-key FILE",
        "the key of the client's certificate, if the file of --cert does not contain it",
    ),
    value(
        "--proxy URL",
        "send requests through this proxy; '' for none (default: $HTTPS_PROXY and the like)",
        type=secret,
    ),
    flag("--http2", "use HTTP/2 if the server supports it (needs the extra http2)", default=None),
)


def _client(otherwise: str, *addresses: Option) -> tuple[Option, ...]:
    """Return `--client` and its settings; `otherwise` names the default client in the help."""
    return (
        value(
            "--client NAME",
            f"what answers: llamacpp, openai, replay, scripted or a plug-in (default: {otherwise})",
        ),
        *addresses,
        value("--model-file FILE", "the weights of the embedded model (a GGUF file)"),
        value(
            "--recording PATH|NAME",
            "replies to replay: a recorded file, the name of a built-in recording, or a run's "
            "directory",
        ),
        *_NETWORK,
    )


# --- the commands --------------------------------------------------------------------------------


_CACHE = value(
    "--cache DIR", "keep replies in this directory, and ask a model only what is not there (off)"
)
_QUESTIONS = (
    value(
        "--suite NAME|FILE",
        "a built-in suite (see `tunaeval suites`) or a file (default: everyday)",
        default="everyday",
    ),
    _BFCL,
    many(
        "--exclude ID|TAG",
        "leave out this scenario, or all scenarios with this tag; may be given again",
    ),
    many("--id ID", "ask only this scenario; may be given again", dest="ids"),
    many("--tag TAG", "ask only scenarios with this tag; may be given again", dest="tags"),
    many(
        "-k --like PATTERN",
        "ask only scenarios with this text in their id or prompt, or whose id matches a pattern "
        "such as read-*; may be given again",
        dest="patterns",
    ),
    value("--limit N", "ask only the first N scenarios", type=POSITIVE),
    value(
        "--faults NAME|FILE",
        "ask each task of many turns once with each list of faults: the built-in lists model or "
        "agent (for whole agents), or a JSON file with lists by name",
    ),
    many(
        "--tools-from MODULE:NAME",
        "use the tools of an installed agent instead of the suite's; NAME is a list, a dictionary "
        "or a single tool; may be given again",
    ),
    many(
        "--mcp COMMAND|URL",
        "use the tools of an MCP server instead of the suite's, and run the calls of tasks of many "
        "turns against it; in a command, {workspace} is the task's directory; may be given again",
    ),
    one_of(
        "--tools",
        ("api", "prompt"),
        "pass the tools through the API, or write them into the prompt (default: api; the "
        "embedded model gets a schema of the calls, and its replies have to fit it)",
    ),
    flag("--free-text", "let the embedded model answer without a schema"),
    flag(
        "--constrain",
        "send the server (llama.cpp, vLLM, SGLang) a grammar: the model can write nothing but "
        "words and calls of the tools in the format of --format (default: hermes)",
    ),
    value(
        "--constrain-field NAME",
        "send the grammar (GBNF) in this field of the request alone, for other servers",
    ),
    many(
        "--system-prompt FILE",
        "a text in place of the suite's system prompt; given several times, every model is asked "
        "with each",
    ),
)
_MODEL = (
    *_client(
        "the embedded model if installed, otherwise its recording",
        many(
            "--base-url URL",
            "the address of an OpenAI-compatible server, such as http://127.0.0.1:8000/v1; given "
            "once for all models, or once for each",
        ),
        many(
            "--pass-env NAME",
            "with --client command:...: a variable of the environment that the command gets, which "
            "is clean otherwise; may be given again",
        ),
        many(
            "--model NAME",
            "the model to ask (default: the first that the server lists), or the name of a column "
            "in tunaeval.toml; given several times, all are asked and ranked",
        ),
    ),
    _KEY_VARIABLE,
    value("--rpm N", "start at most N requests per minute", type=above_zero),
    flag(
        "--check-server",
        "examine the server first (as `tunaeval doctor --quick`), and keep the verdict in run.json",
    ),
    value(
        "--price-in PRICE",
        "the price of a million prompt tokens; the run then reports its cost",
        type=amount,
    ),
    value(
        "--price-out PRICE",
        "the price of a million completion tokens; the run then reports its cost",
        type=amount,
    ),
    value(
        "--max-cost COST",
        "ask nothing more once this command has cost this much, by the prices (exit code 3); what "
        "a resumed run cost before is not counted",
        type=amount,
    ),
    value(
        "--max-total-tokens N",
        "ask nothing more once so many tokens of this command went in and out (exit code 3)",
        type=POSITIVE,
    ),
    value(
        "--max-requests N",
        "ask nothing more after so many requests of this command (exit code 3)",
        type=POSITIVE,
    ),
    flag("--dry-run", "only print how many requests, tokens and what cost it would be at most"),
    flag(
        "--stream",
        "stream the replies. Measures the time to the first token and tokens per second, and "
        "checks that the streamed pieces give the same calls as the whole text",
        default=None,
    ),
    _CACHE,
    _TEMPERATURE,
    value(
        "--max-tokens N", "the most tokens of a reply (default: 300)", type=POSITIVE, default=300
    ),
    value("--seed N", "the seed for sampling (default: the server's own)", type=any_whole_number),
)
_RULES = (
    value(
        "--format",
        "the wire format of calls in text, see `tunaeval formats` (default: auto; openai means "
        "harmony, not tool_calls)",
        default="auto",
    ),
    _level(
        "which repairs are made (default: standard); the report has the score at all levels",
        "standard",
    ),
    value(
        "--profile",
        "how arguments are compared: strict, tunacode or bfcl (default: the suite's, or strict)",
    ),
    one_of(
        "--calls",
        ("any", "structured"),
        "which calls count: any, or only those that the server parsed (default: any)",
        default="any",
    ),
    _ABSTAIN,
    value(
        "--attempts N",
        "ask a scenario up to N times, until the reply has a call that counts (default: 2)",
        type=POSITIVE,
        default=2,
    ),
    value("--repeats N", "ask the whole suite N times (default: 1)", type=POSITIVE, default=1),
    value(
        "--timeout SECONDS",
        "the time limit of a scenario (default: 30; embedded model: 120)",
        type=seconds,
    ),
    value(
        "--concurrency N",
        "ask N scenarios at a time; fewer after the status 429 and timeouts (default: 8; embedded "
        "model: 1)",
        type=POSITIVE,
    ),
)
_OUTPUTS = (
    value(
        "--out DIR",
        "the directory in which the run's directory is made (default: runs)",
        default="runs",
    ),
    value("--resume RUN", "continue an interrupted run, with the options that it was started with"),
    flag(
        "--retry-failures",
        "with --resume: ask again the scenarios without an answer; both results are kept, and the "
        "last counts",
    ),
    flag("--take-over", "with --resume: continue although another machine has locked the run"),
    value("--record FILE", "write the replies to FILE, for --recording"),
    many(
        "--report FILE",
        "write a report; the suffix decides its kind: .html, .md, .xml (JUnit), .csv, .json or "
        ".parquet; may be given again; missing directories are created",
    ),
    value("--writer NAME", "github, or a plug-in: how a --report with another suffix is written"),
    value("--fail-under PERCENT", "exit with 1 if the score is lower", type=percentage),
    _MAX_ERRORS,
    _QUIET,
    _JSON,
)
_OF_COLUMNS = (
    "--format", "--timeout", "--tools", "--free-text", "--constrain", "--constrain-field",
)  # fmt: skip
_OF_COMMAND = ("--max-cost", "--max-total-tokens", "--max-requests", "--dry-run")
COLUMN_OPTIONS: Options = (
    *(one for one in _MODEL if one.names[0] not in _OF_COMMAND),
    *(one for one in (*_QUESTIONS, *_RULES) if one.names[0] in _OF_COLUMNS),
)
"""The options that a column of a matrix may have of its own."""
_PARSE = (
    value(
        "file",
        "the file to read, which may be compressed by gzip or Zstandard (default: -, stdin)",
        nargs="?",
        default="-",
    ),
    *_READING,
    flag("--jsonl", "read each line as a record, as in a .jsonl file"),
    value("--field NAME", "JSON lines: the field with the text or message"),
    value("--workers N", "JSON lines: parse in N processes (default: 1)", type=POSITIVE, default=1),
    value(
        "-o --out FILE",
        "JSON lines: write the objects of --json to FILE; .gz and .zst are compressed; missing "
        "directories are created",
    ),
    flag("--strict", "JSON lines: stop at the first line that cannot be read"),
    _JSON,
)
_STRUCTURED = (
    "(see `tunaeval formats`), or structured for tool_calls beside the text (openai means the same "
    "here)"
)
_CONVERT = (
    value("file", "a file of JSON lines (default: -, stdin)", nargs="?", default="-"),
    value(
        "--from FORMAT",
        f"the format of the calls in the file {_STRUCTURED}; with --to atif the shape of the "
        "transcripts (default: recognized)",
        dest="from_format",
    ),
    value(
        "--to FORMAT",
        f"the format to write the calls in {_STRUCTURED}; or atif: write transcripts of any "
        "shape as trajectories of the Agent Trajectory Interchange Format, one a line",
        dest="to_format",
    ),
    value("--template FILE", "in place of --to: write replies as this chat template does (Jinja)"),
    value("-o --out", "the file to write (default: stdout)", default="-"),
    value("--field", "the field with the reply, if it has an unusual name"),
    value(
        "--tools", "the tools, for the types of arguments: a JSON file, or the name of a catalogue"
    ),
    value(
        "--arguments",
        "with --to structured: how arguments are written: object, text (JSON text, as OpenAI's "
        "API takes it), or the file of a chat template, which decides (default: object)",
    ),
    _level("which repairs are made in reading (default: standard)", "standard"),
)
_DATASET = (
    one_of(
        "action",
        ("check", "filter"),
        "check: count the rows with findings; filter: also split the file",
    ),
    value("file", "a .jsonl, .json or .parquet file"),
    value(
        "--shape",
        "the shape of the rows, such as openai, sharegpt, trl or verl (default: recognized for "
        "each row)",
        default="auto",
    ),
    many("--against SUITE", "find rows with a prompt of this suite; may be given again"),
    many("--allow CODE", "ignore this finding, such as repaired-call; may be given again"),
    flag("--strict", "exit with 1 if there is any finding, or no row"),
    value(
        "--examples",
        "how many rows are shown for each finding (default: 3)",
        type=any_whole_number,
        default=3,
    ),
    Group(
        "filter",
        (
            value("--kept FILE", "write the rows without findings to FILE"),
            value("--rejected FILE", "write the other rows to FILE, with the reasons"),
        ),
    ),
    _JSON,
)
_STREAM = (
    *_READING,
    flag(
        "--sse", "read the body of an OpenAI-compatible stream (lines of `data: {...}`) from stdin"
    ),
    _JSON,
)
_SHOW = (
    value("runs RUN", "the directory of a run or a matrix, or one that contains one", nargs="+"),
    _LATEST,
    Group(
        None,
        (
            value(
                "--scenario ID",
                "show the conversation of this scenario, with what was found in the replies",
            ),
            flag("--failed", "show the scenarios that did not pass, and why"),
        ),
    ),
    value("--repeat N", "with --scenario: show only its N-th repeat (default: all)", type=POSITIVE),
    _JSON,
)
SHAPES = {
    "html": "a page for a browser",
    "junit": "JUnit's XML, for CI servers",
    "csv": "a table with a row for each scenario and repeat",
    "markdown": "Markdown, for a pull request or the summary of a CI step",
    "parquet": "the rows of the table as Parquet (needs the extra arrow)",
    "json": "everything, as one JSON object",
    "github": "annotations for GitHub Actions",
}
"""The writers that are options of `tunaeval report`, with their help."""
_REPORT = (
    _RUNS,
    _LATEST,
    Group(
        None,
        (
            *(
                flag(f"--{name}", words, dest="writer", action="store_const", const=name)
                for name, words in SHAPES.items()
            ),
            value("--writer NAME", "the report of a plug-in"),
        ),
    ),
    value(
        "-o --out FILE",
        "the file to write (default: stdout); its suffix may decide the kind of report; missing "
        "directories are created",
    ),
)
_COMPARE = (
    _RUNS,
    _LATEST,
    _level("compare the verdicts at this level (default: the level of the runs)"),
    value(
        "--cluster BY",
        "which scenarios depend on each other: those of one group, none (scenario), or those with "
        "the same tag (tag:PREFIX) (default: group)",
        default="group",
    ),
    flag(
        "--intersect",
        "compare runs with different suites, profiles or levels, on the scenarios that both have",
    ),
    flag("--different-prompts", "compare runs with other system prompts, tools or ways to ask"),
    value(
        "--fail-if-worse PERCENT",
        "exit with 1 unless each run is surely not worse than the first by this many points",
        type=share,
    ),
    _MAX_ERRORS,
    value(
        "--flips N",
        "how many scenarios with a changed result are shown (default: 20)",
        type=whole_number(0),
        default=20,
    ),
    Group(None, (flag("--markdown", "print Markdown, for a pull request"), _JSON)),
)
_RESCORE = (
    value("run_directory RUN", "the directory of a run, or of BFCL's results"),
    one_of(
        "--from", ("bfcl",), "RUN is a folder of results that `bfcl generate` wrote", dest="source"
    ),
    value(
        "--prompts DIR",
        "with --from bfcl: the directory of the prompts and possible answers (default: that of the "
        "installed bfcl-eval)",
    ),
    value("--format", "the wire format, see `tunaeval formats` (default: the run's)"),
    _level("which repairs are made (default: the run's)"),
    value("--profile", "how arguments are compared (default: the run's)"),
    one_of("--calls", ("any", "structured"), "which calls count (default: as in the run)"),
    _ABSTAIN,
    value(
        "--suite NAME|FILE",
        "the suite with the expected calls and the tools (default: the copy that the run kept)",
    ),
    _BFCL,
    value(
        "--out DIR",
        "the directory in which the new run's directory is made (default: "
        "rescored, in that of the old run)",
    ),
    _JSON,
)
_DECIDING = (
    value(
        "--check COMMAND",
        "a shell command that exits with 0 if the goal was reached; it gets the transcript as "
        "JSON on stdin",
    ),
    value(
        "--check-timeout SECONDS",
        "the time limit of --check (default: 60)",
        type=float,
        default=60.0,
    ),
    value("--expect FILE|JSON", "the expected calls, as in a suite"),
    many(
        "--forbid NAME|JSON",
        "a tool, or a call as JSON, that makes the total 0 if it is called; may be given again",
    ),
    value("--tools", "the tools that the agent had: a JSON file, or the name of a catalogue"),
)
_SCORE = (
    value(
        "files FILE",
        "files of transcripts in JSON or JSON lines, folders with such files (a line for each "
        "transcript, and a summary), or - for stdin",
        nargs="+",
    ),
    value("--shape NAME", "the framework of the messages (default: recognized)"),
    value("--query", "the user's request (default: the first message of the user)"),
    value("--preset", "the categories and their weights (default: the preset default)"),
    many(
        "--category NAME",
        "score this category, too, beside those of the preset; may be given again",
    ),
    value(
        "--start INDEX",
        "the index of the message at which the task begins (default: 0)",
        type=int,
        default=0,
    ),
    Group("what decides whether the goal was reached", _DECIDING),
    _JSON,
)
_DOCTOR = (
    value(
        "words ACTION",
        "compare OLD NEW: compare two reports in JSON, and exit with 1 if NEW has a fault that OLD "
        "lacks; replay FILE: blame recorded pairs of a model's text and a server's answer, JSON "
        "lines or a folder of such files",
        nargs="*",
    ),
    value(
        "--base-url URL",
        "the address of an OpenAI-compatible server, such as http://127.0.0.1:8000/v1",
    ),
    value("--model NAME", "the model to ask (default: the first that the server lists)"),
    many(
        "--only CHECK|GROUP",
        "make only this check, or one group of checks: reach, prompt, calls, parallel, stream, "
        "choice, schema, values, history, reasoning, limits, names, stability, responses, "
        "messages; may be given again",
    ),
    many("--skip CHECK|GROUP", "leave out this check or group; may be given again"),
    value(
        "--known FILE",
        "exit with 1 only for a fault that is not in FILE, which --write-known or --report wrote",
    ),
    value(
        "--write-known FILE",
        "write the server's faults to FILE, for --known, and exit with 0; together with --known, "
        "those that could not be judged this time are kept",
    ),
    many(
        "--report FILE",
        "write a report; the suffix decides its kind: .xml (JUnit), .md or .json; may be given "
        "again; missing directories are created",
    ),
    value("--writer NAME", "github, junit, markdown or json: how a --report is written"),
    value("--tokenizer FILE", "with replay: the tokenizer.json that makes text of token ids"),
    flag("--quick", "send about 30 requests instead of up to 110"),
    value(
        "--repeats N",
        "how often each repeated question is asked (default: 3)",
        type=POSITIVE,
        default=3,
    ),
    value("--concurrency N", "requests at a time (default: 1)", type=POSITIVE, default=1),
    value(
        "--deadline SECONDS",
        "the time limit of the examination (default: 600)",
        type=seconds,
        default=600.0,
    ),
    value(
        "--timeout SECONDS",
        "the time limit of one request; a server that takes longer hangs (default: 120)",
        type=seconds,
        default=120.0,
    ),
    value(
        "--max-errors N|P%",
        "exit with 3 if more answers than this failed, so that it is not known what they were to "
        "show: a number, or a percentage of all (default: 0)",
        type=ErrorBudget.read,
    ),
    value(
        "--extra-body JSON",
        'fields of every request, such as \'{"provider": {"only": ["Name"]}}\'',
        type=fields,
        default={},
    ),
    flag("--allow-plain-http", "send the key over http:// to another machine, too"),
    _QUIET,
    Group("how the server is reached", (_KEY_VARIABLE, *_NETWORK)),
    Group(None, (_JSON, flag("--markdown", "print Markdown, for an issue, instead of text"))),
)
_JUDGE = (
    *_client(
        "the embedded model",
        value(
            "--base-url URL",
            "the address of an OpenAI-compatible server, such as http://127.0.0.1:8000/v1",
        ),
        value("--model NAME", "the model to ask (default: the first that the server lists)"),
    ),
    _TEMPERATURE,
    value("--max-tokens N", "the most tokens of a reply (default: 500)", type=int, default=500),
    value(
        "--seed N", "the first seed; each vote and repeat takes the next one", type=any_whole_number
    ),
    many(
        "--category NAME",
        "judge this category; may be given again (default: goal-completion and plan-correctness)",
        default=None,
    ),
    flag("--together", "ask all categories in one request"),
    value("--votes N", "ask each question N times (default: 1)", type=int, default=1),
    flag("--swap", "ask each vote in both orders of the scale"),
    _CACHE,
    value(
        "--characters N",
        "show the judge at most N characters of a transcript (default: 24000); small models need "
        "fewer",
        type=int,
        default=24_000,
    ),
)
_CALIBRATION = (
    value(
        "--threshold SHARE",
        "a label or a score counts as good from this value (default: 0.5)",
        type=float,
        default=0.5,
    ),
    value("--repeats N", "ask each question N more times (default: 2)", type=int, default=2),
    value("--concurrency N", "judge N transcripts at a time (default: 4)", type=int, default=4),
)
_SUITES = (
    value(
        "words SUITE",
        "list the scenarios of a suite: a built-in name, a file or bfcl:CATEGORY; "
        "check SUITE: test each scenario with its own answer, and exit with 1 if one fails; "
        "renamed SUITE: write the suite with other names and prompts, for models that may have "
        "been trained on it; from-transcript FILE: write a turn of a transcript as a scenario",
        nargs="*",
    ),
    value("--profile", "with check: how arguments are compared (default: the suite's, or strict)"),
    value(
        "--seed",
        "with renamed: the seed for random names (default: 0)",
        type=any_whole_number,
        default=0,
    ),
    value(
        "--turn N",
        "with from-transcript: the number of the assistant's turn, from 1",
        type=POSITIVE,
    ),
    value(
        "--transcript N",
        "with from-transcript: the number of the transcript in the file, from 1, if it has several",
        type=POSITIVE,
    ),
    value("--shape NAME", "with from-transcript: the framework of the messages"),
    value("--tools", "with from-transcript: the tools that were offered: a JSON file"),
    value("-o --out FILE", "with renamed or from-transcript: the .jsonl file to write"),
    _BFCL,
    _JSON,
)
_SELFTEST = (
    value(
        "measuring MEASURING",
        f"what to measure: {', '.join(_MEASURINGS)} (default: all)",
        nargs="*",
        type=_measuring,
    ),
    many(
        "--format",
        "measure only this wire format; may be given again (default: all registered formats)",
    ),
    value("--seed", "the seed for random texts (default: 0)", type=any_whole_number, default=0),
    value(
        "--examples",
        "the number of texts of each kind (default: depends on the measurement)",
        type=whole_number(1, 10_000_000),
    ),
    value(
        "--largest",
        "linear: the size of the largest text, in characters (default: 65536)",
        type=whole_number(4096, 16 * 1024 * 1024),
        default=65536,
    ),
)

OPTIONS: dict[str, Options] = {
    "run": (
        Group("what to ask", _QUESTIONS),
        Group("the model", _MODEL),
        Group("the rules", _RULES),
        Group("what the run writes, and its exit code", _OUTPUTS),
    ),
    "parse": _PARSE,
    "convert": _CONVERT,
    "dataset": _DATASET,
    "reward": (
        one_of("action", ("stress",), None, metavar="stress"),
        value("function MODULE:FUNCTION", "the reward function, as a trainer would call it"),
        flag("--text", "give completions as texts, and leave out exploits in messages"),
        value("--gold NAME", "the column of the wanted calls (default: gold)", default="gold"),
        value("--tools NAME", "the column of the tools (default: tools)", default="tools"),
        many("--only GROUP", "try only this group of exploits; may be given again"),
        _JSON,
    ),
    "stream": _STREAM,
    "show": _SHOW,
    "report": _REPORT,
    "compare": _COMPARE,
    "rescore": _RESCORE,
    "score": _SCORE,
    "doctor": _DOCTOR,
    "judge": (
        one_of("action", ("calibrate",), None, metavar="calibrate"),
        value("labels LABELS.jsonl", "a file of JSON lines: on each a transcript with its labels"),
        value("--out FILE", "write the calibration to FILE, which must not exist yet"),
        Group("the judge", _JUDGE),
        Group("how the judge is compared with the labels", _CALIBRATION),
        _JSON,
    ),
    "suites": _SUITES,
    "tools": (
        one_of(
            "action", ("snapshot", "diff"), "snapshot: write the tools to a file; diff: compare"
        ),
        value(
            "files FILE",
            "diff: the old tools, and the new ones unless a source is given",
            nargs="*",
        ),
        Group(
            "the source of the tools",
            (
                many("--mcp COMMAND|URL", "an MCP server; may be given again"),
                many("--tools-from MODULE:NAME", "an installed agent; may be given again"),
            ),
        ),
        value("-o --out FILE", "snapshot: the file to write (default: stdout)", default="-"),
        flag("--words", "diff: a changed description or default counts as a break, too"),
        _JSON,
    ),
    "template": (
        one_of("action", ("check",), None, metavar="check"),
        value("file FILE", "a chat template (Jinja)"),
        _JSON,
    ),
    "formats": (
        value("format", "show this format in full; a name or an alias", nargs="?"),
        value("constrained NAME", "constrain: the format to make a grammar of", nargs="?"),
        Group(
            "constrain",
            (
                value("--tools FILE", "a JSON file of tools, or a catalogue's name"),
                one_of(
                    "--kind",
                    ("lark", "gbnf", "structural-tag"),
                    "the server's kind of grammar: that of llguidance, llama.cpp or xgrammar",
                    default="lark",
                ),
                one_of(
                    "--text",
                    ("before", "none"),
                    "whether prose may come before calls, or be the whole reply",
                    default="before",
                ),
                flag("--allow-looser", "leave out what cannot be said, and list it on stderr"),
            ),
        ),
        Group(
            None,
            (
                _JSON,
                flag("--markdown", "print the built-in formats as a page of the documentation"),
            ),
        ),
    ),
    "plugins": (
        value(
            "--group",
            "list only this group: parsers, scorers, clients, writers, classifiers, checks or "
            "adapters",
        ),
        _JSON,
    ),
    "selftest": _SELFTEST,
}
"""The options of each command."""

USAGE = {
    "doctor": "%(prog)s [-h] [options] (--base-url URL | compare OLD NEW | replay FILE)",
    "judge": "%(prog)s calibrate LABELS.jsonl [options]",
    "reward": "%(prog)s stress MODULE:FUNCTION [options]",
    "template": "%(prog)s check FILE [--json]",
    "formats": "%(prog)s [-h] [options] [NAME | constrain NAME --tools FILE]",
    "suites": "%(prog)s [-h] [options] [[check|renamed] SUITE | from-transcript FILE]",
    "tools": "%(prog)s (snapshot | diff OLD [NEW]) [options]",
}
"""The usage of commands whose first word is a part of the command."""
