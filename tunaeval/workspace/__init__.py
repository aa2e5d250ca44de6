"""Workspaces: real directories, confined and compared, and tools that work in them."""

from .commands import PATH_WORD
from .configured import configurations
from .confined import MAX_BYTES, Confined, parts_of
from .globs import path_fits
from .running import Ran
from .snapshots import Changes, Entry, Snapshot
from .space import Workspace, WorkspaceFile, file_bytes
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
    "configurations",
    "file_bytes",
    "parts_of",
    "path_fits",
    "workspace_tools",
]
