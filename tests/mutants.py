"""Changes parsing, repair and matching at random places, one at a time, and sees the tests fail.

    pip install cosmic-ray
    python -m tests.mutants --sample 400 --seed 7            some hours; goes on where it stopped
    python -m tests.mutants --sample 400 --seed 7 --json     the same for machines
    python -m tests.mutants --sample 400 --seed 7 --again    those that survived, after a new test

`mutants_drawn.py` says what is changed, `mutants_loaded.py` how most mutants are tried: by the
shortest tests, loaded once. Those that survive are made in a copy of the checkout, where all
fixtures are read and longer tests run; all mutants go through a stage before any goes through the
next. Tests that measure time are left out, for a busy machine fails them too; a mutant that is only
slower survives. One that takes ten times the processor time of the sound code, or 2 GB, has timed
out, which counts as killed. Exit code 1 when one survives.
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
from contextlib import closing
from pathlib import Path
from py_compile import PycInvalidationMode
from tempfile import TemporaryDirectory
from typing import IO, Literal, NamedTuple

from tests.faults.breakages import ROOT, copy_checkout
from tests.mutants_drawn import Mutant, drawn
from tests.mutants_loaded import DESCRIPTORS, TESTS, UNMEASURED

PACKAGES = ("parsing", "repair", "matching")
Verdict = Literal["killed", "timed out", "survived"]

TIMES = 10
"""So many times the processor time of the sound code, and a mutant has timed out."""
LEAST_SECONDS = 5
MOST_BYTES = 2 << 30
MOST_SECONDS = 1200
"""By the clock, for one that only waits."""

_PYTEST = (
    *("-m", "pytest", "-q", "--tb=line", "--no-header", "-p", "no:cacheprovider"),
    *("-k", UNMEASURED),
)
_FIXTURES = ("-m", "tests.formats.at_once")

AFRESH: dict[str, tuple[tuple[str, ...], ...]] = {
    "parsing": (_FIXTURES, (*_PYTEST, "-x", *TESTS["parsing"])),
    "repair": (_FIXTURES, (*_PYTEST, "-x", *TESTS["repair"])),
    "matching": ((*_PYTEST, "-x", *TESTS["matching"]),),
}
"""What Python is asked in the copy, the shortest first, after the stage of the loaded tests."""


class Tried(NamedTuple):
    """How a mutant did in one stage (0 is that of the loaded tests), and the test that failed."""

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
    with (
        TemporaryDirectory() as folder,
        closing(Copy(Path(folder))) as copy,
        arguments.results.open("a", encoding="utf-8") as results,
    ):
        for tried in tries(mutants, known, copy):
            results.write(json.dumps(tried._asdict()) + "\n")
            results.flush()
            known[tried.key] = tried
    report(mutants, known, as_json=arguments.json)
    return 1 if any(known[mutant.key].verdict == "survived" for mutant in mutants) else 0


def tries(mutants: Sequence[Mutant], known: dict[str, Tried], copy: Copy) -> Iterator[Tried]:
    """Whatever is not known yet, stage by stage; the caller adds it to what is known."""
    for stage in range(1 + max(len(stages) for stages in AFRESH.values())):
        for mutant in mutants:
            if stage == _next(known.get(mutant.key)) and stage <= len(AFRESH[package_of(mutant)]):
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
        self._loaded: tuple[IO[str], IO[str]] | None = None
        self._server: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        """End the loaded tests."""
        for end in self._loaded or ():
            end.close()
        if self._server:
            self._server.wait()

    def tried(self, mutant: Mutant, stage: int) -> tuple[Verdict, str]:
        """What the tests of a stage say of it."""
        if not stage:
            return self._tried_by_the_loaded(mutant)
        asked = AFRESH[package_of(mutant)][stage - 1]
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

    def _tried_by_the_loaded(self, mutant: Mutant) -> tuple[Verdict, str]:
        """One that they cannot try has survived so far."""
        if not self._loaded:
            self._loaded = self._load()
        ask, answers = self._loaded
        told = {"path": str(self._tree / mutant.path), "package": package_of(mutant)}
        ask.write(json.dumps(told | {"text": mutant.text}) + "\n")
        ask.flush()
        line = answers.readline()
        if not line:
            raise SystemExit("the loaded tests have ended; what they printed says why")
        answer: tuple[Verdict, str] | None = json.loads(line)
        return (answer[0], answer[1]) if answer else ("survived", "not tried")

    def _load(self) -> tuple[IO[str], IO[str]]:
        """Where to ask the loaded tests, and where they answer; they end with this process."""
        asked, ask = os.pipe()
        answers, answer = os.pipe()
        everything = dict.fromkeys(test for tests in TESTS.values() for test in tests)
        self._server = subprocess.Popen(
            [sys.executable, *_PYTEST, "-s", "-p", "tests.mutants_loaded", *everything],
            cwd=self._tree, pass_fds=(asked, answer),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            env=self._environment() | {DESCRIPTORS: f"{asked},{answer}"},
        )  # fmt: skip
        os.close(asked)
        os.close(answer)
        return os.fdopen(ask, "w"), os.fdopen(answers)

    def _environment(self) -> dict[str, str]:
        return os.environ | _SETTINGS | {"PYTHONPATH": str(self._tree)}

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
            env=self._environment() | settings,
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
        rows = [{**one._asdict(), "text": one.diff(ROOT), "key": one.key} for one in survivors]
        print(json.dumps({"packages": verdicts, "survivors": rows}, indent=1))
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
