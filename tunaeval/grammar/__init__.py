r"""The words that a wire format is written in.

A format is a value: a row of words, in the order in which a model writes them. The engine in
`parsing` reads them forwards, `parsing.write` writes them. A format that could never be read is
refused when it is built.

    Format("hermes", (Literal("<tool_call>"), Space("\n"), CallObject(), Space("\n"),
                      Literal("</tool_call>")))
"""

from .envelope import Channel, Envelope, Route
from .format import Format, shipped, shipped_like
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
    Elements,
    Key,
    Literal,
    Many,
    Markup,
    Maybe,
    Name,
    PythonCalls,
    Reasoning,
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
    "shipped",
    "shipped_like",
    "starts_with_space",
]
