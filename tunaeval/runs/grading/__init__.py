"""Grade an episode with checks of its files, its calls and its answer."""

from .checks import Checks as Checks
from .named import checks as checks  # the registry; in this order it, and not the module, stays
