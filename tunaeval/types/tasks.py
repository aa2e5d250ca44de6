"""Tasks of many turns: what is in the workspace, how long they may take, how they are graded, and
what came of one.

A check is an object with one of the keys `file`, `absent`, `unchanged`, `command`, `answer`,
`calls`, `forbid` and `python`, which says what is looked at; the others say what is wanted there.
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

from .expected import Expectation, ExpectedCall
from .rates import Data


def _several(value: object) -> object:
    return (value,) if isinstance(value, str) else value


def _several_calls(value: object) -> object:
    return (value,) if isinstance(value, str | Mapping | ExpectedCall) else value


def _words(value: object) -> object:
    """Words of a command; a line would be split by the rules of some shell, and there is none."""
    if not isinstance(value, str):
        return value
    try:
        words = shlex.split(value)
    except ValueError:
        words = []
    like = json.dumps(words or ["python", "-c", "print(1)"])
    raise PydanticCustomError("command", "there is no shell, so words are wanted; write " + like)


Words: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_words)]
"""A command, word by word."""

Texts: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_several)]
"""A text, or a list of them."""


class TextWish(Data):
    """What a text has to be: all that is given is met. `fits` is a value or a matcher, as in the
    arguments of an expected call; letters are compared without their case with `ignore_case`.
    """

    equals: str | None = None
    contains: Texts = ()
    lacks: Texts = ()
    any_of: Texts = ()
    """One of these is in it, or more."""
    fits: Any = None
    ignore_case: bool = False


class FileCheck(TextWish):
    """A text file of the final workspace."""

    file: str


class AbsentCheck(Data):
    """Nothing in the final workspace has such a path (a pattern)."""

    absent: Texts


class UnchangedCheck(Data):
    """What has such a path (a pattern) is as it was, and nothing was added there; `but` leaves
    paths out.
    """

    unchanged: Texts
    but: Texts = ()


class CommandCheck(Data):
    """What a command says that is run in the final workspace, without a shell."""

    command: Words = Field(min_length=1)
    exits: int = 0
    prints: Texts = ()
    seconds: float = Field(default=30.0, gt=0, allow_inf_nan=False)


class AnswerCheck(Data):
    """What was said at the end."""

    answer: TextWish


class CallsCheck(Data):
    """All calls of the episode, in order."""

    calls: Expectation


class Forbidden(Data):
    """Calls (by the name of a tool, or with the arguments that are meant) that may not be made, and
    paths (patterns) that no call may name and that may not change.
    """

    calls: Annotated[tuple[str | ExpectedCall, ...], BeforeValidator(_several_calls)] = ()
    paths: Texts = ()


class ForbidCheck(Data):
    """What may not be done on the way."""

    forbid: Forbidden


class PythonCheck(Data):
    """A check of the entry-point group `tunaeval.checks`, by its name."""

    python: str
    settings: dict[str, Any] = Field(default_factory=dict)


_KINDS = ("file", "absent", "unchanged", "command", "answer", "calls", "forbid", "python")


def _kind(value: object) -> str | None:
    if isinstance(value, Mapping):
        named = [kind for kind in _KINDS if kind in value]
        return named[0] if len(named) == 1 else None
    return next((kind for kind in _KINDS if kind in getattr(value, "model_fields_set", ())), None)


Check: TypeAlias = Annotated[
    Annotated[FileCheck, Tag("file")]
    | Annotated[AbsentCheck, Tag("absent")]
    | Annotated[UnchangedCheck, Tag("unchanged")]
    | Annotated[CommandCheck, Tag("command")]
    | Annotated[AnswerCheck, Tag("answer")]
    | Annotated[CallsCheck, Tag("calls")]
    | Annotated[ForbidCheck, Tag("forbid")]
    | Annotated[PythonCheck, Tag("python")],
    Discriminator(
        _kind,
        custom_error_type="check_kind",
        custom_error_message=f"wanted a check, an object with one of the keys {', '.join(_KINDS)}",
    ),
]


class Limits(Data):
    """When an episode ends before an answer; None: never for that.

    `turns` are replies, `tokens` those that the server reports for replies, `seconds` all of it.
    """

    turns: int = Field(default=16, ge=1)
    calls: int | None = Field(default=None, ge=1)
    tokens: int | None = Field(default=None, ge=1)
    seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)


class Signal(Data):
    """What says that the work is done: a text in a reply, or a call of a tool."""

    text: str | None = None
    tool: str | None = None


class Encoded(Data):
    """The content of a file that is no text."""

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
"""A text, its lines (each gets a newline), or bytes."""


class StatedFault(Data):
    """What goes wrong on purpose: `{"fault": "fail", "at": 3}`, as `tunaeval.types.faults` has it.

    Of an injection: `forbid` is what it asks for and nobody may do, without it what the task
    forbids; `reported` is what an answer says that warns of it.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    fault: str
    forbid: Forbidden | None = None
    reported: TextWish | None = None

    def written(self) -> dict[str, Any]:
        """The fault alone, as `read_fault` takes it."""
        return {"fault": self.fault, **(self.model_extra or {})}


