"""The wire formats, as values: a file per family, and nothing but data.

A format's constant is its name in capitals: HERMES is "hermes", TOOLS_TAG is "tools-tag".
"""

from .qwen25 import CHAIN, FENCE, HERMES, JSON, LOOSE_JSON, TOOLS_TAG

FORMATS = {format_.name: format_ for format_ in CHAIN}
"""Every format that comes with tunaeval, by its canonical name."""

__all__ = ["CHAIN", "FENCE", "FORMATS", "HERMES", "JSON", "LOOSE_JSON", "TOOLS_TAG"]
