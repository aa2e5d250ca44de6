"""Workspaces: real directories, confined and compared, and tools that work in them."""

from .commands import PATH_WORD, Ran
from .confined import MAX_BYTES, Confined
from .globs import path_fits
from .snapshots import Changes, Entry, Snapshot
from .space import Workspace, WorkspaceFile
from .toolbox import workspace_tools

__all__ = [
    "MAX_BYTES",
    "PATH_WORD",
    "Changes",
    "Confined",
    "Entry",
    "Ran",
    "Snapshot",
    "Workspace",
    "WorkspaceFile",
    "path_fits",
    "workspace_tools",
]
