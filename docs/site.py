"""What is a page of the site: docs/, the pages at the top of the repository, and every example.

    python docs/site.py && zensical build --strict

The first writes build/pages: copies in which a link to a file of the repository leads to the page
that shows it, so that a link which leads nowhere ends the second.
"""

from __future__ import annotations

import posixpath
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "build" / "pages"

AT_THE_TOP = {
    "README.md": "index.md",
    "docs/README.md": "pages.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changes.md",
    "SECURITY.md": "project/security.md",
    "benchmarks/README.md": "project/benchmarks.md",
    "benchmarks/RESULTS.md": "project/results.md",
    "examples/README.md": "examples/index.md",
    "tests/README.md": "project/tests.md",
}
"""Files outside of docs/, and their pages."""

LANGUAGES = {".json": "json", ".jsonl": "json", ".md": "markdown", ".py": "python", ".sh": "sh",
             ".toml": "toml"}  # fmt: skip
_LINK = re.compile(r"(?<=\]\()(?!https?:|#)([^)#\s]+)(?=[#)])")


def main() -> None:
    shutil.rmtree(TARGET, ignore_errors=True)
    shutil.copytree(ROOT / "docs" / "images", TARGET / "images")
    for name, text in (*_pages(), *_examples()):
        page = TARGET / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, "utf-8")
    print(f"{len([*TARGET.rglob('*.md')])} pages in {TARGET.relative_to(ROOT)}")


def _pages() -> Iterator[tuple[str, str]]:
    docs = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    for source, page in {**AT_THE_TOP, **{path: _page_of(path) for path in docs}}.items():
        yield page, _with_links((ROOT / source).read_text("utf-8"), source, page)


def _with_links(text: str, source: str, page: str) -> str:
    """Links as on the site: a path of the repository becomes the page that shows it."""

    def moved(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), found[1]))
        return posixpath.relpath(_page_of(target), posixpath.dirname(page) or ".")

    return _LINK.sub(moved, text)


def _page_of(path: str) -> str:
    """The page of a file of the repository, or of the example that it belongs to."""
    if path in AT_THE_TOP:
        return AT_THE_TOP[path]
    if path == "examples":
        return AT_THE_TOP["examples/README.md"]
    if path.startswith("examples/"):
        return f"examples/{Path(path.split('/')[1]).stem}.md"
    return path.removeprefix("docs/")


def _examples() -> Iterator[tuple[str, str]]:
    """A page for each example, be it a file or a directory."""
    for entry in sorted(path for path in (ROOT / "examples").iterdir() if path.name[0] not in "._"):
        if entry.name == "README.md":
            continue
        files = [entry] if entry.is_file() else sorted(entry.rglob("*"))
        shown = [file for file in files if file.suffix in LANGUAGES and file.is_file()]
        title = entry.stem.replace("_", " ").capitalize()
        yield f"examples/{entry.stem}.md", "\n\n".join([f"# {title}", *map(_block, shown)]) + "\n"


def _block(file: Path) -> str:
    text = file.read_text("utf-8")
    fence = "`" * 5
    return f"`{file.relative_to(ROOT)}`\n\n{fence}{LANGUAGES[file.suffix]}\n{text}{fence}"


if __name__ == "__main__":
    main()
