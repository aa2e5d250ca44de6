"""What there is to look at when an episode has ended, and at which turn a path or a call came."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tunaeval.errors import WorkspaceError
from tunaeval.tools.workspace.globs import path_fits
from tunaeval.tools.workspace.snapshots import Changes, Snapshot
from tunaeval.tools.workspace.space import Workspace
from tunaeval.types.calls import JsonValue, ToolCall, Tools


@dataclass(frozen=True, slots=True)
class FinalState:
    """The end of an episode: what was asked and answered, all calls in order, and the workspace.

    `call_turns` has for each call the turn that it was made in (from 1), `touched` for each turn
    the paths that it changed; both are empty where nobody knows. `after` is what was in the
    workspace before any check ran in it.

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

    @property
    def changes(self) -> Changes:
        """What is different in the workspace since it was made."""
        if self.workspace is None or self.after is None:
            return Changes()
        return self.workspace.before.changes(self.after)

    @property
    def loss(self) -> str | None:
        """What became of the workspace's directory, where it was taken away: "was removed"."""
        return None if self.workspace is None else self.workspace.loss()

    def needed_workspace(self) -> Workspace:
        """The workspace. Raises `WorkspaceError` where there is none to look at."""
        if self.workspace is None:
            raise WorkspaceError(
                "this check looks at a workspace, and none was given; give workspace="
            )
        return self.workspace

    def turn_of_call(self, index: int) -> int | None:
        return self.call_turns[index] if 0 <= index < len(self.call_turns) else None

    def first_touch(self, paths: Sequence[str]) -> int | None:
        """The first turn that changed one of the paths."""
        return next((turn for turn, found in self._touches() if not found.isdisjoint(paths)), None)

    def last_touch(self, paths: Sequence[str] | None = None) -> int:
        """The last turn that changed one of the paths (or any); the last one where none did."""
        for turn, found in reversed(list(self._touches())):
            if found if paths is None else not found.isdisjoint(paths):
                return turn
        return self.turns

    def _touches(self) -> Iterator[tuple[int, frozenset[str]]]:
        return ((turn, frozenset(found)) for turn, found in enumerate(self.touched, 1))

    def named_paths(self, call: ToolCall) -> Iterator[str]:
        """The paths in a call's arguments that its tool declares as such, from the workspace on."""
        spec = self.tools.get(call.name)
        for name in spec.paths if spec is not None else ():
            yield from self._paths(call.arguments.get(name))

    def _paths(self, value: JsonValue) -> Iterator[str]:
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str) and one:
                root = "" if self.workspace is None else f"{self.workspace.path}/"
                yield posixpath.normpath(one.removeprefix(root))


def fitting(paths: Mapping[str, object] | Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Those of the paths that one of the patterns means, sorted."""
    return sorted(path for path in paths if any(path_fits(path, one) for one in patterns))
