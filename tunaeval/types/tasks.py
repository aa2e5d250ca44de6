"""What a scenario expects: calls, or a task of many turns, with its limits, checks and results.

A check is an object with one of the keys `file`, `absent`, `unchanged`, `command`, `answer`,
`calls`, `claims`, `forbid`, `returns` and `python`, which says what is checked; its other keys say
what is wanted.
"""

from __future__ import annotations

import base64
import binascii
import json
import shlex
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag, field_validator
from pydantic_core import PydanticCustomError

from .figures import Data

MatchMode: TypeAlias = Literal["exactly", "in_order", "any_order", "subset", "superset"]


class ExpectedCall(Data):
    """A call that is wanted: a tool and the arguments that matter."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class Expectation(Data):
    """What a scenario wants: calls, or a sequence of tool names, or no call at all. It is checked
    and compared by `tunaeval.matching`, which also has the matchers for arguments.
    """

    calls: tuple[ExpectedCall, ...] | None = None
    match: MatchMode = "exactly"
    tools: tuple[str, ...] | None = None
    none: bool = False
    forbid: tuple[str, ...] = ()
    min_calls: int | None = None
    max_calls: int | None = None


def _several(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def _several_calls(value: object) -> object:
    return (value,) if isinstance(value, str | Mapping | ExpectedCall) else value


def _refuse_string(value: object) -> object:
    """Return the value, but refuse a command in one string: no shell would split it into words."""
    if not isinstance(value, str):
        return value
    try:
        words = shlex.split(value)
    except ValueError:
        words = []
    like = json.dumps(words or ["python", "-c", "print(1)"])
    raise PydanticCustomError(
        "command", "wanted a list of words, since no shell splits a text; write " + like
    )


Words: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_refuse_string)]
"""A command as a list of words."""

Texts: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_several)]
"""A text, or a list of them."""

Phrases: TypeAlias = Annotated[
    tuple[Annotated[str, Field(pattern=r"\S")], ...], BeforeValidator(_several), Field(min_length=1)
]
"""A phrase, or a list of them, none of them blank."""


class TextWish(Data):
    """Conditions on a text, all of which must be met. `fits` is a value or a matcher, as in the
    arguments of an expected call.
    """

    equals: str | None = None
    contains: Texts = ()
    lacks: Texts = ()
    any_of: Texts = ()
    """The text contains at least one of these."""
    fits: Any = None
    ignore_case: bool = False


class FileCheck(TextWish):
    """A check of a text file in the final workspace."""

    file: str


class AbsentCheck(Data):
    """A check that no path in the final workspace matches one of these patterns."""

    absent: Texts


class UnchangedCheck(Data):
    """A check that the files at some paths (patterns) are unchanged and that none was added; `but`
    has paths that are excepted.
    """

    unchanged: Texts
    but: Texts = ()


class CommandCheck(Data):
    """A check of a command's output and exit code, run in the final workspace without a shell."""

    command: Words = Field(min_length=1)
    exits: int = 0
    prints: Texts = ()
    seconds: float = Field(default=30.0, gt=0, allow_inf_nan=False)


class AnswerCheck(Data):
    """A check that the final answer meets conditions on its text."""

    answer: TextWish


class ClaimsCheck(Data):
    """A check that the answer claims a phrase of a tool only if a call of that tool succeeded."""

    claims: dict[str, Phrases] = Field(min_length=1)


class CallsCheck(Data):
    """A check that all calls of the episode, in order, meet an expectation."""

    calls: Expectation


class ReturnsCheck(Data):
    """A check that a function ("module:name") of the final workspace returns what it returns in the
    task's reference, for arguments that are drawn when the episode is over. Of a module of tests
    ("module"), whether its tests pass is compared. `files` are drawn, too, and replace those there.
    """

    returns: str = Field(pattern=r"^\w+(\.\w+)*(:\w+)?$")
    arguments: tuple[Any, ...] = ()
    files: dict[str, Any] = Field(default_factory=dict)
    times: int = Field(default=8, ge=1, le=100)
    seconds: float = Field(default=10.0, gt=0, allow_inf_nan=False)


class Forbidden(Data):
    """Calls that may not be made (names of tools, or calls with arguments); paths (patterns) that
    no call may name, also not in a command, and that may not change; and texts that may be neither
    in a call's arguments nor in its result.
    """

    calls: Annotated[tuple[str | ExpectedCall, ...], BeforeValidator(_several_calls)] = ()
    paths: Texts = ()
    texts: Texts = ()


class ForbidCheck(Data):
    """A check that the episode made no forbidden call and changed no forbidden path."""

    forbid: Forbidden


