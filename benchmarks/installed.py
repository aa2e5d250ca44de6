"""What an evaluation tool brings with it: packages, megabytes, and the start of its command.

    python benchmarks/installed.py [NAME ...] [--rounds 5] [--json] [--check]

Each is installed alone, without extras, into a new environment that is removed afterwards: by pip,
promptfoo by npm without its scripts. It needs a package index, and gigabytes of disk for promptfoo.
CPU time is of the whole process of `NAME --help`, the median of the rounds behind the first.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from measuring import options, print_results
from startup import ROOT, install, whole_process


class Peer(NamedTuple):
    """What is installed, by what, and which command is started; None if it brings no command."""

    what: str
    by: Callable[[str, Path], tuple[int, float]]
    command: str | None


def by_pip(what: str, directory: Path) -> tuple[int, float]:
    """Distributions, and megabytes with byte code."""
    found = install(what, directory)
    return found.distributions, found.mb


def by_npm(what: str, directory: Path) -> tuple[int, float]:
    """Packages, and megabytes."""
    command = ["npm", "install", "--silent", "--ignore-scripts", "--prefix", str(directory), what]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    modules = directory / "node_modules"
    manifests = [*modules.glob("*/package.json"), *modules.glob("@*/*/package.json")]
    sizes = (path.lstat().st_size for path in modules.rglob("*") if path.is_file())
    return len(manifests), sum(sizes) / 1e6


PEERS = {
    "tunaeval": Peer(str(ROOT), by_pip, "bin/tunaeval"),
    "inspect-ai": Peer("inspect-ai", by_pip, "bin/inspect"),
    "pydantic-evals": Peer("pydantic-evals", by_pip, None),
    "deepeval": Peer("deepeval", by_pip, "bin/deepeval"),
    "promptfoo": Peer("promptfoo", by_npm, "node_modules/.bin/promptfoo"),
}


def measured(name: str, rounds: int) -> tuple[str, int, float, float | None]:
    peer = PEERS[name]
    with TemporaryDirectory() as folder:
        packages, mb = peer.by(peer.what, Path(folder))
        if peer.command is None:
            return name, packages, mb, None
        home = {**os.environ, "HOME": folder}  # what it writes there goes with it
        command = [str(Path(folder, peer.command)), "--help"]
        cpus = [whole_process(command, home)[1] for _ in range(rounds + 1)]
    return name, packages, mb, median(cpus[1:])


def main() -> None:
    parser = options(__doc__, rounds=5)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PEERS)} (all)")
    given = parser.parse_args()
    if unknown := set(given.names) - PEERS.keys():
        parser.error(f"no peer is called {min(unknown)!r}; known: {', '.join(PEERS)}")
    rows = [measured(name, given.rounds) for name in given.names or PEERS]
    columns = ["installed without extras", "packages", "MB", "--help, CPU ms"]
    print_results(given, columns=columns, rows=rows, document={"installed": rows}, aims=[])


if __name__ == "__main__":
    main()
