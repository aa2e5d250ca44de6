"""What a program in a sandbox tries: printed as JSON, by name, whether it succeeded.

python escaping.py '{"secret": PATH, "outside": DIR, "canary": TEXT, "pid": N, "port": N,
                     "socket": PATH}'
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import socket
import sys
import time
from pathlib import Path

GIVEN = json.loads(sys.argv[1])
LIBC = ctypes.CDLL(None, use_errno=True)
MIB = 1 << 20


def reads() -> bool:
    return Path(GIVEN["secret"]).read_text() == str(GIVEN["canary"])


def writes() -> bool:
    done = []
    for folder in (GIVEN["outside"], "/etc", "/usr", "/", "/proc/sys/kernel"):
        with contextlib.suppress(OSError):
            (Path(folder) / "escaped").write_text("x")
            done.append(folder)
    with contextlib.suppress(OSError):
        pattern = Path("/proc/sys/kernel/core_pattern")
        pattern.write_text(pattern.read_text())  # as it is, so that a hole does no harm
        done.append("core_pattern")
    return bool(done)


def sees_the_environment() -> bool:
    found = [*map(str, os.environ.items())]
    for one in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            found.append(one.read_text(errors="replace"))
    return str(GIVEN["canary"]) in "".join(found)


def sees_processes() -> bool:
    names = [one.name for one in Path("/proc").iterdir() if one.name.isdigit()]
    words = []
    for one in names:
        with contextlib.suppress(OSError):
            words.append(Path(f"/proc/{one}/cmdline").read_text(errors="replace"))
    return len(names) > 8 or "sandboxed.py" in "".join(words)


def kills() -> bool:
    with contextlib.suppress(OSError):
        os.kill(GIVEN["pid"], 9)
    for one in (os.getppid(), 1, -1):
        with contextlib.suppress(OSError):
            os.kill(one, 9 if one != os.getppid() or one == 1 else 0)
    return False  # the test outside lives on, or not


def connects_to_a_port() -> bool:
    hosts = ("127.0.0.1", "::1", "localhost")
    return any(_connects(socket.AF_INET6 if ":" in one else socket.AF_INET, (one, GIVEN["port"]))
               for one in hosts)  # fmt: skip


def connects_to_a_socket() -> bool:
    return any(_connects(socket.AF_UNIX, one)
               for one in (GIVEN["socket"], "\0" + GIVEN["socket"]))  # fmt: skip


def _connects(family: int, address: tuple[str, int] | str) -> bool:
    try:
        with socket.socket(family) as made:
            made.settimeout(2)
            made.connect(address)
    except OSError:
        return False
    return True


def traces() -> bool:
    attach, seize = 16, 0x4206
    return any(LIBC.ptrace(how, GIVEN["pid"], 0, 0) == 0 for how in (attach, seize))


def mounts() -> bool:
    new_user, new_mounts = 0x10000000, 0x00020000
    return bool(
        LIBC.mount(b"x", b"/tmp", b"tmpfs", 0, None) == 0
        or LIBC.umount2(b"/proc", 2) == 0
        or LIBC.unshare(new_mounts) == 0
        or LIBC.unshare(new_user) == 0
    )


def fills() -> bool:
    sizes = []
    for folder in ("/tmp", "/dev/shm", os.environ["HOME"], "/", "/run"):  # noqa: S108 - to fill them
        size = 0
        with contextlib.suppress(OSError):
            for number in range(40):
                with (Path(folder) / f"full{number}").open("wb", buffering=0) as file:
                    for _ in range(8):
                        size += file.write(bytes(MIB))
        sizes.append(size)
    return max(sizes) > 256 * MIB


def stays() -> bool:
    """Leave a process in a session of its own; the test looks for its words."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(  # noqa: S606 - of the words that are here
                sys.executable,
                [sys.executable, "-c", f"import time; time.sleep(600)  # {GIVEN['canary']}"],
            )
        os._exit(0)
    time.sleep(0.2)
    return False


def main() -> None:
    found = {}
    for one in (
        reads, writes, sees_the_environment, sees_processes, connects_to_a_port,
        connects_to_a_socket, traces, mounts, fills, stays, kills,
    ):  # fmt: skip
        try:
            found[one.__name__] = one()
        except OSError:
            found[one.__name__] = False
    print(json.dumps(found))


if __name__ == "__main__":
    main()
