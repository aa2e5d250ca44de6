"""Run commands in a sandbox of bubblewrap: what they can reach, and what a probe inside found.

A command has namespaces of its own for users, processes, network and IPC, and no capabilities. Of
the files it reads those of the system and of the programs that it needs, and writes to its
workspace, an empty home and an empty `/tmp`. All else, Docker and podman too, is the caller's.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.limits import MAX_SANDBOX_BYTES, MAX_SANDBOX_PROCESSES
from tunaeval.tools import forwarding
from tunaeval.tools.launching import launched
from tunaeval.tools.processes import Child, Kept
from tunaeval.types.json_text import json_object
from tunaeval.types.wanted import wanted_items

HOME = "/home/agent"
TOOLS = ("none", "bwrap")
PARTS = ("files", "processes", "network", "environment", "memory", "disk")
_ROOM = str(MAX_SANDBOX_BYTES)
_NAMESPACES = (
    "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts",
    "--unshare-cgroup-try", "--disable-userns", "--die-with-parent", "--new-session",
    "--cap-drop", "ALL",
)  # fmt: skip
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = (
    "alternatives", "group", "hosts", "ld.so.cache", "localtime", "nsswitch.conf", "passwd",
    "pki/tls/certs", "ssl/certs",
)  # fmt: skip
"""What of /etc programs need. Nothing in it is secret; each mount takes a command a millisecond."""
_SOCKETS = "/run/tunaeval"
SOCKET = "model"
"""The name of the socket to the model's endpoint, in a directory that has nothing else."""
_FORWARDING = forwarding.__file__
_LIMITED = 'ulimit -p "$0" 2>/dev/null || ulimit -u "$0" 2>/dev/null; exec "$@"'
"""Limits a user's processes, for the shells that call it -p or -u. Root's are not counted so."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A sandbox that was found to work: what of `PARTS` is shut, and what is open."""

    tool: str
    path: str
    version: str
    binds: tuple[str, ...] = ()
    shut: tuple[str, ...] = ()
    open: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return what `run.json` has of it."""
        parts = {"shut": [*self.shut], "open": [*self.open]}
        return {"tool": self.tool, "version": self.version, **parts}

    @property
    def heading(self) -> str:
        shut, left = (", ".join(one) or "nothing" for one in (self.shut, self.open))
        return f"in a sandbox ({self.tool} {self.version}): shut are {shut}; open: {left}"

    def launched(self, command: Sequence[str], workspace: Path, **more: Any) -> list[str]:
        """Return the words that start a command in the sandbox below a supervisor; see `words`."""
        watch = f"{MAX_SANDBOX_BYTES} {MAX_SANDBOX_PROCESSES} {workspace}"
        return launched(self.words(command, workspace, **more), watch=watch)

    def words(
        self,
        command: Sequence[str],
        workspace: Path,
        *,
        hidden: str = "",
        shown: Iterable[str] = (),
        sockets: tuple[str, int] | None = None,
    ) -> list[str]:
        """Return the words that run a command, whose program is a path, in the sandbox.

        `hidden` is a directory that is empty inside, `shown` are files to read. `sockets` is the
        directory with `SOCKET`, and the port that leads to it inside.
        """
        made = [self.path, *_NAMESPACES]
        etc = (f"/etc/{name}" for name in _ETC)
        needed = {*_prefixes(command[0]), *_prefixes(sys.executable), sys.prefix, sys.base_prefix}
        ours = [_FORWARDING] if sockets else []
        given = [*_SYSTEM, *etc, *sorted(needed, key=len), *ours, *shown, *self.binds]
        for place in ("/proc", "/dev"):
            made += [f"--{place[1:]}", place]
        for place in ("/dev/shm", "/tmp", HOME):  # noqa: S108 - inside, where it is new
            made += ["--size", _ROOM, "--tmpfs", place]
        for path in filter(os.path.exists, dict.fromkeys(given)):
            is_link = path in _SYSTEM and os.path.islink(path)  # noqa: PTH114 - as /bin to usr/bin
            made += ["--symlink", str(Path(path).readlink())] if is_link else ["--ro-bind", path]
            made.append(path)
        if hidden:
            made += ["--tmpfs", hidden, "--remount-ro", hidden]
        if sockets:
            made += ["--ro-bind", sockets[0], _SOCKETS]
            place, port = f"{_SOCKETS}/{SOCKET}", str(sockets[1])
            command = [sys.executable, "-I", "-S", _FORWARDING, place, port, *command]
        made += ["--bind", str(workspace), str(workspace)]
        for place in ("/proc", "/dev", "/"):
            made += ["--remount-ro", place]
        return [*made, "--", "/bin/sh", "-c", _LIMITED, str(MAX_SANDBOX_PROCESSES), *command]

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Return the variables of a command with the places that there are inside."""
        return {**variables, "HOME": HOME, "TMPDIR": "/tmp"}  # noqa: S108 - as above


