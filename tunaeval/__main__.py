"""`python -m tunaeval` is `tunaeval`."""

import sys

from tunaeval.cli import main

if __name__ == "__main__":
    sys.exit(main())
