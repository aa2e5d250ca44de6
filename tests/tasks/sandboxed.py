"""Try escapes from a sandbox, and print which succeeded, as JSON.

    python sandboxed.py FOLDER

FOLDER is where files outside of the workspace may be made. It is a program of its own, because a
user without rights runs it, too.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

from tunaeval import Workspace
from tunaeval.tasks.sandbox import sandbox_of

ESCAPING = Path(__file__).with_name("escaping.py").read_text()
BOMB = "import os\nfor _ in range(12):\n    os.fork()\nimport time\ntime.sleep(600)\n"
FILL = """
for number in range(40):
    with open(f"full{number}", "wb") as file:
        for _ in range(16):
            file.write(bytes(1 << 20))
import time
time.sleep(600)
"""


def living(words: str) -> list[str]:
    """The command lines of processes that have these words."""
    found = []
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = one.read_text(errors="replace")
        except OSError:
            continue
        if words in line and int(one.parent.name) != os.getpid():
            found.append(line)
    return found


def main(folder: Path) -> dict[str, Any]:
    canary = f"canary-{os.getpid()}"
    os.environ["CANARY"] = canary
    (folder / "secret").write_text(canary)
    port = socket.create_server(("127.0.0.1", 0))
    unix, abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    unix.bind(str(folder / "socket"))
    abstract.bind(f"\0{folder / 'socket'}")
    for one in (unix, abstract):
        one.listen()
    given = {
        "secret": str(folder / "secret"), "outside": str(folder), "canary": canary,
        "pid": os.getpid(), "port": port.getsockname()[1], "socket": str(folder / "socket"),
    }  # fmt: skip
    sandbox = sandbox_of("bwrap")
    assert sandbox is not None
    found: dict[str, Any] = {"sandbox": sandbox.as_json(), "uid": os.getuid()}
    files = {"escaping.py": ESCAPING, "bomb.py": BOMB, "fill.py": FILL}
    with Workspace(files, sandbox=sandbox, seconds=60) as workspace:
        ran = workspace.run(("python", "escaping.py", json.dumps(given)))
        found["escaping"] = json.loads(ran.output.splitlines()[-1]) if ran.output else str(ran)
        found["left"] = living(canary)
        began = time.monotonic()
        ran = workspace.run(("python", "bomb.py"))
        found["bomb"] = [ran.code, str(ran), living("bomb.py"), time.monotonic() - began]
        ran = workspace.run(("python", "fill.py"))
        found["fill"] = [ran.code, str(ran), workspace.excess(), living("fill.py")]
    return found


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]))))