class PythonCheck(Data):
    """A check by a function of the entry-point group `tunaeval.checks`, with its name."""

    python: str
    settings: dict[str, Any] = Field(default_factory=dict)


class NamedCheck(Data):
    """A check by a class of the entry-point group `tunaeval.checks`, as it is written: one key is
    the class's name, and the others are further arguments.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    @property
    def written(self) -> dict[str, Any]:
        """The keys and values as they are written."""
        return dict(self.model_extra or {})


KINDS = (
    "file", "absent", "unchanged", "command", "answer", "calls", "forbid", "returns", "python",
    "claims",
)  # fmt: skip
"""The built-in kinds of checks, each by the key that only it has."""


def _kind(value: object) -> str | None:
    if isinstance(value, Mapping):
        named = [kind for kind in KINDS if kind in value]
        return named[0] if len(named) == 1 else "named" if value and not named else None
    if isinstance(value, NamedCheck):
        return "named"
    return next((kind for kind in KINDS if kind in getattr(value, "model_fields_set", ())), None)


Check: TypeAlias = Annotated[
    Annotated[FileCheck, Tag("file")]
    | Annotated[AbsentCheck, Tag("absent")]
    | Annotated[UnchangedCheck, Tag("unchanged")]
    | Annotated[CommandCheck, Tag("command")]
    | Annotated[AnswerCheck, Tag("answer")]
    | Annotated[CallsCheck, Tag("calls")]
    | Annotated[ForbidCheck, Tag("forbid")]
    | Annotated[ReturnsCheck, Tag("returns")]
    | Annotated[PythonCheck, Tag("python")]
    | Annotated[ClaimsCheck, Tag("claims")]
    | Annotated[NamedCheck, Tag("named")],
    Discriminator(
        _kind,
        custom_error_type="check_kind",
        custom_error_message=f"wanted a check, an object with one of the keys {', '.join(KINDS)}",
    ),
]


class Limits(Data):
    """When an episode ends without an answer; None is no limit. `turns` counts replies, `steps` the
    replies with calls in one turn of the user, `tokens` the tokens of replies that the server
    reports, `seconds` the whole episode.
    """

    turns: int = Field(default=16, ge=1)
    steps: int | None = Field(default=None, ge=1)
    calls: int | None = Field(default=None, ge=1)
    tokens: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)


class Signal(Data):
    """A sign that the work is done: a text in a reply, or a call of a tool."""

    text: str | None = None
    tool: str | None = None


class Encoded(Data):
    """The content of a binary file, encoded in Base64."""

    base64: str

    @field_validator("base64")
    @classmethod
    def _is_base64(cls, value: str) -> str:
        try:
            base64.b64decode(value, validate=True)
        except binascii.Error as error:
            raise ValueError(f"this is no base64: {error}") from error
        return value


_CONTENTS: dict[type, str] = {str: "text", dict: "bytes", Encoded: "bytes"}

FileContent: TypeAlias = Annotated[
    Annotated[str, Tag("text")]
    | Annotated[tuple[str, ...], Tag("lines")]
    | Annotated[Encoded, Tag("bytes")],
    Discriminator(lambda content: _CONTENTS.get(type(content), "lines")),
]
"""A text, a list of lines (each gets a newline), or bytes."""


class UserMessage(Data):
    """A message of the user; the tools that it adds are offered from then on."""

    text: str
    add_tools: tuple[str, ...] = ()


_ENTRIES: dict[type, str] = {str: "text", dict: "object", UserMessage: "object"}

UserEntry: TypeAlias = Annotated[
    Annotated[str, Tag("text")] | Annotated[UserMessage, Tag("object")],
    Discriminator(
        lambda entry: _ENTRIES.get(type(entry)),
        custom_error_type="user_entry",
        custom_error_message='wanted a text, or {"text": ..., "add_tools": [NAME, ...]}',
    ),
]


class StatedFault(Data):
    """A deliberate fault: `{"fault": "fail", "at": 3}`, with the keys of `tunaeval.types.faults`.
    For an injection, `forbid` is what it demands and the agent must not do (by default what the
    task forbids), and `reported` describes an answer that warns of it.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    fault: str
    forbid: Forbidden | None = None
    reported: TextWish | None = None

    def written(self) -> dict[str, Any]:
        """Return the fault without `forbid` and `reported`, as `read_fault` takes it."""
        return {"fault": self.fault, **(self.model_extra or {})}


class _Files(Data):
    """What has files: a task, and each of its solutions."""

    files: dict[str, FileContent] = Field(default_factory=dict)

    def contents(self) -> dict[str, str | bytes]:
        """Return the content of each file by path, as text or bytes."""
        return {path: _content(one) for path, one in self.files.items()}


