"""Text to calls and back.

`format` is a name, a `Format` value, or any `Parser`; `tools` are what `tools.to_tools` takes.
"""

from .api import formats as formats
from .reader import Reader as Reader
from .reader import Stream as Stream
