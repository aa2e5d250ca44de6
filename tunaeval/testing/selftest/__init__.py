"""Formats measured on this machine: growth, streaming, accuracy, and what null models earn.

Each measuring takes subjects and an `Extent`, and returns a `Measured`: figures, and the faults
that put it below its bar. Nothing here needs more than the package itself; a seed repeats a run.
"""

from .accuracy import accuracy
from .growth import linear
from .measured import Extent as Extent
from .null import null
from .streaming import stream
from .subjects import subject_of as subject_of

MEASURINGS = {
    "linear": linear,
    "stream": stream,
    "accuracy": accuracy,
    "null": null,
}
"""Every measuring by name, in the order of a whole self-test."""