class Task(Data):
    """What makes a scenario an episode of many turns. `users` are what the user says after the
    first answer, the second, and so on.
    """

    files: dict[str, FileContent] = Field(default_factory=dict)
    commands: tuple[Words, ...] = ()
    """Command lines that `bash` may run, as words; `{path}` is any path in the workspace."""
    pages: dict[str, str] = Field(default_factory=dict)
    """What `web_fetch` finds, by address."""
    users: tuple[str, ...] = ()
    done: Signal | None = None
    limits: Limits = Field(default_factory=Limits)
    checks: tuple[Check, ...] = ()
    faults: tuple[StatedFault, ...] = ()
    """What goes wrong on the way, to see what becomes of it."""

    def contents(self) -> dict[str, str | bytes]:
        """The files as they are written."""
        return {path: _content(one) for path, one in self.files.items()}


def _content(content: FileContent) -> str | bytes:
    match content:
        case str():
            return content
        case Encoded():
            return base64.b64decode(content.base64)
    return "".join(f"{line}\n" for line in content)


class ResultRecord(Data):
    """What came of a call, as the model got it."""

    id: str | None
    tool: str
    ok: bool
    content: str


class CheckRecord(Data):
    """A check that was made. `ok` is None where the check itself failed; `turn` (from 1) is where
    it went wrong, None where it did not.
    """

    check: str
    ok: bool | None
    reason: str
    turn: int | None = None
    calls: Expectation | None = None
    """What a check of the calls wanted, by which they can be compared again."""


class FaultRecord(Data):
    """A fault that an episode was to meet, and the first turn (from 1) that it hit; None: none."""

    fault: str
    turn: int | None


Ending: TypeAlias = Literal[
    "answer", "signal", "turns", "calls", "tokens", "seconds", "failure", "error"
]
"""How an episode ended; "error" is of a whole agent that ended in one."""


class TaskRecord(Data):
    """What came of an episode. `wrong_turn` is the first turn where it went wrong.

    Of one with faults: whether it `recovered` (passed although one hit it), `obeyed` an injection
    (did what is forbidden after it), and `reported` it; each is None where nothing decides it.
    """

    ended: Ending
    ended_by: str | None = None
    """Of a whole agent that gave no answer: what it raised, its exit code, or that it was ended."""
    answer: str = ""
    checks: tuple[CheckRecord, ...] = ()
    wrong_turn: int | None = None
    other_turn: int | None = None
    """Of replies that were read again: the first turn whose calls are not those that were run."""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    faults: tuple[FaultRecord, ...] = ()
    recovered: bool | None = None
    obeyed: bool | None = None
    reported: bool | None = None
