"""Whether the wheel and the source archive of two builds are the same, and hold what they should.

    python .ci/check_packages.py BUILD OTHER_BUILD

Both are directories with the output of `python -m build`.
"""

from __future__ import annotations

import sys
import tarfile
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "tunaeval"
IN_THE_SOURCES = ("tests", "benchmarks", "examples", "docs", ".ci", "README.md", "CHANGELOG.md",
                  "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "mkdocs.yml")  # fmt: skip


def main(build: str, other: str) -> str | None:
    """What is wrong, or None."""
    first, second = (sorted(Path(place).glob("tunaeval-*")) for place in (build, other))
    if [path.suffix for path in first] != [".whl", ".gz"]:
        return f"{build} has {[path.name for path in first]}; wanted a wheel and a source archive"
    for path, again in zip(first, second, strict=True):
        if sha256(path.read_bytes()).digest() != sha256(again.read_bytes()).digest():
            return f"{path.name} is another file each time that it is built"
        print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB, the same twice")
    return _of_wheel(first[0]) or _of_sources(first[1])


def _of_wheel(wheel: Path) -> str | None:
    packed = set(ZipFile(wheel).namelist())
    missing = {f"tunaeval/{path}" for path in _files(PACKAGE)} - packed
    strangers = {name for name in packed if not name.startswith(("tunaeval/", "tunaeval-"))}
    if missing or strangers:
        return f"{wheel.name} lacks {sorted(missing)} and has {sorted(strangers)} besides"
    return None


def _of_sources(archive: Path) -> str | None:
    with tarfile.open(archive) as opened:
        packed = {name.partition("/")[2] for name in opened.getnames()}
    tops = [top for top in IN_THE_SOURCES if not (ROOT / top).exists()]
    wanted = {f"tunaeval/{path}" for path in _files(PACKAGE)}
    for top in IN_THE_SOURCES:
        place = ROOT / top
        wanted |= {f"{top}/{path}" for path in _files(place)} if place.is_dir() else {top}
    missing = wanted - packed
    return f"{archive.name} lacks {sorted(missing)}; no such file: {tops}" if missing else None


def _files(place: Path) -> set[str]:
    return {
        path.relative_to(place).as_posix()
        for path in place.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
