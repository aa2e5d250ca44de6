"""Every fixture, read whole as `test_formats.py` does, without pytest: it takes half a second.

    python -m tests.formats.at_once

`tests/mutants.py` asks this first, of hundreds of broken copies. It exits with 1 at the first text
that is not read as its fixture says.
"""

from __future__ import annotations

import sys

from tests.formats.fixtures import ALL, expected_at, found_in
from tunaeval import parse
from tunaeval.types.parsing import LEVELS


def main() -> int:
    """1 at the first difference, which is printed; an exception ends it with 1, too."""
    for case in ALL:
        for level in LEVELS:
            if case.expected.get(level, True) is None:
                continue
            result = parse(case.text, case.format, tools=case.tools, level=level)
            if found_in(result) != expected_at(case, level):
                print(f"{case.format}: {case.title} ({level})")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
