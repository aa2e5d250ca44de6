"""tunaeval measured on this machine: growth, streaming, accuracy, repair, for any format; what null
models earn, whether intervals cover, and what a scorer makes of cases that older ones got wrong.

Each measuring takes subjects and an `Extent`, and returns a `Measured`: figures, and the faults
that put it below its bar. Nothing here needs more than the package itself; a seed repeats a run.
"""

from .accuracy import accuracy
from .growth import linear
from .laws import broken_laws
from .measured import Extent, Fault, Measured
from .negatives import negative_texts
from .null import null
from .repair import repair
from .scorer import scorer
from .stats import stats
from .streaming import stream
from .subjects import Subject, subject_of, subjects
from .texts import TextMaker

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

__all__ = [
    "MEASURINGS",
    "Extent",
    "Fault",
    "Measured",
    "Subject",
    "TextMaker",
    "accuracy",
    "broken_laws",
    "linear",
    "negative_texts",
    "null",
    "repair",
    "scorer",
    "stats",
    "stream",
    "subject_of",
    "subjects",
]
