"""The map of the packages: on which layer each is, and what it knows; and what plug-ins fill.

    python docs/map.py            # writes both into docs/explanation/design.md
    python docs/map.py --sizes    # prints the map, with the files and lines of each package

The layers are those of tests/test_architecture.py, which holds every import against them; what a
package knows is the first sentence of its docstring.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "explanation" / "design.md"
BEGIN, END = "<!-- the map: python docs/map.py -->\n", "<!-- end of the map -->\n"
ROLES, END_ROLES = "<!-- the roles: python docs/map.py -->\n", "<!-- end of the roles -->\n"
SHOWN = ("Parser", "Scorer", "ToolWrapper", "Harness")
"""The protocols that the whole library is built around; `types/roles.py` has the others, too."""


def drawn(*, sizes: bool = False) -> str:
    """Return the map as a table in Markdown, the highest layer first."""
    sys.path.insert(0, str(ROOT))
    from tests.test_architecture import LAYERS  # noqa: PLC0415 - needs the path above

    head = ["layer", "package", "what it knows", *(["files", "lines"] if sizes else [])]
    rows = [head, ["---"] * len(head)]
    for number, packages in reversed([*enumerate(LAYERS, 1)]):
        for package in packages:
            row = [str(number), f"`{package}`", _knowledge(package)]
            rows.append([*row, *(map(str, _size(package)) if sizes else ())])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def roles() -> str:
    """Return the code of the core protocols as it is written in `tunaeval/types/roles.py`."""
    text = (ROOT / "tunaeval" / "types" / "roles.py").read_text("utf-8")
    found = {one.name: one for one in ast.parse(text).body if isinstance(one, ast.ClassDef)}
    code = (ast.get_source_segment(text, found[name]) for name in SHOWN)
    return (
        "<!-- not run here: it is a part of a file -->\n```python\n"
        + "\n\n\n".join(map(str, code))
        + "\n```\n"
    )


def _files(package: str) -> Iterator[Path]:
    folder = ROOT / "tunaeval" / package
    if package == "tunaeval":
        yield ROOT / "tunaeval" / "__init__.py"
    elif folder.is_dir():
        yield from sorted(folder.rglob("*.py"))
    else:
        yield folder.with_suffix(".py")


def _knowledge(package: str) -> str:
    """Return the first sentence of the package's docstring, without what it repeats of the name."""
    path = next(one for one in _files(package) if one.stem in {"__init__", package})
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return re.split(r"(?<=[.?])\s|\n\n", text)[0].replace("\n", " ").rstrip(".")


def _size(package: str) -> tuple[int, int]:
    files = [*_files(package)]
    return len(files), sum(path.read_text("utf-8").count("\n") for path in files)


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw the map of the packages.")
    parser.add_argument("--sizes", action="store_true", help="print it, with files and lines")
    if parser.parse_args().sizes:
        print(drawn(sizes=True), end="")
        return
    page = PAGE.read_text("utf-8")
    for begin, made, end in ((BEGIN, drawn(), END), (ROLES, roles(), END_ROLES)):
        before, _, rest = page.partition(begin)
        page = before + begin + "\n" + made + "\n" + end + rest.partition(end)[2]
    PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