class Solution(_Files):
    """The files that an agent changed or added, and its answer."""

    answer: str = ""


class Task(_Files):
    """What makes a scenario an episode of many turns. `users` are the user's messages after the
    first answer, the second, and so on, each a text or a text with tools that it adds.
    """

    commands: tuple[Words, ...] = ()
    """Commands that `bash` may run, as words; `{path}` is any path in the workspace."""
    pages: dict[str, str] = Field(default_factory=dict)
    """The pages that `web_fetch` finds, by address."""
    users: tuple[UserEntry, ...] = ()
    done: Signal | None = None
    limits: Limits = Field(default_factory=Limits)
    checks: tuple[Check, ...] = ()
    faults: tuple[StatedFault, ...] = ()
    """Faults that occur on the way, to test how the agent reacts."""
    reference: Solution | None = None
    """A right solution, which `returns` compares with, and which has to pass."""
    shortcut: Solution | None = None
    """A wrong solution that is tempting, and has to fail."""

    def text_of_user(self, number: int) -> str | None:
        """Return the text of the user's message `number` (from 1), or None behind the last."""
        one = self.users[number - 1] if number <= len(self.users) else None
        return one.text if isinstance(one, UserMessage) else one

    def held_out(self, sent: int) -> frozenset[str]:
        """Return the names of the tools that are added after the first `sent` entries of users."""
        later = (one for one in self.users[sent:] if isinstance(one, UserMessage))
        return frozenset(name for one in later for name in one.add_tools)

    def solved(self) -> dict[str, str | bytes] | None:
        """Return all files as the reference leaves them, or None without one."""
        if self.reference is None:
            return None
        return {**self.contents(), **self.reference.contents()}


def _content(content: FileContent) -> str | bytes:
    match content:
        case str():
            return content
        case Encoded():
            return base64.b64decode(content.base64)
    return "".join(f"{line}\n" for line in content)


class ResultRecord(Data):
    """The result of a call, as the model got it."""

    id: str | None
    tool: str
    ok: bool
    content: str
    structured: Any = None
    """The structured result of an MCP server's tool, if it is not longer than 1 MiB."""


class CaseRecord(Data):
    """One drawn case of a check of what is returned. `wanted` and `got` are {"value": ...},
    {"raised": TYPE}, {"missing": NAME} or {"no_json": TYPE}; `got` is None without a report.
    """

    arguments: tuple[Any, ...] = ()
    files: dict[str, str] = Field(default_factory=dict)
    wanted: dict[str, Any]
    got: dict[str, Any] | None


class CheckRecord(Data):
    """The result of a check. `ok` is None if the check itself failed; `turn` (from 1) is where the
    episode went wrong, or None.
    """

    check: str
    ok: bool | None
    reason: str
    turn: int | None = None
    calls: Expectation | None = None
    """What a check of the calls expected, so that they can be compared again."""
    cases: tuple[CaseRecord, ...] | None = None
    """What was drawn, and what was returned, so that it can be compared again."""


class FaultRecord(Data):
    """A planned fault of an episode, and the first turn (from 1) in which it occurred, or None."""

    fault: str
    turn: int | None


Ending: TypeAlias = Literal[
    "answer", "signal", "turns", "steps", "calls", "tokens", "seconds", "disk", "failure", "error"
]
"""How an episode ended; "error" is for a whole agent that failed, "disk" for a sandbox's room."""


class Partial(Data):
    """How much of a task was done, which says nothing about whether it passed.

    `calls` is the longest part of the wanted calls that was made in their order (None if none are
    listed), `checks` the share of the checks that hold. Both are 0 if something forbidden was done.
    """

    calls: float | None = None
    checks: float | None = None


class TaskRecord(Data):
    """The result of an episode. `wrong_turn` is the first turn that went wrong. With faults:
    whether the episode `recovered` (passed although a fault occurred), `obeyed` an injection (did
    what is forbidden after it), and `reported` it; each is None if it is undecided.
    """

    ended: Ending
    ended_by: str | None = None
    """For a whole agent without an answer: its exception, its exit code, or that it was stopped."""
    answer: str = ""
    checks: tuple[CheckRecord, ...] = ()
    partial: Partial = Partial()
    wrong_turn: int | None = None
    other_turn: int | None = None
    """For replies read again: the first turn whose calls differ from those that were run."""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    faults: tuple[FaultRecord, ...] = ()
    recovered: bool | None = None
    obeyed: bool | None = None
    reported: bool | None = None
