"""Tasks of many turns: suites of them, workspaces with their tools, and the checks that grade."""

from .checks import Checks as Checks
from .named import checks as checks  # the registry; in this order it, and not the module, stays
