"""How Acme's models write a call: a value, which tunaeval reads, streams and writes.

<<acme 1>>
{"do": "read_file", "with": {"filepath": "a.txt"}}
<<end>>
"""

from __future__ import annotations

from tunaeval.grammar import Format, Reasoning

ACME = Format.of(
    "acme",
    "<<acme⟨= ⟩⟨skip text=1 pattern=[0-9]{0,3}⟩>>\n⟨call name=do arguments=with⟩\n<<end>>",
    reasoning=(Reasoning("<<hm>>", "<</hm>>"),),
    models=("Acme 1",),
    summary="one JSON object with do and with, between <<acme>> and <<end>>",
)
