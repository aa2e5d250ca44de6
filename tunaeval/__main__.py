"""Runs the command `tunaeval` for `python -m tunaeval`."""

import sys

try:
    from tunaeval.cli import main
except KeyboardInterrupt:  # before anything was begun
    sys.exit(130)

if __name__ == "__main__":
    sys.exit(main())
