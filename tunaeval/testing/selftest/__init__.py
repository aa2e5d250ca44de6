"""Measurements of formats on this machine: growth, streaming, accuracy, and null models.

Each measurement takes subjects (named parsers) and an `Extent`, and returns a `Measured`: figures,
and the faults that put it below its bar. It needs only this package; a seed makes it repeatable.
"""

from .accuracy import accuracy
from .growth import linear
from .measured import Extent as Extent
from .measured import subject_of as subject_of
from .null import null
from .streaming import stream

MEASURINGS = {"linear": linear, "stream": stream, "accuracy": accuracy, "null": null}
"""Every measurement by name, in the order of a complete self-test."""
