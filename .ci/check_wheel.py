"""Whether a wheel of tunaeval holds everything that is not code: data of the suites, py.typed.

python .ci/check_wheel.py WHEEL
"""

from __future__ import annotations

import sys
from pathlib import Path
from zipfile import ZipFile

PACKAGE = Path(__file__).parent.parent / "tunaeval"


def main(wheel: str) -> str | None:
    """What is missing, or None."""
    packed = set(ZipFile(wheel).namelist())
    wanted = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    missing = wanted - packed
    strangers = {name for name in packed if not name.startswith(("tunaeval/", "tunaeval-"))}
    if missing or strangers:
        return f"{wheel} lacks {sorted(missing)} and has {sorted(strangers)} besides"
    print(f"{Path(wheel).name}: {len(wanted)} files, {Path(wheel).stat().st_size / 1e3:.0f} kB")
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
