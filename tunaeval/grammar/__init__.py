r"""The words that a wire format is written in.

A format is a value: a row of words, in the order in which a model writes them. The engine in
`parsing` reads them forwards, `parsing.writing` writes them. A format that could never be read is
refused when it is built.

    Format("hermes", (Literal("<tool_call>"), Space("\n"), CallObject(), Space("\n"),
                      Literal("</tool_call>")))
"""

from .format import Format
from .words import (
    ANY_NAME,
    ANY_SPACE,
    THINK,
    THINKING,
    TYPE_NAME,
    WITH_COLONS,
    Arguments,
    Attribute,
    CallObject,
    Channel,
    Elements,
    Envelope,
    Key,
    Literal,
    Many,
    Markup,
    Maybe,
    Name,
    PythonCalls,
    Reasoning,
    Route,
    Space,
    Trim,
    Value,
    Word,
    starts_with_space,
)

__all__ = [
    "ANY_NAME",
    "ANY_SPACE",
    "THINK",
    "THINKING",
    "TYPE_NAME",
    "WITH_COLONS",
    "Arguments",
    "Attribute",
    "CallObject",
    "Channel",
    "Elements",
    "Envelope",
    "Format",
    "Key",
    "Literal",
    "Many",
    "Markup",
    "Maybe",
    "Name",
    "PythonCalls",
    "Reasoning",
    "Route",
    "Space",
    "Trim",
    "Value",
    "Word",
    "starts_with_space",
]
