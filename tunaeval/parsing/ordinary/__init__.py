"""The ordinary shape of every format at once: sound blocks, and nothing unusual anywhere.

Made from the same words as the engine reads, when first used. It answers only where it can be sure
that the engine would say the same in every field, with any tools and at every level; else it
answers None, and the engine reads the text from its start.
"""

from .reader import ordinary_reader
from .whole import OrdinaryReader

__all__ = ["OrdinaryReader", "ordinary_reader"]
