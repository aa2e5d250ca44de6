r"""The words that a wire format is written in.

A format is a value: a row of words, in the order in which a model writes them. The engine in
`parsing` reads them forwards, `parsing.writing` writes them. A format that could never be read is
refused when it is built.

    Format("hermes", (Literal("<tool_call>"), Space("\n"), CallObject(), Space("\n"),
                      Literal("</tool_call>")))
"""

from .faults import NAME
from .format import Engine, Format, set_engine
from .words import (
    ANY_NAME,
    ANY_SPACE,
    THINK,
    Arguments,
    Attribute,
    CallObject,
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
)

__all__ = [
    "ANY_NAME",
    "ANY_SPACE",
    "NAME",
    "THINK",
    "Arguments",
    "Attribute",
    "CallObject",
    "Engine",
    "Format",
    "Key",
    "Literal",
    "Many",
    "Markup",
    "Maybe",
    "Name",
    "PythonCalls",
    "Reasoning",
    "Space",
    "Trim",
    "Value",
    "Word",
    "set_engine",
]
