"""Which code a figure is of: the stamps of RESULTS.md, and what README and docs quote of it.

    python benchmarks/figures.py                       # exit 0, or 1 naming file and table
    python benchmarks/figures.py --write [TABLE ...]   # stamp tables that were measured just now
    python benchmarks/figures.py --measure [TABLE ...] # run the commands, write tables and stamps

A table is named by its heading. Below the heading are the commands, indented by four spaces, and a
stamp: the commit on which they were run, and a digest of the code that they measure. That code is
named by what a program imports (`match`, or `tunaeval.cli` for a module), and is the module that
defines it with all that this one imports. The digest is made of the modules' statements without
docstrings, imports and names of modules, in no order, so a move from file to file changes nothing.

Without names, `--write` and `--measure` take the tables whose stamp says "by `--measure`": they are
measured in minutes, and all below their stamp is what their command prints.

README and docs may quote a figure of a table whose code is as it was measured. Of any other, the
same sentence, or row of a table, has to say of which commit the figure is. A sentence quotes a
table if it links to its heading in RESULTS.md or has a figure beside the name of its program;
then a decimal figure has to be in the table. A speed in a sentence that does neither is a fault.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path("benchmarks", "RESULTS.md")
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/**/*.md")
BY_PROGRAM = " by `--measure`"

_STAMP = re.compile(
    rf"^Measured(?P<by>{BY_PROGRAM})? on commit `(?P<commit>[0-9a-f]{{7,40}}\+?)`, "
    r"digest `(?P<digest>[0-9a-f]{12}|)` of (?P<code>[\w.` ,]+)\.$",
    re.MULTILINE,
)
_HEADING = re.compile(r"^#{2,3} (.+)$", re.MULTILINE)
_COMMAND = re.compile(r"(?:^ {4}\S.*(?:\\\n.*)*\n)+", re.MULTILINE)
_TABLE = re.compile(r"^(?:\||```text)", re.MULTILINE)
_PROGRAM = re.compile(r"\b(?:benchmarks/)?(\w+\.py)\b")
_LINK = re.compile(r"\]\(([^)\s]*RESULTS\.md)#([\w-]+)\)")
_COMMIT = re.compile(r"\bcommit `?([0-9a-f]{7,40})\b")
_SPEED = re.compile(
    r"\d ?(?:µs|ms|MB/s|floors)\b|\d s(?:econds)? of CPU\b"
    r"|times (?:the CPU|as fast|as slow|as long as|faster|slower|json_repair|bare)"
)
_FIGURE = re.compile(r"\d")
_DECIMAL = re.compile(r"\d[\d,]*\.\d+")
_MODULE_PATH = re.compile(r"(?:\.|tunaeval\.)[\w.]+(?=:)|tunaeval(?:\.\w+)*\.(?=\w+$)")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`*\[])")


class Code:
    """The package in a tree: its modules, found by what they define, and their digest."""

    def __init__(self, root: Path) -> None:
        files = sorted((root / "tunaeval").rglob("*.py"))
        self._files = {_module(file.relative_to(root)): file for file in files}

    def digest(self, names: Iterable[str]) -> str:
        """Return the digest of the modules in which these names are, with all they import."""
        waiting, seen = [self.home(name) for name in names], set[str]()
        while waiting:
            if (name := waiting.pop()) not in seen:
                seen.add(name)
                waiting += self._imported(name)
        statements = sorted(found for name in seen for found in self._statements(name))
        return hashlib.sha256("".join(statements).encode()).hexdigest()[:12]

    def home(self, name: str) -> str:
        """Return the module that a name means: itself, or the one that defines it."""
        if name in self._files:
            return name
        if public := self._public.get(name):
            return f"tunaeval.{public}"
        definition = re.compile(rf"^(?:async )?(?:def|class) {re.escape(name)}\b", re.MULTILINE)
        homes = [one for one, file in self._files.items() if definition.search(_text(file))]
        if len(homes) != 1:
            raise LookupError(f"{name!r} is defined in {', '.join(homes) or 'no module'}")
        return homes[0]

    @cached_property
    def _public(self) -> dict[str, str]:
        """Map each public name to its module, as `tunaeval/__init__.py` does."""
        for node in self._tree("tunaeval").body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "_NAMES":
                homes: dict[str, str] = ast.literal_eval(node.value)
                return {name: home for home, names in homes.items() for name in names.split()}
        return {}

    def _tree(self, module: str) -> ast.Module:
        return _tree(self._files[module])

    @cache  # noqa: B019 - one tree, read once, lives as long as the program
    def _imported(self, module: str) -> list[str]:
        """Return the modules of the package that a module imports, at its top or later."""
        file, found = self._files[module], list[str]()
        package = module if file.name == "__init__.py" else module.rpartition(".")[0]
        for node in ast.walk(self._tree(module)):
            if isinstance(node, ast.Import):
                found += [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = package.rsplit(".", node.level - 1)[0] if node.level else ""
                base = ".".join(filter(None, (base, node.module)))
                found += [base, *(f"{base}.{alias.name}" for alias in node.names)]
        return [one for one in found if one in self._files and one != "tunaeval"]

    @cache  # noqa: B019 - as above
    def _statements(self, module: str) -> list[str]:
        """Return a digest for each top-level statement of a module that says what is done."""
        said = [_said(node) for node in self._tree(module).body]
        return [hashlib.sha256(text.encode()).hexdigest() for text in said if text]


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _text(file: Path) -> str:
    return file.read_text("utf-8")


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse(_text(file))


def _said(node: object) -> str:
    """Write a part of a tree as a text that is the same for every version of Python; "" for what
    says nothing: imports, docstrings and other texts alone, lists of exported names.
    """
    if isinstance(node, list):
        return "".join(filter(None, (_said(one) for one in node)))
    if not isinstance(node, ast.AST):
        return repr(_MODULE_PATH.sub("", node)) if isinstance(node, str) else repr(node)
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant(value=str())):
            return ""
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return ""
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return ""
        case ast.JoinedStr(values=values):  # Python 3.12 ends some of them with an empty text
            node = ast.JoinedStr([one for one in values if _said(one) != "Constant(value='')"])
    fields = (
        f"{name}={_said(value)}"
        for name, value in ast.iter_fields(node)
        if name not in {"ctx", "kind", "type_comment", "type_ignores"} and value not in (None, [])
    )
    return f"{type(node).__name__}({','.join(fields)})"


class Section(NamedTuple):
    """A heading of RESULTS.md, where its text begins and ends, and the text."""

    title: str
    start: int
    end: int
    text: str

    @property
    def anchor(self) -> str:
        """The heading as a link names it."""
        return re.sub(r"[^\w -]", "", self.title.lower()).replace(" ", "-")

    @property
    def commands(self) -> list[str]:
        """What is run for it, line by line."""
        found = _COMMAND.search(self.text)
        lines = found[0].replace("\\\n", " ").splitlines() if found else []
        return [re.sub(r"\s+#.*", "", line).strip() for line in lines]

    @property
    def stamp(self) -> Stamp | None:
        found = _STAMP.search(self.text)
        if found is None:
            return None
        names = [name.strip(" `") for name in found["code"].split(",")]
        return Stamp(bool(found["by"]), found["commit"], found["digest"], names)


class Stamp(NamedTuple):
    """What a table says of itself."""

    quick: bool
    commit: str
    digest: str
    names: list[str]

    def __str__(self) -> str:
        code = ", ".join(f"`{name}`" for name in self.names)
        by = BY_PROGRAM if self.quick else ""
        return f"Measured{by} on commit `{self.commit}`, digest `{self.digest}` of {code}."


_EMPTY = Stamp(quick=False, commit="0" * 8, digest="", names=["parse"])
"""What --write completes, where the names are those that the command measures."""


def sections(text: str) -> list[Section]:
    """Return the sections of RESULTS.md."""
    heads = [*_HEADING.finditer(text)]
    ends = [head.start() for head in heads[1:]] + [len(text)]
    pairs = zip(heads, ends, strict=True)
    return [Section(one[1], one.end(), end, text[one.end() : end]) for one, end in pairs]


def faults_of_tables(found: Iterable[Section], code: Code) -> Iterator[str]:
    """Say which tables lack a command or a stamp, or name code that is nowhere."""
    for section in found:
        where = f"{RESULTS.as_posix()}: {section.title!r}"
        if not _TABLE.search(section.text):
            continue
        if not section.commands:
            yield f"{where} has no command above it; indent one by four spaces"
        if (stamp := section.stamp) is None:
            yield f"{where} does not say of which commit it is; write {str(_EMPTY)!r} above it"
            continue
        if _TABLE.search(section.text.partition("\nMeasured")[0]):
            yield f"{where} has a table before its stamp"
        try:
            code.digest(stamp.names)
        except LookupError as error:
            yield f"{where} measures code that is not there: {error}"


def faults_of_page(name: str, text: str, tables: Sequence[Section], code: Code) -> Iterator[str]:
    """Say which sentences of a page quote a figure that no longer counts, or of no known code."""
    for line, sentence in _sentences(text):
        quoted = [*_quoted(sentence, tables)]
        plain = _plain(sentence)
        if _COMMIT.search(sentence):
            continue
        if not quoted and _SPEED.search(plain):
            yield f"{name}:{line}: a speed of no table: link one in RESULTS.md, or say the commit"
        for section, is_linked in quoted:
            stamp = section.stamp
            if stamp and code.digest(stamp.names) != stamp.digest:
                yield (
                    f"{name}:{line}: quotes {section.title!r}, whose code has changed since commit "
                    f"{stamp.commit}: measure it again (--measure {section.title!r}), or say in "
                    f"this sentence that the figure is of commit {stamp.commit}"
                )
            strange = [one for one in _DECIMAL.findall(plain) if one not in section.text]
            if is_linked and strange:
                yield f"{name}:{line}: {', '.join(strange)} is not in the table {section.title!r}"


def _quoted(sentence: str, tables: Sequence[Section]) -> Iterator[tuple[Section, bool]]:
    """Yield the tables that a sentence quotes, and whether it links to them."""
    anchors = {anchor for _, anchor in _LINK.findall(sentence)}
    programs = set(_PROGRAM.findall(sentence)) if _FIGURE.search(_plain(sentence)) else set[str]()
    for section in tables:
        own = {name for command in section.commands for name in _PROGRAM.findall(command)}
        if section.anchor in anchors or own & programs:
            yield section, section.anchor in anchors


def _plain(sentence: str) -> str:
    """A sentence without code, addresses, commits, and other texts that have digits."""
    return re.sub(r"`[^`]*`|\]\([^)]*\)|commit [0-9a-f]{7,40}|\b\d{4}\b|\b\w+\.py\b", "", sentence)


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a page outside its fenced blocks; each row of a table is one, with the
    head of the table before it.
    """
    paragraph, begun, fenced, head = list[str](), 0, False, ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        fenced ^= line.lstrip().startswith("```")
        starts = re.match(r"\s*(?:[-*#]|\d+\.)\s|\||$", line)
        if starts or fenced or line.lstrip().startswith("```"):
            for sentence in _SENTENCE_END.split(" ".join(paragraph)):
                if sentence:
                    yield begun, sentence
            paragraph, begun = [], number
        if fenced or line.lstrip().startswith("```"):
            continue
        head = (head or line) if line.startswith("|") else ""
        if head:
            yield number, line if line == head else f"{head} {line}"
        elif line.strip():
            begun = begun if paragraph else number
            paragraph.append(line.strip())


