"""What a user reads is plain English: words of our own invention have a replacement here.

Checked are the pages, the help of each command, the page of a run, and every sentence in the
package's strings. To allow a word in one place, write a plain context into `ALLOWED`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tunaeval.cli import COMMANDS, main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEMPLATES = sorted((ROOT / "tunaeval").rglob("*.html"))

WORDS = {
    r"(?:un)?mend(?:s|ed|ing)?": "repair",
    r"told": "said, reported or given",
    r"tells?|telling": "say, report, show or describe",
    r"stands?|standing|stood": "is, has or comes",
    r"held|holds?|holding": "has, contains or keeps; compared with, forced into",
    r"rooms?": "package",
    r"floors?": "layer",
    r"face": "public API",
    r"hand(?:s|ed|ing)?(?= (?:in|it|them|the|a)\b)|handed": "pass or give",
    r"draws? lots|luck": "chance, at random",
    r"otherwise made|made otherwise": "made with other options",
    r"of then": "of that time",
    r"a int": "an int",
}
"""What nobody outside of this project says, and what to write instead."""

ALLOWED = (
    r"\btell (?:them )?apart\b",
    r"\btell \S+ from\b",
    r"\btell them apart\b",
    r"\btell me about\b",
    r'"""Tell the time\."""',
    r"\bstands? for\b",
    r"\blaws(?: in)?\s+hold\b",
    r"\bhugging face\b",
    r"\bby hand\b",
)
"""Where such a word is the usual one."""

MODELS_READ = frozenset({"prompts.py", "payloads.py", "rubrics.py"})
"""In `tunaeval/scoring/judging`: what a judge is asked; it was calibrated with these very words."""

_WORDS = {re.compile(rf"\b(?:{word})\b", re.IGNORECASE): words for word, words in WORDS.items()}
_ALLOWED = re.compile("|".join(ALLOWED), re.IGNORECASE)
_CODE = re.compile(r"`[^`\n]*`|\]\([^)\s]*\)|\{[{%][^}]*[%}]\}")
_SENTENCE = re.compile(r"\w \w")


class Finding(NamedTuple):
    """A word that has a replacement: where it is, and what to write."""

    where: str
    line: int
    word: str
    instead: str

    def __str__(self) -> str:
        return f"{self.where}:{self.line}: {self.word!r}: write {self.instead}"


def findings(where: str, text: str, first: int = 1) -> Iterator[Finding]:
    """Each line's words; neither code in backticks nor addresses count."""
    for line, words in enumerate(text.split("\n"), first):
        plain = _ALLOWED.sub(" ", _CODE.sub(" ", words))
        for pattern, instead in _WORDS.items():
            for found in pattern.finditer(plain):
                yield Finding(where, line, found[0], instead)


def sentences(source: str) -> Iterator[tuple[int, str]]:
    """The strings of a module that are sentences, or parts of one; no docstring, no comment."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    joined = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if id(node) in docstrings:
            continue
        if id(node) in joined or _SENTENCE.search(node.value):
            yield node.lineno, node.value


def listed(found: Iterator[Finding]) -> str:
    return "\n".join(map(str, found))


@pytest.mark.parametrize("page", [*PAGES, *TEMPLATES], ids=lambda page: page.name)
def test_pages_are_in_plain_english(page: Path) -> None:
    found = listed(findings(str(page.relative_to(ROOT)), page.read_text("utf-8")))
    assert not found, found


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_is_in_plain_english(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command.split(), "--help"]) == 0
    shown = capsys.readouterr().out
    assert "usage: tunaeval" in shown
    found = listed(findings(f"tunaeval {command} --help", shown))
    assert not found, found


def test_messages_are_in_plain_english() -> None:
    found = []
    for path in sorted((ROOT / "tunaeval").rglob("*.py")):
        if path.parent.name == "judging" and path.name in MODELS_READ:
            continue
        where = str(path.relative_to(ROOT))
        for line, text in sentences(path.read_text("utf-8")):
            found += [one._replace(line=line) for one in findings(where, text)]
    assert not found, listed(iter(found))


@pytest.mark.parametrize("word", ["mended", "told", "stands", "held", "luck", "of then"])
def test_a_word_is_found_and_a_plain_one_is_offered(word: str) -> None:
    (finding,) = findings("page.md", f"First.\nIt is {word}, `told` in code.")
    assert (finding.where, finding.line, finding.word) == ("page.md", 2, word)
    assert finding.instead in str(finding)


def test_usual_contexts_are_left_alone() -> None:
    usual = "`standard` stands for itself, by hand; tell apart the laws: both laws hold."
    assert not list(findings("page.md", usual))


def test_sentences_of_a_module_are_its_messages_alone() -> None:
    source = '"""Told."""\nraise ValueError(f"it {what} holds", "a key")  # held\nx = "stands"\n'
    assert [text for _, text in sentences(source)] == ["a key", "it ", " holds"]
