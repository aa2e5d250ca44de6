"""What starting costs, as whole processes, and what installing costs, in a fresh environment.

Starts are those of a first parse of a text and of a call, a first reward, the import of `run`, and
two commands; the aims are CPU milliseconds more than those of Python alone, with byte code.

    python benchmarks/startup.py [--rounds 15] [--no-install] [--json] [--check]

The measure is bare Python with `import argparse, json`. Times are of the whole process: wall and,
which other programs disturb less, CPU. Byte code is compiled beforehand, as pip does it, in a
place of its own. The installation is `pip install` of this checkout without extras into an empty
environment, counted without pip itself; it needs a package index.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from measuring import Aim, Rounds, options, print_results, ratio

ROOT = Path(__file__).parent.parent
MOST_TIMES, MOST_DISTRIBUTIONS, MOST_MB = 3.0, 18, 40.0

TEXT = '<tool_call>\n{"name": "read_file", "arguments": {"filepath": "a.py"}}\n</tool_call>'
ALONE, BARE = "python", "python, import argparse, json"
HELP, PARSE = "tunaeval --help", "import tunaeval; parse"
TUNAEVAL = str(Path(sysconfig.get_path("scripts"), "tunaeval"))
REWARDED = f"""from tunaeval.rewards import Gold, reward
call = {{"name": "read_file", "arguments": {{"filepath": "a.py"}}}}
assert reward({TEXT!r}, Gold.of([call])).value == 1
"""
COMMANDS = {
    ALONE: [sys.executable, "-c", "pass"],
    BARE: [sys.executable, "-c", "import argparse, json"],
    HELP: [TUNAEVAL, "--help"],
    PARSE: [sys.executable, "-c", f"import tunaeval; assert tunaeval.parse({TEXT!r}).calls"],
    "the same of a text": [sys.executable, "-c", "import tunaeval; tunaeval.parse('x')"],
    "echo x, tunaeval parse": [TUNAEVAL, "parse"],
    "rewards and one reward": [sys.executable, "-c", REWARDED],
    "from tunaeval import run": [sys.executable, "-c", "from tunaeval import run"],
}
MOST_CPU_MS = {
    PARSE: 75.0,
    "the same of a text": 90.0,
    "echo x, tunaeval parse": 150.0,
    "rewards and one reward": 100.0,
    "from tunaeval import run": 300.0,
}
"""How much more than Python alone each may take."""


class Installed(NamedTuple):
    """What a fresh environment holds; `mb` with the byte code that pip compiles."""

    distributions: int
    mb: float
    mb_without_bytecode: float


def whole_process(command: list[str], environment: Mapping[str, str]) -> tuple[float, float]:
    """Wall and CPU milliseconds from start to end."""
    started = time.perf_counter()
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment
    )
    assert process.stdin is not None
    process.stdin.write(b"x\n" if command[-1] == "parse" else b"")
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return wall * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


def started(rounds: int) -> tuple[Rounds, Rounds]:
    """Wall and CPU of every command, in turns; the first turn compiles and is left out."""
    walls: Rounds = {name: [] for name in COMMANDS}
    cpus: Rounds = {name: [] for name in COMMANDS}
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with TemporaryDirectory() as compiled:
        environment["PYTHONPYCACHEPREFIX"] = compiled
        for turn in range(rounds + 1):
            for name, command in COMMANDS.items():
                wall, cpu = whole_process(command, environment)
                if turn:
                    walls[name].append(wall)
                    cpus[name].append(cpu)
    return walls, cpus


def installed() -> Installed:
    """The checkout without extras, in an environment of its own."""
    with TemporaryDirectory() as directory:
        return install(str(ROOT), Path(directory))


def install(what: str, directory: Path) -> Installed:
    """What pip brings for it into a new environment there."""
    venv.create(directory, with_pip=True)
    python = Path(directory, "bin", "python")
    command = [str(python), "-m", "pip", "install", "--quiet", "--compile", what]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    output = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True)
    packages = Path(output.stdout.strip())
    sizes = list(_sizes(packages))
    return Installed(
        sum(not _is_pip(path) for path in packages.glob("*.dist-info")),
        sum(size for _, size in sizes) / 1e6,
        sum(size for path, size in sizes if path.suffix != ".pyc") / 1e6,
    )


def _sizes(packages: Path) -> Iterator[tuple[Path, int]]:
    for top in packages.iterdir():
        if not _is_pip(top):
            for path in [top, *top.rglob("*")]:
                if path.is_file():
                    yield path, path.stat().st_size


def _is_pip(path: Path) -> bool:
    """Whether it is what an empty environment has."""
    return path.name.split("-")[0] in {"pip", "setuptools", "pkg_resources", "_distutils_hack"}


def time_aims(cpus: Rounds) -> list[Aim]:
    return [
        Aim(
            f"{name} under {MOST_TIMES:g} times {BARE}, in CPU",
            f"{ratio(cpus, name, BARE):.2f} times",
            ratio(cpus, name, BARE) < MOST_TIMES,
        )
        for name in (HELP, PARSE)
    ] + [
        Aim(f"{name} at most {most:g} ms of CPU more than {ALONE}", f"{more:.0f} ms", more <= most)
        for name, most in MOST_CPU_MS.items()
        for more in [median(cpus[name]) - median(cpus[ALONE])]
    ]


def size_aim(size: Installed) -> Aim:
    return Aim(
        f"at most {MOST_DISTRIBUTIONS} distributions and {MOST_MB:g} MB",
        f"{size.distributions} and {size.mb:.1f} MB, {size.mb_without_bytecode:.1f} MB of it "
        "not byte code",
        size.distributions <= MOST_DISTRIBUTIONS and size.mb <= MOST_MB,
    )


def main() -> None:
    parser = options(__doc__, rounds=15)
    parser.add_argument("--no-install", action="store_true", help="measure the start alone")
    given = parser.parse_args()
    walls, cpus = started(given.rounds)
    size = None if given.no_install else installed()
    rows = [
        (
            name,
            median(walls[name]),
            ratio(walls, name, BARE),
            median(cpus[name]),
            ratio(cpus, name, BARE),
        )
        for name in COMMANDS
    ]
    print_results(
        given,
        columns=["whole process", "wall ms", "times bare", "CPU ms", "times bare (CPU)"],
        rows=rows,
        document={
            "start": [
                dict(zip(("command", "wall_ms", "ratio", "cpu_ms", "cpu_ratio"), row, strict=True))
                for row in rows
            ],
            "installed": None if size is None else size._asdict(),
        },
        aims=[*time_aims(cpus), *([] if size is None else [size_aim(size)])],
    )


if __name__ == "__main__":
    main()
