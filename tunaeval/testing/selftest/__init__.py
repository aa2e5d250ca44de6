"""tunaeval measured on this machine: growth, streaming, accuracy, repair, for any format; what null
models earn, whether intervals cover, and what a scorer makes of cases that older ones got wrong.

Each measuring takes subjects and an `Extent`, and returns a `Measured`: figures, and the faults
that put it below its bar. Nothing here needs more than the package itself; a seed repeats a run.
"""

from .accuracy import accuracy
from .growth import linear
from .measured import Extent as Extent
from .null import null
from .repair import repair
from .scorer import scorer
from .stats import stats
from .streaming import stream
from .subjects import subject_of as subject_of

MEASURINGS = {
    "linear": linear,
    "stream": stream,
    "accuracy": accuracy,
    "repair": repair,
    "null": null,
    "stats": stats,
    "scorer": scorer,
}
"""Every measuring by name, in the order of a whole self-test."""
