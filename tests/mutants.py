"""Changes parsing, repair and matching at random places, one at a time, and sees the tests fail.

    pip install cosmic-ray
    python -m tests.mutants --sample 400 --seed 7            some hours; goes on where it stopped
    python -m tests.mutants --sample 400 --seed 7 --json     the same for machines
    python -m tests.mutants --sample 400 --seed 7 --again    those that survived, after a new test

`mutants_drawn.py` says what is changed. Each mutant is made in a copy of the checkout, and tests
run in stages, for most die in the first second: all mutants go through a stage before those that
survived go through the next. Tests that measure time are left out, for a busy machine fails them
too; a mutant that is only slower survives. One that takes ten times the processor time of the sound
code, or 2 GB, counts as killed. Exit code 1 when one survives.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from py_compile import PycInvalidationMode
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from tests.breakages import ROOT, copy_checkout
from tests.mutants_drawn import Mutant, drawn

PACKAGES = ("parsing", "repair", "matching")
Verdict = Literal["killed", "timed out", "survived"]

TIMES = 10
"""So many times the processor time of the sound code, and a mutant has timed out."""
LEAST_SECONDS = 5
MOST_BYTES = 2 << 30
MOST_SECONDS = 1200
"""By the clock, for one that only waits."""

_MEASURED = ("twice_the_text", "linear", "memory", "cost_what", "growth_of_streams", "spawn")
_PYTEST = (
    *("-m", "pytest", "-x", "-q", "--tb=line", "--no-header", "-p", "no:cacheprovider"),
    *("-k", " and ".join(f"not {word}" for word in _MEASURED)),
)
_LONGER = tuple(
    f"tests/parsing/test_{name}.py"
    for name in ("rendering", "fast", "fast_formats", "growth", "many", "levels_together")
)
_FIXTURES = ("-m", "tests.formats.at_once")
_PARSING = (*_PYTEST, "tests/parsing", *(f"--ignore={path}" for path in _LONGER))
_REPAIR = (*_PYTEST, "tests/repair")
_CUT = (*_PYTEST[:-1], _PYTEST[-1] + " and not laws_hold", "tests/test_formats.py")
_MATCHED = ("api/test_match.py", "api/test_expect.py", "rewards/test_laws.py")

STAGES: dict[str, tuple[tuple[str, ...], ...]] = {
    "parsing": (_FIXTURES, _PARSING, (*_PYTEST, *_LONGER, "tests/repair"), _CUT),
    "repair": (_FIXTURES, _REPAIR, _PARSING, (*_PYTEST, *_LONGER), _CUT),
    "matching": ((*_PYTEST, "tests/matching"), (*_PYTEST, *(f"tests/{at}" for at in _MATCHED))),
}
"""What Python is asked for each package, the shortest first."""


class Tried(NamedTuple):
    """How a mutant did in one stage (from 0), and the last line that was printed."""

    key: str
    stage: int
    verdict: Verdict
    by: str


def main(argv: Sequence[str] | None = None) -> int:
    """1 if a mutant survived."""
    arguments = _arguments(argv)
    files = [
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in sorted((ROOT / "tunaeval" / package).rglob("*.py"))
    ]
    mutants = list(drawn(ROOT, files, number=arguments.sample, seed=arguments.seed))
    known = _known(arguments.results, again=arguments.again)
    with TemporaryDirectory() as folder, arguments.results.open("a", encoding="utf-8") as results:
        copy = Copy(Path(folder))
        for tried in tries(mutants, known, copy):
            results.write(json.dumps(tried._asdict()) + "\n")
            results.flush()
            known[tried.key] = tried
    report(mutants, known, as_json=arguments.json)
    return 1 if any(known[mutant.key].verdict == "survived" for mutant in mutants) else 0


def tries(mutants: Sequence[Mutant], known: dict[str, Tried], copy: Copy) -> Iterator[Tried]:
    """Whatever is not known yet, stage by stage; the caller adds it to what is known."""
    for stage in range(max(len(stages) for stages in STAGES.values())):
        for mutant in mutants:
            if stage == _next(known.get(mutant.key)) and stage < len(STAGES[package_of(mutant)]):
                verdict, by = copy.tried(mutant, stage)
                print(f"{stage}  {verdict:9}  {mutant.path}:{mutant.line}  {by}", file=sys.stderr)
                yield Tried(mutant.key, stage, verdict, by)


def _next(before: Tried | None) -> int | None:
    if before is None:
        return 0
    return before.stage + 1 if before.verdict == "survived" else None


def package_of(mutant: Mutant) -> str:
    """The package that it changes."""
    return mutant.path.split("/")[1]


class Copy:
    """A copy of the checkout, in which one file at a time is changed."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        copy_checkout(tree)
        # Bytecode that is told by a file's content, whenever it was changed last.
        compileall.compile_dir(
            tree / "tunaeval", quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH
        )
        self._needed: dict[tuple[str, ...], float] = {}

    def tried(self, mutant: Mutant, stage: int) -> tuple[Verdict, str]:
        """What the tests of a stage say of it."""
        asked = STAGES[package_of(mutant)][stage]
        if asked not in self._needed:
            self._needed[asked] = self._sound(asked)
        path = self._tree / mutant.path
        sound = path.read_bytes()
        path.write_text(mutant.text, "utf-8")
        try:
            seconds = max(LEAST_SECONDS, round(TIMES * self._needed[asked]))
            code, line = self._run(asked, seconds, PYTHONDONTWRITEBYTECODE="1")
        finally:
            path.write_bytes(sound)
        if code in {-signal.SIGXCPU, -signal.SIGKILL}:
            return "timed out", line
        return ("killed" if code else "survived"), line

    def _sound(self, asked: tuple[str, ...]) -> float:
        """The processor time of the tests on the sound code, which they have to pass; twice, for
        the first run writes bytecode."""
        for _ in range(2):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            code, line = self._run(asked, MOST_SECONDS)
            if code:
                raise SystemExit(f"{' '.join(asked)} fails on the code as it is: {line}")
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    def _run(self, asked: tuple[str, ...], seconds: int, **settings: str) -> tuple[int, str]:
        process = subprocess.Popen(
            [sys.executable, *asked],
            cwd=self._tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True,
            env=os.environ | _SETTINGS | {"PYTHONPATH": str(self._tree)} | settings,
        )  # fmt: skip
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (seconds, seconds))
        resource.prlimit(process.pid, resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
        try:
            printed = process.communicate(timeout=MOST_SECONDS)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            printed = process.communicate()[0]
        return process.returncode, _telling(printed.decode("utf-8", "replace"))


_SETTINGS = {
    "HYPOTHESIS_PROFILE": "few",
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # half of pytest's time
}


def _telling(printed: str) -> str:
    """The test that failed, or the last line."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()] or [""]
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return (failed or lines[-1:])[0][:160]


def report(mutants: Sequence[Mutant], known: dict[str, Tried], *, as_json: bool) -> None:
    """Counts by package, and each survivor."""
    verdicts = {
        package: Counter(known[one.key].verdict for one in mutants if package_of(one) == package)
        for package in PACKAGES
    }
    survivors = [one for one in mutants if known[one.key].verdict == "survived"]
    if as_json:
        told = [one._asdict() | {"diff": one.diff(ROOT), "key": one.key} for one in survivors]
        for row in told:
            del row["text"]
        print(json.dumps({"packages": verdicts, "survivors": told}, indent=1))
        return
    for one in survivors:
        print(f"{one.path}:{one.line}  {one.operator}  {one.key}\n{one.diff(ROOT)}\n")
    for package, counts in verdicts.items():
        row = ", ".join(f"{counts[name]} {name}" for name in ("killed", "timed out", "survived"))
        print(f"{package:9} {counts.total():4} mutants: {row}")


def _known(results: Path, *, again: bool) -> dict[str, Tried]:
    """The last that was found of each mutant; without survivors if they are tried again."""
    if not results.exists():
        return {}
    rows = [Tried(**json.loads(line)) for line in results.read_text("utf-8").splitlines()]
    last = {row.key: row for row in rows}
    return {key: row for key, row in last.items() if not (again and row.verdict == "survived")}


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Would the tests notice a small change?")
    parser.add_argument("--sample", type=int, default=400, help="how many mutants (400)")
    parser.add_argument("--seed", type=int, default=7, help="of the sample (7)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--again", action="store_true", help="try those that survived again")
    parser.add_argument(
        "--results", type=Path, default=Path(".mutants.jsonl"), help="kept here, and read again"
    )
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
