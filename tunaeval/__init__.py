"""tunaeval: how well does a language model call tools?"""

from ._version import __version__

__all__ = ["__version__"]