def _prefixes(program: str) -> Iterator[str]:
    """Yield what a program needs: the directory above its `bin`, else the file, and so for what it
    is a link to. A home is never such a directory.
    """
    for path in dict.fromkeys((Path(program), Path(os.path.realpath(program)))):
        above = path.parent.parent
        is_prefix = path.parent.name in {"bin", "sbin"} and above not in {
            Path("/"), Path.home(), *Path.home().parents,
        }  # fmt: skip
        yield str(above if is_prefix else path)


def sandbox_of(name: str | None, binds: Iterable[str | os.PathLike[str]] = ()) -> Sandbox | None:
    """Return the sandbox of that name, once a probe has run inside; None for "none".

    `binds` are further paths that can be read inside. Raises UsageError (UnknownNameError) for an
    unknown name, and for a tool that is not installed or does not work.
    """
    given = wanted_items(binds, "sandbox_bind", str | os.PathLike, "paths")
    paths = [os.path.abspath(one) for one in given]  # noqa: PTH100 - a link stays one
    if name is None or name == "none":
        if paths:
            raise UsageError(
                f"sandbox_bind names {paths[0]!r} and there is no sandbox; use sandbox 'bwrap'"
            )
        return None
    if name not in TOOLS:
        raise UnknownNameError("sandbox", name, TOOLS)
    if missing := [one for one in paths if not os.path.exists(one)]:  # noqa: PTH110 - a text
        raise UsageError(f"sandbox_bind names {missing[0]!r}, which does not exist; correct it")
    found = shutil.which(name)
    if found is None:
        raise UsageError(
            f"the sandbox {name!r} is not on the PATH; install it (`apt-get install bubblewrap`), "
            "or run in a container of your own"
        )
    return _probed(Sandbox(name, found, "", tuple(paths)))


_PROBE = """
import json, os, sys
outside, pid, network, names, most = json.loads(sys.argv[1])
def is_own(kind, other):
    return os.readlink("/proc/self/ns/" + kind) != other
def size_of(place):
    found = os.statvfs(place)
    return found.f_blocks * found.f_frsize
written = [one for one in ("/", "/etc", "/usr", "/proc/sys/kernel/core_pattern")
           if os.access(one, os.W_OK)]
with open("/proc/1/environ") as file:
    seen = {*os.environ, *(one.split("=")[0] for one in file.read().split(chr(0)))}
print(json.dumps({
    "files": not written and not os.path.exists(outside),
    "processes": is_own("pid", pid),
    "network": is_own("net", network),
    "environment": seen <= {*names, "PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE", ""},
    "disk": max(map(size_of, ("/tmp", "/dev/shm", os.environ["HOME"]))) <= most,
}))
"""
_PROBE_SECONDS = 30.0


def _probed(sandbox: Sandbox) -> Sandbox:
    """Return the sandbox with what a program inside has found. Raises UsageError if none runs."""
    variables = sandbox.environment({"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"})
    spaces = [str(Path(f"/proc/self/ns/{one}").readlink()) for one in ("pid", "net")]
    with (
        tempfile.TemporaryDirectory(prefix="tunaeval-") as inside,
        tempfile.NamedTemporaryFile() as outside,
    ):
        given = json.dumps([outside.name, *spaces, [*variables], MAX_SANDBOX_BYTES])
        probe = [sys.executable, "-I", "-S", "-c", _PROBE, given]
        _, version = _printed([sandbox.path, "--version"], Path(inside), variables)
        code, text = _printed(sandbox.words(probe, Path(inside)), Path(inside), variables)
    found = json_object(text.rpartition("\n")[2]) or {}
    if code or not found:
        last = text.splitlines()[-1:] or [f"it exits with {code}"]
        raise UsageError(
            f"the sandbox {sandbox.tool!r} does not work here: {last[0]:.200}; wanted bubblewrap "
            "0.8 or later, and user namespaces, which the system or a container may forbid"
        )
    return replace(
        sandbox,
        version=version.rpartition(" ")[2],
        shut=tuple(part for part in PARTS if found.get(part)),
        open=tuple(part for part in PARTS if not found.get(part)),
    )


def _printed(
    words: Sequence[str], folder: Path, variables: Mapping[str, str]
) -> tuple[int | None, str]:
    """Return the exit code of a program, and what it prints."""
    try:
        with Child(words, folder=folder, environment=variables) as process:
            kept = Kept(process.out, last=1 << 16)
            code = process.wait(_PROBE_SECONDS)
    except OSError as error:
        return -1, str(error)
    return code, kept.whole().decode(errors="replace").strip()
