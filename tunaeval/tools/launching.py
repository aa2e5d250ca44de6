"""Start a command below a supervisor that ends all that it has started, in a Landlock domain.

    python -I -S launching.py PARENT LINE HIDDEN WATCH WORD...

The supervisor adopts every process whose parent has ended, also one in a session of its own. When
the command ends, when the process PARENT does, however it does, or at SIGTERM, it kills all of
them, and ends with the command's exit code. With a LINE above 0 it ends a command that writes a
longer line than so many bytes.

HIDDEN is a directory, "/" or "". Unless it is "", the command and all that it starts are in a
domain of Landlock: they read no memory or variables of the processes outside, send them no signal
(since Linux 6.12), and open no file in the directory, if it is not "/". Linux has no other way that
needs no rights, so on other systems, and on a Linux without Landlock, all this is possible.

Unless WATCH is "", it is "BYTES PROCESSES DIRECTORY", for a command in a sandbox: it is ended when
the directory holds more bytes, or when more processes run, and writes no file of more bytes.

A process that may signal the supervisor can kill it: one of the same user outside of a domain, or
before Linux 6.12. The command dies with it; processes that the command has started can escape.

This file runs without the package, for every command: it imports little of the standard library,
so that it takes 30 ms. `signal`, `threading`, `contextlib` and `functools` would add as much.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # no stubs: `signal` without its enumerations
import _thread
import ctypes
import os
import struct
import sys
from collections.abc import Iterator, Sequence

_WITH_PARENT, _SUBREAPER, _NO_NEW_PRIVILEGES = 1, 36, 38
_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers for every architecture
_READ = 1 << 0 | 1 << 2  # to execute and to read files
_MOVE, _MOVE_SINCE = 1 << 13, 2  # to another directory, which Landlock denies unless it is granted
_SIGNALS, _SIGNALS_SINCE = 1 << 1, 6
_ROUNDS = 200
_DROP, _ADMIN, _PERFMON = 24, 21, 38
_KILL, _TERMINATE, _NO_HANG = 9, 15, 1
_TICK_SECONDS, _BLOCK = 0.05, 512
_IGNORED = 13, 25  # SIGPIPE and SIGXFSZ, which Python ignores, and so would the command


def launched(
    words: Sequence[str], *, hidden: str | None = None, line: int = 0, watch: str = ""
) -> list[str]:
    """Return the words that start a command, whose program is a path, below a supervisor, which
    ends with this process. It is in a Landlock domain unless `hidden` is None.
    """
    if sys.platform != "linux":
        return [*words]
    domain = "" if hidden is None else hidden or "/"
    own = [sys.executable, "-I", "-S", __file__]
    return [*own, str(os.getpid()), str(line), domain, watch, *words]


def can_hide() -> bool:
    """Whether this system can hide files from a command."""
    return sys.platform == "linux" and _landlock() > 0


def end_below(process: int) -> None:
    """Kill all processes that descend from a process, on Linux; others are not found."""
    for _ in range(_ROUNDS):  # one that is found may just have started another
        found = list(_below(process))
        for one in found:
            try:  # noqa: SIM105 - `contextlib` is not imported here
                os.kill(one, _KILL)
            except OSError:  # it has ended, or belongs to another user
                pass
        if not found:
            return


def _below(process: int) -> Iterator[int]:
    """Yield the living descendants of a process."""
    children: dict[int, list[tuple[int, bool]]] = {}
    names = os.listdir("/proc") if sys.platform == "linux" else ()  # noqa: PTH208 - no files
    for name in filter(str.isdigit, names):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123 - as above
                state, parent = file.read().rpartition(b")")[2].split()[:2]
        except OSError:  # it has ended
            continue
        children.setdefault(int(parent), []).append((int(name), state not in b"ZX"))
    waiting = [process]
    while waiting:
        for one, is_alive in children.get(waiting.pop(), ()):
            waiting.append(one)
            if is_alive:
                yield one


def _landlock() -> int:
    """Return the version of Landlock, or a number below 1 without it."""
    return int(_system().syscall(_CREATE, None, ctypes.c_size_t(0), 1))


def _system() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _hide(folder: str) -> None:
    """Let this process read all files, or all that there are now but for those in a directory.

    Landlock only grants, so each entry of each directory above is granted but the one that leads
    to `folder`. Names can still be listed.
    """
    libc, version = _system(), _landlock()
    if version < 1:
        return
    rights = _READ | (_MOVE if version >= _MOVE_SINCE else 0)
    scopes = struct.pack("=QQ", 0, _SIGNALS) if version >= _SIGNALS_SINCE else b""
    rules = struct.pack("=Q", rights) + scopes
    ruleset = libc.syscall(_CREATE, rules, ctypes.c_size_t(len(rules)), 0)
    above, names = "/", os.path.realpath(folder).strip("/")
    if not names:
        _grant(libc, ruleset, above, rights)
    for name in names.split("/") if names else ():
        for one in os.listdir(above):  # noqa: PTH208 - names, as of a descriptor
            if one != name:
                _grant(libc, ruleset, os.path.join(above, one), rights)  # noqa: PTH118 - as above
        above = os.path.join(above, name)  # noqa: PTH118 - as above
    for right in (_ADMIN, _PERFMON):  # either of root's lets it read other processes all the same
        libc.prctl(_DROP, right, 0, 0, 0)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if libc.syscall(_RESTRICT, ruleset, 0):
        raise OSError(ctypes.get_errno(), "the files could not be hidden")
    os.close(ruleset)


def _grant(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    """Grant a path; a link is left out, because it may lead to what is hidden. A file takes only
    the rights to read.
    """
    if sys.platform != "linux":
        return
    try:
        file = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # it is gone
        return
    for right in (rights, _READ):
        if libc.syscall(_ADD, ruleset, 1, struct.pack("=Qi", right, file), 0) == 0:
            break
    os.close(file)


def size_of(folder: str) -> int:
    """Return how many bytes the files below a directory take; links are not followed."""
    if sys.platform == "win32":
        return 0
    size, waiting = 0, [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                for one in found:
                    size += one.stat(follow_symlinks=False).st_blocks * _BLOCK
                    if one.is_dir(follow_symlinks=False):
                        waiting.append(one.path)
        except OSError:  # it is gone, or closed
            continue
    return size


class _Watch:
    """What a command in a sandbox may take. Both are looked at closely only after a hint: that the
    file system has less room, and that the system has more processes.
    """

    def __init__(self, words: str) -> None:
        most, processes, self._folder = words.split(" ", 2)
        self._most, self._processes = int(most), int(processes)
        self._room, self._threads, self._size = self._free(), _threads(), size_of(self._folder)

    def _free(self) -> int:
        if sys.platform == "win32":
            return 0
        found = os.statvfs(self._folder)
        return found.f_bfree * found.f_frsize

    def excess(self) -> str | None:
        """Return what is too much, in words."""
        free = self._free()
        self._room = max(self._room, free)  # others may have made room
        if self._room - free > self._most - self._size:
            self._room, self._size = free, size_of(self._folder)
            if self._size > self._most:
                return f"the workspace has more than {self._most} bytes"
        if _threads() - self._threads > self._processes:
            running = sum(1 for _ in _below(os.getpid()))
            self._threads = _threads() - running
            if running > self._processes:
                return f"there are more than {self._processes} processes"
        return None


def _threads() -> int:
    with open("/proc/loadavg", "rb") as file:  # noqa: PTH123 - as above
        return int(file.read().split()[3].partition(b"/")[2])


def _main(parent: str, line: str, hidden: str, watch: str, *words: str) -> int:
    if sys.platform == "win32":
        return 126
    libc, reading, out, inside = _system(), _thread.allocate_lock(), 0, 0
    libc.prctl(_SUBREAPER, 1, 0, 0, 0)
    before = _signal.pthread_sigmask(_signal.SIG_BLOCK, {_TERMINATE, _signal.SIGCHLD})
    libc.prctl(_WITH_PARENT, _TERMINATE, 0, 0, 0)
    if os.getppid() != int(parent):  # it has ended already
        return 1
    if int(line):
        out, inside = os.pipe()
    child = os.fork()
    if not child:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, before)
        _become(hidden, words, inside, watch)
    if out:
        os.close(inside)
        reading.acquire()
        _thread.start_new_thread(_pass_on, (out, int(line), reading))
    status = _exit_status(child, _Watch(watch) if watch else None)
    if status is None:
        status, out = _TERMINATE, 0
    end_below(os.getpid())
    _signal.pthread_sigmask(_signal.SIG_SETMASK, before - {_TERMINATE})
    if out:
        reading.acquire()  # until all that was printed is passed on
    code = os.waitstatus_to_exitcode(status)
    if code < 0:  # end by the same signal
        libc.signal(-code, None)
        os.kill(os.getpid(), -code)
    return code


def _exit_status(child: int, watch: _Watch | None) -> int | None:
    """Return the status with which the command has ended, or None at SIGTERM, or when it takes too
    much. Signals are awaited rather than handled, because one that comes just before a call that
    blocks would not end it.
    """
    awaited = {_TERMINATE, _signal.SIGCHLD}
    while True:
        if watch is None:
            came = _signal.sigwait(awaited)
        else:
            info = _signal.sigtimedwait(awaited, _TICK_SECONDS)
            came = 0 if info is None else info.si_signo
            if words := watch.excess():
                os.write(2, f"{words}, so the command was ended\n".encode())
                return None
        if came == _TERMINATE:
            return None
        while (found := os.waitpid(-1, _NO_HANG))[0]:
            if found[0] == child:
                return found[1]


def _become(hidden: str, words: tuple[str, ...], out: int, watch: str) -> None:
    """Run the command in this process, which ends with the supervisor; it prints to `out`."""
    try:
        if out:
            os.dup2(out, 1)
        _system().prctl(_WITH_PARENT, _KILL, 0, 0, 0)
        if hidden:
            _hide(hidden)
        if watch and sys.platform != "win32":
            import resource  # noqa: PLC0415 - most commands need no limits

            most = int(watch.partition(" ")[0])
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        for number in _IGNORED:
            _system().signal(number, None)
        os.execv(words[0], words)  # noqa: S606 - the words are those of the caller
    except OSError as error:
        os.write(2, f"{words[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(126)


def _pass_on(out: int, most: int, reading: _thread.LockType) -> None:
    """Pass on what the command prints; end it when a line is longer than `most` bytes."""
    length = 0
    try:
        while length <= most and (piece := os.read(out, 1 << 16)):
            length = len(piece) - 1 - piece.rfind(b"\n") + (0 if b"\n" in piece else length)
            while piece:
                piece = piece[os.write(1, piece) :]
    except OSError:  # nobody reads it any more
        pass
    if length > most:
        os.write(2, f"a line of over {most} bytes on stdout ended the command\n".encode())
        os.kill(os.getpid(), _TERMINATE)
        return  # with the pipe left open, so that the command does not complain last
    os.close(out)
    reading.release()


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
