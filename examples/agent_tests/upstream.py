"""In the place of a real server: a scripted model that fixes what it is asked to fix.

    python examples/agent_tests/upstream.py pytest examples/agent_tests --tunaeval-record

runs the command with `--tunaeval-base-url` set to its address.
"""

from __future__ import annotations

import re
import subprocess
import sys

import tunaeval
from tunaeval import ModelRequest, ToolCall

_PATH = re.compile(r"in (\S+)\.$")


def fix(request: ModelRequest) -> str | ToolCall:
    """Read the file, change the one line, and be done."""
    named = _PATH.search(str(request.messages[0]["content"]))
    path = named[1] if named else "calc.py"
    match len(request.results):
        case 0:
            return ToolCall("read_file", {"path": path})
        case 1:
            return ToolCall("update_file", {"path": path, "old": "a - b", "new": "a + b"})
        case _:
            return "Done."


def main(command: list[str]) -> int:
    with tunaeval.model_endpoint(fix) as model:
        asked = [sys.executable, "-m", *command, "--tunaeval-base-url", model.url]
        return subprocess.run(asked, check=False).returncode  # noqa: S603 - the user's own command


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
