"""How Acme's models write a call: a value, which tunaeval reads, streams and writes.

<<acme 1>>
{"do": "read_file", "with": {"filepath": "a.txt"}}
<<end>>
"""

from __future__ import annotations

from tunaeval.grammar import CallObject, Format, Literal, Markup, Reasoning, Space

ACME = Format(
    "acme",
    (
        Literal("<<acme "),
        Markup("1", r"[0-9]{0,3}"),
        Literal(">>"),
        Space("\n"),
        CallObject(name="do", arguments="with"),
        Space("\n"),
        Literal("<<end>>"),
    ),
    reasoning=(Reasoning("<<hm>>", "<</hm>>"),),
    models=("Acme 1",),
    summary="one JSON object with do and with, between <<acme>> and <<end>>",
)
