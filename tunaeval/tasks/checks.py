"""Read checks from dictionaries, and wrap them for `tunaeval.score(check=...)`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePosixPath
from secrets import token_hex
from typing import Any

from pydantic import TypeAdapter, ValidationError

from tunaeval.errors import UsageError
from tunaeval.matching.expectations import check_expectation
from tunaeval.parsing.api import parse_message
from tunaeval.parsing.message import lost_calls
from tunaeval.registry import who, words_of
from tunaeval.showing import brief, counted
from tunaeval.tools.success import returned
from tunaeval.types.calls import Tools
from tunaeval.types.conversations import Conversation
from tunaeval.types.runs import CheckRecord, Expectation, ExpectedCall
from tunaeval.types.tasks import (
    AbsentCheck,
    AnswerCheck,
    CallsCheck,
    Check,
    FileCheck,
    ForbidCheck,
    Forbidden,
    NamedCheck,
    ReturnsCheck,
    TextWish,
    UnchangedCheck,
)
from tunaeval.types.wanted import refusal

from .grades import grade, says_nothing
from .named import made_check
from .returned import Contents, drawn
from .space import Workspace
from .state import FinalState

_CHECK: TypeAdapter[Check] = TypeAdapter(Check)


def read_checks(written: Iterable[Mapping[str, Any] | Check]) -> tuple[Check, ...]:
    """Return the checks for dictionaries as in a suite. Raises UsageError for an invalid one."""
    if isinstance(written, str | bytes | Mapping) or not isinstance(written, Iterable):
        raise refusal("checks", written, 'a list of checks such as {"file": "a.py", "equals": ""}')
    read = tuple(_read_check(one, index) for index, one in enumerate(written))
    if not read:
        raise refusal("checks", [], "one check or more")
    return read


def _read_check(written: Mapping[str, Any] | Check, index: int) -> Check:
    try:
        check = _CHECK.validate_python(written)
    except ValidationError as error:
        first = error.errors()[0]
        at = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in first["loc"][1:])
        raise UsageError(
            f"checks[{index}]{at}: found {brief(first['input'], 80)}: {first['msg']}"
        ) from error
    if fault := check_fault(check):
        raise UsageError(f"checks[{index}]: {fault}")
    return check


def check_fault(check: Check) -> str | None:
    """Return why a check can never fail or never pass, or None if it is sound."""
    match check:
        case FileCheck():
            return _file_fault(check)
        case AnswerCheck(answer=wish) if says_nothing(wish):
            return "any answer would do; say what it equals, contains, lacks, any_of or fits"
        case AnswerCheck(answer=wish):
            return _wish_fault(wish)
        case CallsCheck(calls=expect):
            return _value_error(lambda: check_expectation(expect))
        case ForbidCheck(forbid=forbidden):
            return _forbidden_fault(forbidden)
        case ReturnsCheck():
            return _value_error(lambda: drawn(check, ""))
        case NamedCheck():
            return _named_fault(check)
        case UnchangedCheck(unchanged=paths) | AbsentCheck(absent=paths) if not paths:
            return "it names no path; name one, such as 'tests/'"
        case UnchangedCheck(but=left_out) if not {"**", *check.unchanged}.isdisjoint(left_out):
            return f"but={brief(left_out)} leaves out what is to be unchanged; name less there"
    return None


def _forbidden_fault(forbidden: Forbidden) -> str | None:
    if not any(forbidden.model_dump().values()):
        return "it forbids nothing; name calls, paths or texts"
    if "" in forbidden.texts:
        return "it forbids the empty text, which is in every text; name what is forbidden"
    return None


def _named_fault(check: NamedCheck) -> str | None:
    made = made_check(check)
    if made.unmade is not None:
        return made.unmade
    this = who(type(made.thing), "check", made.name)
    try:
        fault = getattr(made.thing, "fault", None)
        found = fault() if callable(fault) else None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in may raise anything
        return f"{this} is made of {check.written!r:.80}, and its fault() raised {words_of(error)}"
    if found is None or isinstance(found, str):
        return found
    return f"{this}: its fault() returned {brief(found)}; wanted a text, or None"


def _value_error(check: Callable[[], object]) -> str | None:
    try:
        check()
    except ValueError as error:
        return str(error)
    return None


def _file_fault(check: FileCheck) -> str | None:
    if ".." in PurePosixPath(check.file).parts or check.file.startswith("/"):
        return f"file is {brief(check.file)}, which leads out of the workspace; wanted a path in it"
    if not says_nothing(check) or check.model_fields_set <= {"file", "ignore_case"}:
        return _wish_fault(check)  # that the file exists may be the whole wish
    return "any text would do; say what it equals, contains, lacks, any_of or fits, or leave it out"


def _wish_fault(wish: TextWish) -> str | None:
    """Return why every text or no text would fit a wish, or None if it is sound."""
    empty = [name for name in ("contains", "any_of") if "" in getattr(wish, name)]
    if empty:
        return f"{empty[0]} has the empty text, which is in every text; name what is to be there"
    if wish.fits is None:
        return None
    fits = ExpectedCall(name="text", arguments={"text": wish.fits})
    return _value_error(lambda: check_expectation(Expectation(calls=(fits,))))


class Checks:
    """Checks, as in a suite, over a run of your own, for `tunaeval.score(check=...)`.

        workspace = tunaeval.Workspace(at="repo")             # before the agent runs
        ...
        checks = tunaeval.Checks([{"unchanged": "tests/"}], workspace)
        score = tunaeval.score(messages, "Repair it", check=checks)

    Calling it with the conversation returns whether all checks passed, and why not. It
    raises if a check itself fails, so that the score says so. `records` has the last results.
    `reference` has the files of a right solution, for the checks of what is returned.

    Examples:
        >>> with tunaeval.Workspace({"a.txt": "old"}) as workspace:
        ...     checks = tunaeval.Checks([{"file": "a.txt", "contains": "new"}], workspace)
        ...     messages = [{"role": "assistant", "content": "Done."}]
        ...     score = tunaeval.score(messages, "Change it", check=checks)
        ...
        >>> score.weighted_total
        0.0
    """

    def __init__(
        self,
        checks: Iterable[Mapping[str, Any] | Check],
        workspace: Workspace | None = None,
        *,
        tools: Tools | None = None,
        profile: str | None = None,
        reference: Contents | None = None,
    ) -> None:
        self.checks = read_checks(checks)
        self._reference, self._seed = reference, token_hex()
        self.workspace = workspace
        self.records: tuple[CheckRecord, ...] = ()
        self._tools, self._profile = tools or Tools(), profile

    def __call__(self, conversation: Conversation) -> tuple[bool, str]:
        """Make all checks. Raises RuntimeError if one of them could not be made."""
        self.records = grade(self.checks, self._state(conversation))
        broken = [one for one in self.records if one.ok is None]
        if broken:
            raise RuntimeError(f"{broken[0].check}: {broken[0].reason}")
        failed = [
            f"{one.check}: {one.reason}" + ("" if one.turn is None else f" (turn {one.turn})")
            for one in self.records
            if not one.ok
        ]
        return not failed, "; ".join(failed) or f"{counted(len(self.records), 'check')} passed"

    def _state(self, conversation: Conversation) -> FinalState:
        """Return the final state of a conversation; each assistant message is a turn."""
        replies = [one for one in conversation.messages if one.role == "assistant"]
        numbered = [(turn, call) for turn, one in enumerate(replies, 1) for call in one.tool_calls]
        answers = [one.content for one in replies if not one.tool_calls]
        lost = [
            (turn, call)
            for turn, one in enumerate(replies, 1) if not one.tool_calls
            for call in lost_calls(one, parse_message(one), None)
        ]  # fmt: skip
        names = {call.id: call.name for _, call in numbered}
        results: list[tuple[int, str]] = []
        succeeded: set[str] = set()
        turn = 0
        for one in conversation.messages:
            turn += one.role == "assistant"
            results += [(turn, one.content)] if one.role == "tool" else []
            if one.tool_call_id in names and not one.is_error and returned(one.content).ok:
                succeeded.add(names[one.tool_call_id])
        return FinalState(
            prompt=conversation.query or "",
            answer=answers[-1] if answers else "",
            calls=tuple(call for _, call in numbered),
            turns=max(1, len(replies)),
            call_turns=tuple(turn for turn, _ in numbered),
            workspace=self.workspace,
            after=None if self.workspace is None else self.workspace.snapshot(),
            tools=self._tools,
            profile=self._profile,
            results=tuple(results),
            lost=tuple(lost),
            reference=self._reference,
            seed=self._seed,
            succeeded=frozenset(succeeded) if results else None,
        )
