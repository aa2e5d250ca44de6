"""Whether this environment, with tunaeval alone installed, is as small as promised.

python .ci/check_size.py
"""

from __future__ import annotations

import sys
import sysconfig
from importlib.metadata import distributions
from pathlib import Path

MAX_DISTRIBUTIONS = 21
MAX_MEGABYTES = 32
"""Without byte code, which pip writes or not, as it is asked to."""
NOT_OURS = frozenset({"pip", "setuptools", "wheel"})
"""What a virtual environment brings along."""


def main() -> str | None:
    """What is too much, or None."""
    site = sysconfig.get_path("purelib")
    found = [d for d in distributions(path=[site]) if d.name.lower() not in NOT_OURS]
    sizes = {
        distribution.name: sum(
            Path(str(distribution.locate_file(file))).stat().st_size
            for file in distribution.files or ()
            if file.suffix != ".pyc" and Path(str(distribution.locate_file(file))).is_file()
        )
        for distribution in found
    }
    megabytes = sum(sizes.values()) / 1e6
    print(f"{len(found)} distributions, {megabytes:.1f} MB: {', '.join(sorted(sizes))}")
    if len(found) > MAX_DISTRIBUTIONS or megabytes > MAX_MEGABYTES:
        return f"at most {MAX_DISTRIBUTIONS} distributions and {MAX_MEGABYTES} MB were promised"
    return None


if __name__ == "__main__":
    sys.exit(main())
