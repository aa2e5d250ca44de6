"""Every exception that tunaeval raises on purpose, as one tree.

    TunaevalError
    ├── UsageError            the caller asked for something impossible
    │   ├── UnknownNameError  a name that nothing is registered under
    │   ├── ToolsError        tools that cannot be understood
    │   ├── ComparisonError   runs that cannot be compared
    │   ├── ExpectationError  an expectation that nothing could meet, or that says nothing
    │   └── FormatError       a wire format that could never be read
    ├── PluginError           a plug-in that cannot be used
    │   ├── PluginLoadError   its import failed
    │   ├── PluginClashError  its name is taken
    │   └── PluginShapeError  it lacks what its group requires
    ├── SuiteError            a suite file that cannot be used
    ├── RecordError           a run directory that cannot be written or read
    ├── WorkspaceError        a path that leaves a workspace, or an operation impossible in one
    └── ClientError           a model gave no reply
        ├── ClientSetupError  no request can succeed: wrong key, unknown model, missing package
        └── TransportFailure  this request failed; the next may succeed

A model's mistake is never an exception: it is a `Diagnosis` in the result.
Messages say what was found, where, what was wanted and what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunaeval.showing import brief, similar

if TYPE_CHECKING:
    from collections.abc import Iterable


_MOST_LISTED, _FEW = 60, 10


class TunaevalError(Exception):
    """The root: catch this to catch everything that tunaeval raises on purpose."""


class UsageError(TunaevalError):
    """The caller asked for something impossible."""


class UnknownNameError(UsageError):
    """Nothing is registered under a name. The message has `instead`, if that is given, or else the
    names that are spelled alike (`near`). If there are none, it lists the known names, or only ten
    of them and the `command` that lists all.
    """

    def __init__(
        self, kind: str, name: object, known: Iterable[str], instead: str = "", command: str = ""
    ) -> None:
        names = sorted(known)
        near = similar(name, names) if isinstance(name, str) else []
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else ""
        advice = instead or hint or _known_names(names, command)
        super().__init__(f"no {kind} is called {brief(name)}; {advice}")
        self.name = name
        self.near = near


def _known_names(names: list[str], command: str) -> str:
    if not names:
        return "none is registered"
    most = _FEW if command else _MOST_LISTED
    listed = f"known: {', '.join(names[:most])}"
    if len(names) <= most:
        return listed
    return f"{listed} and {len(names) - most} more" + (command and f"; `{command}` lists all")


class ToolsError(UsageError):
    """Tools that cannot be understood."""


class ComparisonError(UsageError):
    """Runs that cannot be compared: they were asked different things, or have nothing in common."""


class ExpectationError(UsageError):
    """An expectation that cannot be used; the message says where in it the fault is."""


class FormatError(UsageError):
    """A wire format that could never be read; raised when it is built."""


class PluginError(TunaevalError):
    """A plug-in that cannot be used."""


class PluginLoadError(PluginError):
    """A plug-in whose import failed; raised only when the plug-in is used."""


class PluginClashError(PluginError):
    """A name that two things claim, such as the plug-ins of two packages."""


class PluginShapeError(PluginError):
    """A plug-in that lacks what its group requires."""


class SuiteError(TunaevalError):
    """A suite file that cannot be used."""


class RecordError(TunaevalError):
    """A run directory or record file that cannot be written or read."""


class WorkspaceError(TunaevalError):
    """A path that leads out of a workspace, or an operation that is impossible in one."""


class ClientError(TunaevalError):
    """A request that got no reply from a model."""


class ClientSetupError(ClientError):
    """No request can succeed: a wrong key, an unknown model, a missing package. Ends a run early.
    `status` is the HTTP status if a server sent one.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class TransportFailure(ClientError):  # noqa: N818 - an outcome's name, used as such in reports
    """This request failed after its retries; the next may succeed.

    `kind` is one of "connect", "timeout", "status", "refused" (by a status that a wrong key or
    address causes, and sometimes a single request), "body", "filter", "lost-call" (the finish
    reason announces a call, and there is none), "replay"; `status` is the HTTP status if there was
    one. `advice`, at the end of the message, applies only if all requests fail: if others pass, key
    and address are right.
    """

    def __init__(
        self, message: str, *, kind: str, status: int | None = None, advice: str | None = None
    ) -> None:
        super().__init__(f"{message}; {advice}" if advice else message)
        self.advice = advice
        self.kind = kind
        self.status = status
