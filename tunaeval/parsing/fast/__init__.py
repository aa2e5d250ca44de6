"""Readers of well-formed blocks: made from the words of a format, certain or silent.

A fast reader answers only where the recovering reader of the same format would say the same in
every field, with any tools and at every level; else it answers `UNSURE`, and that block is read by
the recovering reader. Switching all of them off changes no result (`tests/parsing/test_fast.py`).
"""

from .promise import FENCE, UNSURE, AddressedReader, BlockReader

__all__ = ["FENCE", "UNSURE", "AddressedReader", "BlockReader"]
