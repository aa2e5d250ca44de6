"""The end of an episode as checks see it, and the turns in which paths or calls came up."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tunaeval.errors import WorkspaceError
from tunaeval.tools.workspace.confined import path_fits
from tunaeval.tools.workspace.space import Changes, Snapshot, Workspace
from tunaeval.types.calls import JsonValue, ToolCall, Tools


@dataclass(frozen=True, slots=True)
class FinalState:
    """The end of an episode: its prompt, answer, calls in order, and workspace.

    `call_turns` has the turn (from 1) of each call, `touched` the paths that each turn changed;
    both are empty if unknown. `after` is the workspace's content before any check ran in it.

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
            raise WorkspaceError(
                "this check looks at a workspace, and none was given; give workspace="
            )
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
        """Yield the paths among a call's arguments, relative to the workspace."""
        spec = self.tools.get(call.name)
        for name in spec.paths if spec is not None else ():
            yield from self._paths(call.arguments.get(name))

    def _paths(self, value: JsonValue) -> Iterator[str]:
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str) and one:
                root = "" if self.workspace is None else f"{self.workspace.path}/"
                yield posixpath.normpath(one.removeprefix(root))


def fitting(paths: Mapping[str, object] | Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Return the paths that match one of the patterns, sorted."""
    return sorted(path for path in paths if any(path_fits(path, one) for one in patterns))
