r"""The wire formats as values, the words and patterns they are written in, and `Format`.

A format is a value: a row of words, in the order in which a model writes them. The engine in
`parsing` reads them forwards, `parsing.write` writes them. A format that could never be read is
refused when it is made, or when it is registered or first used.

    Format.of("hermes", "<tool_call>\n⟨call⟩\n</tool_call>")

    Format("hermes", (Literal("<tool_call>"), Space("\n"), CallObject(), Space("\n"),
                      Literal("</tool_call>")))
"""

from .format import Format as Format
from .words import *  # noqa: F403 - every word is public
