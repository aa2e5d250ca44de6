"""The command line: its commands and their exit codes.

Results go to stdout, progress and diagnostics to stderr. Exit codes: 0 fine, 1 below the bar that
was asked for, 2 wrong use or could not run, 3 too many failures to judge, 130 interrupted, 143
terminated. A command is a module with `run(arguments, output) -> int`, which is imported when it
runs; its options are in a TOML file beside it, as `options` says.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from io import StringIO
from typing import Any, NoReturn

import tunaeval
from tunaeval.errors import RecordError, TunaevalError, UnknownNameError, UsageError

from .ending import Terminated
from .options import add_options, options_in, usage_of
from .output import Output, print_listing
from .settings import apply, settings_of, shown, visible_value

GROUPS = {
    "Read text": {
        "parse": "show the tool calls in a text, or in each record of a file",
        "stream": "show the calls in a text, or in a server's stream, while it arrives",
        "convert": "rewrite the calls in a data file from one wire format to another",
        "formats": "list the wire formats that can be read",
        "template": "find which wire format a model's chat template writes",
    },
    "Ask models": {
        "run": "ask a model the scenarios of a suite, and score its calls",
        "show": "show a stored run: its summary, its failures, or one conversation",
        "view": "show stored runs in a browser, also while they are written",
        "report": "write a page, a table or annotations about stored runs",
        "compare": "compare runs with the first, scenario by scenario, with intervals",
        "rescore": "score the replies of a stored run again by other rules, without a model",
        "suites": "list the built-in suites, or list, check or rename the scenarios of one",
    },
    "Agents and judges": {
        "score": "score transcripts of an agent by category, with reasons",
        "judge": "measure how well a judge agrees with labelled transcripts",
        "tools": "write the tools of a server or an agent to a file, or find what breaks",
    },
    "Training data": {
        "dataset": "find rows of a training data set that teach mistakes, and split them off",
        "reward": "test a reward function against known exploits",
    },
    "Servers": {
        "doctor": "find out whether a server calls tools correctly, and whose fault it is if not",
    },
    "This installation": {
        "help": "show what a command does, and its options",
        "plugins": "list the built-in parts and the plug-ins, and what is broken",
        "selftest": "measure the parser on this machine: speed, streams, accuracy and repairs",
    },
}
"""The commands by what they are for, each with what it does."""

COMMANDS = {name: summary for group in GROUPS.values() for name, summary in group.items()}
COULD_NOT_RUN = 2
_INTERRUPTED = (130, "interrupted")


def _version(argv: Sequence[str]) -> str:
    """Return the text of `--version`; only then is the engine loaded, which may be compiled."""
    is_compiled = "--version" in argv and tunaeval.compiled
    return f"tunaeval {tunaeval.__version__}" + (" (compiled)" if is_compiled else "")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 2 after an unforeseen error, as 1 is a verdict."""
    output = Output(sys.stdout, sys.stderr)
    with redirect_stderr(output.err):
        if output.out is None:
            output.note("tunaeval: stdout cannot be written: it is closed")
            return COULD_NOT_RUN
        output.ending.last = argv is None
        try:
            with output.ending:
                code = _flushed(list(sys.argv[1:] if argv is None else argv), output)
        except KeyboardInterrupt as error:
            code = _interrupted(error, output)
        return code


def _flushed(argv: list[str], output: Output) -> int:
    code = _exit_code_of(argv, output)
    try:
        output.flush()
    except RecordError as error:
        output.note(f"tunaeval: {error}")
        return max(code, COULD_NOT_RUN)
    return code


def _interrupted(error: KeyboardInterrupt, output: Output) -> int:
    code, word = (error.code, error.word) if isinstance(error, Terminated) else _INTERRUPTED
    output.note(f"tunaeval: {word}")
    return code


def _exit_code_of(argv: list[str], output: Output) -> int:
    try:
        return _command(argv, output)
    except TunaevalError as error:
        output.note(f"tunaeval: {error}")
        return COULD_NOT_RUN
    except KeyboardInterrupt as error:
        return _interrupted(error, output)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - left alone, it would exit with 1
        return _unforeseen(error, output)


def _unforeseen(error: BaseException, output: Output) -> int:
    """Print the traceback as the interpreter does, and return 2, as 1 would be a verdict."""
    import traceback  # noqa: PLC0415 - most commands need none

    for line in "".join(traceback.format_exception(error)).rstrip().split("\n"):
        output.note(line)
    return COULD_NOT_RUN


def _command(argv: list[str], output: Output) -> int:
    if argv and not argv[0].startswith("-") and argv[0] not in COMMANDS:
        raise UnknownNameError("command", argv[0], COMMANDS)
    printed = StringIO()  # argparse would ignore an error in writing
    try:
        with redirect_stdout(printed):
            arguments = _parser(argv).parse_args(argv)
    except SystemExit as end:  # --help and --version end so
        output.draw(lambda out: out.write(printed.getvalue()))
        return int(end.code or 0)
    if _configured(argv[0], arguments, output):
        return 0
    if argv[0] == "help":
        return _command([*filter(None, [arguments.command]), "--help"], output)
    # What a plug-in prints must not get between the results.
    with redirect_stdout(output.err), output.logging():
        code: int = import_module(f".{argv[0]}", __name__).run(arguments, output)
        return code


def _configured(command: str, arguments: argparse.Namespace, output: Output) -> bool:
    """Fill in the project's defaults; return True if only `--show-config` was asked for."""
    parser = arguments.__dict__.pop("parser")
    show_only = arguments.__dict__.pop("show_config")
    settings = settings_of(command, COMMANDS)
    apply(settings, command, parser, arguments)
    if show_only:
        rows = list(shown(settings, parser, arguments))
        as_json = bool(getattr(arguments, "json", False))
        print_listing(output, "config", rows, ("option", "value", "from"), as_json=as_json)
        output.note(f"tunaeval: defaults from {settings.file or 'no file'}")
    return bool(show_only)


