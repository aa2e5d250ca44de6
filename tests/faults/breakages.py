"""Breaks the engine on purpose, one thing at a time, and sees the tests named for it fail.

    python tests/faults/breakages.py            all of them; a row each
    python tests/faults/breakages.py quote      those whose first words hold "quote"

Each is done in a copy of the tree, so nothing here changes. Exit code 1 when one survives, or when
the line that it breaks is no longer there: then find the line that does the same today.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
COPIED = ("tunaeval", "tests", "benchmarks", "pyproject.toml", "docs")
SECONDS = 240
"""For one run; a test that hangs has noticed, too."""


class Breakage(NamedTuple):
    """What is broken: `line`, wherever it is in the package, becomes `broken`."""

    what: str
    package: str
    line: str
    broken: str
    tests: tuple[str, ...]


LEVELS = "tests/parsing/test_law_levels.py"
FORMATS = "tests/formats/test_formats.py"
CAPS = "tests/parsing/test_law_growth.py"
MISSION = "tests/parsing/test_api_mission.py"

BREAKAGES = (
    Breakage(
        "every quote ends a string", "parsing/repair",
        "if self._in_key:", "if True:",
        ("tests/parsing/repair", FORMATS, "-k", "quote"),
    ),
    Breakage(
        "a value that was cut is as good as whole", "parsing/repair",
        '"truncated": ("lenient"', '"truncated": ("standard"',
        ("tests/parsing/test_law_truncation.py",),
    ),
    Breakage(
        "NaN is a text that lost its quotes", "parsing/repair",
        'text.lstrip("-") in NEVER or', "",
        ("tests/parsing/repair/test_json.py", MISSION),
    ),
    Breakage(
        "duplicate keys are silent", "parsing/repair",
        "        if twice:", "        if False:",
        ("tests/parsing/repair/test_json.py", MISSION),
    ),
    Breakage(
        "the fast path takes floats that were integers", "parsing/repair",
        "float(2**63)", 'float("inf")',
        ("tests/parsing/test_law_alike.py", MISSION),
    ),
    Breakage(
        "a level allows only repairs below it", "parsing",
        "_RANK[each.level] > allowed", "_RANK[each.level] >= allowed",
        (LEVELS,),
    ),
    Breakage(
        "unknown tools are called", "parsing",
        "if tools is not None and not known:", "if tools is not None and not known and not name:",
        (FORMATS, "-k", "hermes and only-tools"),
    ),
    Breakage(
        "a tool's definition is a call of it", "parsing",
        "if wrong is None and _is_definition(inner.value, schema, described=described):",
        "if False:",
        (LEVELS, MISSION),
    ),
    Breakage(
        "a call in inline code counts", "parsing",
        "not fence and self._is_quoted()", "False",
        (LEVELS,),
    ),
    Breakage(
        "an alias of a key is no repair", "parsing",
        'repairs.append(repair_of("key-alias", f"{found!r} stands for {own!r}", span))', "pass",
        (MISSION, LEVELS),
    ),
    Breakage(
        "reasoning is content", "parsing",
        'piece("reasoning", self.window.offset', 'piece("content", self.window.offset',
        ("tests/parsing/test_scanner_routes.py",),
    ),
    Breakage(
        "too many calls are dropped in silence", "parsing",
        'collector.diagnose("too-many-calls"', 'str.format("too-many-calls"',
        (CAPS, "-k", "calls_are_capped"),
    ),
    Breakage(
        "nothing is held back at the end of a chunk", "parsing",
        "at = window.base + found.start() if found else end", "at = end",
        (FORMATS, "-k", "hermes and chunks"),
    ),
    Breakage(
        "spans are counted from the window", "parsing/window",
        "return self.base + self.pos", "return self.pos",
        (FORMATS, "-k", "hermes and cut"),
    ),
    Breakage(
        "the window never drops what was read", "parsing/window",
        "if dropped > 0:", "if dropped > len(self.text):",
        (CAPS, "-k", "forgets"),
    ),
    Breakage(
        "the first closer ends a value, whatever follows", "parsing",
        "self._follow.match(text, at, ahead)", "True",
        (FORMATS, "-k", "says and qwen3-coder"),
    ),
    Breakage(
        "a format that could never be read is taken", "parsing",
        "(fault := unread_fault(form)):", "(fault := None):",
        ("tests/grammar/test_grammar.py",),
    ),
    Breakage(
        "a verdict is always true", "matching",
        "        return self.ok", "        return True",
        ("tests/matching/test_match.py",),
    ),
    Breakage(
        "a call that was lost is an abstention", "matching",
        "verdict = without_calls(verdict, read.outcome)", "pass",
        ("tests/matching/test_match.py",),
    ),
    Breakage(
        "a leaked call counts at strict", "parsing",
        "if LEVELS.index(level) < LEVELS.index(_LEAKED_LEVEL):", "if False:",
        ("tests/cli/test_leaked_calls.py",),
    ),
    Breakage(
        "a gate opens on the few that were answered", "types",
        "return failed * 100 <= self.most * of if self.is_percentage else failed <= self.most",
        "return True",
        ("tests/cli/test_error_budget.py",),
    ),
    Breakage(
        "a ranking crowns what hardly answered", "reports",
        "if one.complete and max_errors.allows(one.no_answer, one.of)", "if one.complete",
        ("tests/reports/test_ranking.py",),
    ),
    Breakage(
        "another profile judges than the suite's", "runs",
        "profile_of(self.profile or suite.profile)", "profile_of(self.profile)",
        ("tests/runs/test_one_profile.py",),
    ),
    Breakage(
        "a check that says no leaves what was earned", "scoring",
        "if checked is not None and not checked.ok:", "if False:",
        ("tests/scoring/test_goal.py", "tests/testing/selftest/test_verdicts.py"),
    ),
    Breakage(
        "what failed gives its weight to others", "scoring",
        "        if verdict.failure is not None:", "        if False:",
        ("tests/scoring/test_categories_of_others.py", "tests/scoring/judging/test_judge.py"),
    ),
    Breakage(
        "tests that fail are failed tools", "types",
        "return self.succeeded or self.tested", "return self.succeeded",
        ("tests/scoring/test_failures_and_repeats.py",),
    ),
    Breakage(
        "loops side by side are free", "scoring",
        "def _doubles(step: Batch) -> list[HistoryCall]:",
        "def _doubles(step: Batch) -> list[HistoryCall]:\n    return []",
        ("tests/scoring/test_failures_and_repeats.py",),
    ),
    Breakage(
        "a transcript that nobody could read scores", "data/adapters",
        "if conversation.length and not says_something and conversation.failure is None:",
        "if False:",
        ("tests/data/adapters/test_silence.py",),
    ),
    Breakage(
        "a tag that a value swallowed is silent", "parsing",
        "if cut or self.has_tags(text, closed=whole):", "if False:",
        ("tests/parsing/test_tagged_lost_tags.py",),
    ),
    Breakage(
        "a miswritten tag that a value swallowed is silent", "parsing",
        "or self._is_miswritten(text, closed=closed)", "",
        ("tests/parsing/test_tagged_swallowed.py",),
    ),
    Breakage(
        "what is unreadable between markers of calls is no attempt", "parsing",
        "self._close_unread(region, token)", "pass",
        ("tests/parsing/test_audit_broken_attempts.py",),
    ),
    Breakage(
        "a call whose opener is lost is no attempt", "parsing",
        "if self._ends_broken(token):", "if not token:",
        ("tests/parsing/test_audit_broken_attempts.py",),
    ),
    Breakage(
        "a word between two tags in a sentence is a call", "parsing",
        "return _NAMED(window.text[at - 2 : window.pos]) is not None", "return False",
        ("tests/parsing/test_audit_broken_attempts.py",),
    ),
    Breakage(
        "an argument is split wherever a tag is", "parsing",
        "all(key in properties and key not in known for key in keys)", "True",
        ("tests/parsing/test_tagged_lost_tags.py",),
    ),
    Breakage(
        "any call in open reasoning counts", "parsing",
        'if kind == "reasoning" or (', "if False and (",
        ("tests/parsing/test_scanner_late_calls.py",),
    ),
    Breakage(
        "an invalid call of LangChain is an abstention", "parsing",
        'items_in(get("invalid_tool_calls"))', "items_in(None)",
        ("tests/parsing/test_message_odd.py",),
    ),
    Breakage(
        "an argument beside the arguments is silent", "parsing",
        "if len(value) > 2 else {}", "if False else ()",
        ("tests/parsing/test_judge_beside.py",),
    ),
    Breakage(
        "the line's end before a value is part of it", "parsing",
        'return "\\r\\n" if text.startswith("\\r\\n") else "\\n"', 'return "\\n"',
        ("tests/parsing/test_law_line_ends.py",),
    ),
    Breakage(
        "a word that ends a sentence is a header cut off", "parsing",
        'if not ("<" in token.text or LINE_START', "if not (True or LINE_START",
        ("tests/parsing/test_finder_words.py",),
    ),
    Breakage(
        "another spelling of its closer does not end a value", "parsing",
        "texts, restart = {*closer.spellings}", "texts, restart = {closer.text}",
        ("tests/fuzz/test_spellings.py",),
    ),
    Breakage(
        "what was written is kept beside it", "parsing/repair",
        "self.pieces = self._out = self.pieces[:2]", "pass",
        ("tests/parsing/test_law_memory.py",),
    ),
)  # fmt: skip


def main(words: Sequence[str]) -> int:
    """Print a row for each; 1 if one was not noticed or could not be done, 2 if none was meant."""
    chosen = [one for one in BREAKAGES if all(word in one.what for word in words)]
    if not chosen:
        print(f"nothing is broken by the words {' '.join(words)!r}; without words all are tried")
        return 2
    faults = 0
    with TemporaryDirectory() as folder:
        tree = Path(folder)
        copy_checkout(tree)
        for breakage in chosen:
            verdict, how = _try(breakage, tree)
            faults += verdict != "caught"
            print(f"{verdict:8}  {breakage.what:48}  {how}", flush=True)
    print(f"{len(chosen) - faults} of {len(chosen)} caught")
    return 1 if faults else 0


def places(breakage: Breakage, tree: Path) -> list[Path]:
    """The files of a tree in which the breakage can be done."""
    package = tree / "tunaeval" / breakage.package
    files = [
        *package.rglob("*.py"),
        *(path for path in [package.with_suffix(".py")] if path.exists()),
    ]
    return [path for path in files if breakage.line in path.read_text("utf-8")]


def copy_checkout(tree: Path) -> None:
    """What tests of the library need, in a directory that may be broken."""
    for name in COPIED:
        source, target = ROOT / name, tree / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)


def _try(breakage: Breakage, tree: Path) -> tuple[str, str]:
    """Whether it was caught, and by which test or why not."""
    found = places(breakage, tree)
    if not found:
        return "GONE", f"{breakage.line!r} is in no file of {breakage.package}"
    sound = {path: path.read_text("utf-8") for path in found}
    try:
        for path, text in sound.items():
            path.write_text(text.replace(breakage.line, breakage.broken), "utf-8")
        return _tested(breakage.tests, tree)
    finally:
        for path, text in sound.items():
            path.write_text(text, "utf-8")


def _tested(tests: Sequence[str], tree: Path) -> tuple[str, str]:
    quiet = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly")
    environment = {
        **os.environ,
        "PYTHONPATH": str(tree),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HYPOTHESIS_PROFILE": "ci",
    }
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *quiet, *tests],
            capture_output=True, text=True, cwd=tree, timeout=SECONDS, check=False,
            env=environment,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "caught", f"a test that ran longer than {SECONDS} s"
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode == 1 and failed:
        return "caught", failed[0].partition(" ")[2].partition(" - ")[0]
    return ("SURVIVED" if done.returncode == 0 else "UNKNOWN"), " ".join(tests)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