def check(root: Path) -> list[str]:
    """Return all faults of the figures in a checkout."""
    code, tables = Code(root), sections((root / RESULTS).read_text("utf-8"))
    pages = [page for pattern in PAGES for page in sorted(root.glob(pattern))]
    faults = [*faults_of_tables(tables, code)]
    stamped = [one for one in tables if one.stamp] if not faults else []
    for page in pages:
        name = page.relative_to(root).as_posix()
        faults += faults_of_page(name, page.read_text("utf-8"), stamped, code)
    return faults


def write(root: Path, titles: Sequence[str], *, measure: bool) -> None:
    """Stamp the named tables, or all quick ones; if asked to, measure each before."""
    path = root / RESULTS
    known = {one.title: one for one in sections(path.read_text("utf-8")) if one.stamp}
    if unknown := [title for title in titles if title not in known]:
        sys.exit(f"no stamped table is called {unknown[0]!r}; there are {', '.join(known)}")
    chosen = titles or [title for title, one in known.items() if one.stamp and one.stamp.quick]
    for title in chosen:
        printed = _measured(root, known[title]) if measure else ""
        if printed is None:
            continue
        text = path.read_text("utf-8")  # others may have written meanwhile
        section = next(one for one in sections(text) if one.title == title)
        path.write_text(_stamped(text, section, root, printed), "utf-8")
        print(f"{'measured' if printed else 'stamped'}: {title}", flush=True)