def _headings() -> Iterator[str]:
    """Yield the lines of the help that list the commands, under their headings."""
    width = max(map(len, COMMANDS))
    for heading, commands in GROUPS.items():
        yield f"{heading}:"
        yield from (f"  {name:{width}}  {summary}" for name, summary in commands.items())
        yield ""


def _parser(argv: list[str], *, every: bool = False) -> argparse.ArgumentParser:
    """Return the parser of the command line, with the options of its command, or of every one."""
    parser = _Parser(
        prog="tunaeval",
        description="How well does a language model call tools?\n\n" + "\n".join(_headings()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="`tunaeval COMMAND --help` lists the options of a command.\n"
        "Exit codes: 0 done, 1 below a required score (--fail-under, --fail-if-worse) or another\n"
        "negative result, 2 wrong use or could not run, 3 too many failures to judge\n"
        "(--max-errors), 130 interrupted, 143 terminated.",
    )
    parser.add_argument("--version", action="version", version=_version(argv))
    parser.add_argument(
        "--print-completion",
        action=_PrintCompletion,
        choices=("bash", "zsh", "fish"),
        help="print a script that completes commands and options in this shell (needs the extra "
        "shell)",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)
    for name, summary in COMMANDS.items():
        # shtab completes the commands that have a help; ours is under the headings.
        listed: Any = {"help": summary} if every else {}
        command = commands.add_parser(name, description=f"{summary.capitalize()}.", **listed)
        if every or name in argv[:1]:
            command.usage = usage_of(name)
            add_options(command, options_in(name))
            command.add_argument(
                "--show-config",
                action="store_true",
                help="only show the value of each option, and where it was set: on the command "
                "line, in tunaeval.toml or in pyproject.toml ([tool.tunaeval])",
            )
            command.set_defaults(parser=command)
    return parser


class _PrintCompletion(argparse.Action):
    """Prints the completion of a shell, as `--help` prints the help."""

    def __call__(self, parser: argparse.ArgumentParser, *given: Any) -> None:
        try:
            import shtab  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise UsageError(
                "--print-completion needs shtab; run pip install 'tunaeval[shell]'"
            ) from error
        whole = _parser([], every=True)
        for one in _options_below(whole):
            kind = next((kind for kind in _COMPLETED if kind in str(one.metavar)), None)
            if kind is not None:
                one.complete = getattr(shtab, _COMPLETED[kind])  # type: ignore[attr-defined]  # shtab reads it
        print(shtab.complete(whole, shell=given[1]))
        parser.exit()


_COMPLETED = {"FILE": "FILE", "PATH": "FILE", "DIR": "DIRECTORY", "RUN": "DIRECTORY"}
"""What shtab completes for an option, by a word in the name of its value."""


def _options_below(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:  # noqa: SLF001 - argparse lists them nowhere else
        yield action
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as above
            for below in action.choices.values():
                yield from _options_below(below)


class _StoreOnce(argparse.Action):
    """Stores a value like argparse's "store", but a second, different value is an error."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        before = getattr(namespace, self.dest, None)
        seen = namespace.__dict__.setdefault("given", set())
        if option_string and self.dest in seen and before != values:
            both = " and as ".join(repr(visible_value(self.dest, one)) for one in (before, values))
            parser.error(f"{option_string} is given twice, as {both}; give it once")
        if option_string:
            seen.add(self.dest)
        setattr(namespace, self.dest, values)


_KEYS = frozenset({"api-key", "api_key", "apikey", "key", "token"})
"""Names under which other tools take a key; here it comes from the environment alone."""

_OF_PYTHON = {"deadline-seconds": "timeout", "ask": "tools"}
"""Parameters of `tunaeval.run` with the option that does the same."""


class _Parser(argparse.ArgumentParser):
    """An argument parser that raises UsageError instead of ending the process."""

    def __init__(self, **settings: object) -> None:
        super().__init__(allow_abbrev=False, **settings)  # type: ignore[arg-type]  # argparse's own
        for name in (None, "store"):
            self.register("action", name, _StoreOnce)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse the arguments. For an unknown option, the error suggests one that may be meant."""
        named = self._option_string_actions
        try:
            found, unknown = super().parse_known_args(args, namespace)
        except UsageError:  # an option that is required, perhaps, because its name is mistyped
            if self._subparsers is None:
                self._suggest([one for one in args or () if one.partition("=")[0] not in named])
            raise
        words = [word.partition("=")[0] if word[:2] == "--" else word[:2] for word in args or ()]
        found.given = getattr(found, "given", set())
        found.given |= {named[word].dest for word in words if word in named}
        options = self._suggest(unknown)
        if unknown:
            # What follows an unknown option is not shown, as it may be a key.
            self.error(f"unrecognized arguments: {' '.join(options or unknown)}")
        return found, unknown

    def _suggest(self, unknown: Sequence[str]) -> list[str]:
        """Return the options among `unknown`. Raise UsageError if one resembles a known option."""
        known = [option.lstrip("-") for option in self._option_string_actions]
        options = [one.partition("=")[0] for one in unknown if one.startswith("-")]
        for option in options:
            name = option.lstrip("-")
            if name in _KEYS:
                self.error(f"there is no option {option}: set $TUNAEVAL_API_KEY to the key instead")
            near = UnknownNameError("option", name, known).near
            python = [_OF_PYTHON[name]] if _OF_PYTHON.get(name) in known else []
            for meant in [*python, *near][:1]:
                self.error(f"there is no option {option}; did you mean --{meant}?")
        return options

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see `{self.prog} --help`")
