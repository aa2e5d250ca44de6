"""The end of an episode, as checks get it: its answer, its calls, and its workspace."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tunaeval.errors import WorkspaceError
from tunaeval.tools.specs import COMMAND_ARGUMENTS
from tunaeval.types.calls import JsonValue, ToolCall, Tools
from tunaeval.types.runs import Episode
from tunaeval.types.tasks import (
    Ending,
    ResultRecord,
)

from .returned import Contents
from .space import Changes, Snapshot, Workspace

_SEPARATORS = str.maketrans(dict.fromkeys("'\"`;|&<>()$={}[],:?@\\", " "))
"""What separates words in a shell, and in the code of `python -c`."""


@dataclass(frozen=True, slots=True)
class UserTurn:
    """A user's message, the calls that followed it with their results, the answer to it, and how
    many replies had calls (`steps`).
    """

    user: str
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ResultRecord, ...] = ()
    answer: str = ""
    steps: int = 0


@dataclass(frozen=True, slots=True)
class FinalState:
    """The end of an episode: its prompt, answer, calls in order, and workspace.

    `call_turns` has the turn (from 1) of each call, `touched` the paths that each turn changed;
    both are empty if unknown. `results` are the texts of the calls' results, and `lost` the
    attempts at calls that cannot be read, each with its turn. `after` is the workspace's content
    before any check ran in it. `reference` has all files of a right solution; `seed` is what the
    inputs of checks are drawn from. `succeeded` are the tools of which a call succeeded; if that is
    unknown (None), each call counts. A transcript has no `user_turns`, and its `episode` and
    `ended` are None.

    Examples:
        >>> call = tunaeval.ToolCall("ls", {})
        >>> state = tunaeval.FinalState("What is here?", "Nothing.", calls=(call,))
        >>> state.turns, state.calls[0].name
        (1, 'ls')
    """

    prompt: str
    answer: str
    calls: tuple[ToolCall, ...] = ()
    turns: int = 1
    call_turns: tuple[int, ...] = ()
    touched: tuple[tuple[str, ...], ...] = ()
    workspace: Workspace | None = None
    after: Snapshot | None = None
    tools: Tools = field(default_factory=Tools)
    profile: str | None = None
    results: tuple[tuple[int, str], ...] = ()
    lost: tuple[tuple[int, ToolCall], ...] = ()
    reference: Contents | None = None
    seed: str = ""
    succeeded: frozenset[str] | None = None
    episode: Episode | None = None
    user_turns: tuple[UserTurn, ...] = ()
    ended: Ending | None = None

    @property
    def changes(self) -> Changes:
        """The changes in the workspace since it was made."""
        if self.workspace is None or self.after is None:
            return Changes()
        return self.workspace.before.changes(self.after)

    @property
    def loss(self) -> str | None:
        """A phrase such as "was removed" if the workspace's directory was lost, else None."""
        return None if self.workspace is None else self.workspace.loss()

    def needed_workspace(self) -> Workspace:
        """Return the workspace. Raises `WorkspaceError` if there is none to inspect."""
        if self.workspace is None:
            raise WorkspaceError("this check needs a workspace, and there is none; pass workspace=")
        return self.workspace

    def turn_of_call(self, index: int) -> int | None:
        """Return the turn (from 1) of the call at `index`, or None if it is unknown."""
        return self.call_turns[index] if 0 <= index < len(self.call_turns) else None

    def first_touch(self, paths: Sequence[str]) -> int | None:
        """Return the first turn that changed one of the paths, or None."""
        return next((turn for turn, found in self._touches() if not found.isdisjoint(paths)), None)

    def last_touch(self, paths: Sequence[str] | None = None) -> int:
        """Return the last turn that changed one of the paths (or any path), else the final turn."""
        for turn, found in reversed(list(self._touches())):
            if found if paths is None else not found.isdisjoint(paths):
                return turn
        return self.turns

    def _touches(self) -> Iterator[tuple[int, frozenset[str]]]:
        return ((turn, frozenset(found)) for turn, found in enumerate(self.touched, 1))

    def named_paths(self, call: ToolCall) -> Iterator[str]:
        """Yield the paths among a call's arguments, and the words of its commands, which may be
        paths; relative to the workspace.
        """
        spec = self.tools.get(call.name)
        for name in spec.paths if spec is not None else ():
            yield from self._paths(call.arguments.get(name))
        for name in COMMAND_ARGUMENTS & call.arguments.keys():
            value = call.arguments[name]
            for line in value if isinstance(value, list) else [value]:
                yield from self._paths(str(line).translate(_SEPARATORS).split())

    def _paths(self, value: JsonValue) -> Iterator[str]:
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str) and one:
                root = "" if self.workspace is None else f"{self.workspace.path}/"
                yield posixpath.normpath(one.removeprefix(root))