def _stamped(text: str, section: Section, root: Path, printed: str) -> str:
    """Return RESULTS.md with a section's stamp of today and, if any, with what was printed."""
    stamp, found = section.stamp, _STAMP.search(section.text)
    assert stamp is not None
    assert found is not None
    stamp = stamp._replace(commit=commit(root), digest=Code(root).digest(stamp.names))
    start, end = section.start + found.start(), section.start + found.end()
    if printed:
        return (
            f"{text[:start]}{stamp}\n\n{printed.strip()}\n\n{text[section.end :]}".rstrip() + "\n"
        )
    return f"{text[:start]}{stamp}{text[end:]}"


def commit(root: Path) -> str:
    """Return the commit of a checkout, with "+" if the package has changes that it lacks."""
    commit = _git(root, "rev-parse", "--short=8", "HEAD").strip()
    return commit + ("+" if _git(root, "status", "--porcelain", "--", "tunaeval").strip() else "")


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(
        ["/usr/bin/env", "git", *words], cwd=root, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"a stamp needs the commit, which git does not know: {done.stderr.strip()}")
    return done.stdout


def _measured(root: Path, section: Section) -> str | None:
    """Run a section's commands; return their tables and what became of the aims. None if one fails,
    so that the section stays as it was.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    printed = []
    for command in section.commands:
        words = shlex.split(command)
        words[0] = sys.executable if words[0] == "python" else words[0]
        done = subprocess.run(
            words,
            cwd=root,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "PATH": path},
        )
        if done.returncode:
            print(f"{section.title}: {command!r} failed, and the table stays", file=sys.stderr)
            return None
        printed.append(done.stdout)
    lines = "\n".join(printed).splitlines()
    kept = [re.sub(r"^(?=met: |MISSED: )", "- ", line) for line in lines]
    if not any(_TABLE.match(line) for line in lines):
        kept = ["```text", *kept, "```"]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    doing = parser.add_mutually_exclusive_group()
    doing.add_argument("--write", nargs="*", metavar="TABLE", help="stamp what was measured")
    doing.add_argument("--measure", nargs="*", metavar="TABLE", help="measure, write and stamp")
    parser.add_argument("--root", type=Path, default=ROOT, help="the checkout (this one)")
    given = parser.parse_args(argv)
    titles = given.write if given.measure is None else given.measure
    if titles is not None:
        write(given.root, titles, measure=given.measure is not None)
    faults = check(given.root)
    print(
        "\n".join(faults) or "every figure is of the code as it is, or says of which commit it is"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
