"""Functions on tables: parse a column of completions, or score it against golds.

    from tunaeval.data.columns import parse_table, score_table

    scored = score_table(table, text="completion", gold="gold", tools=tools)

A table is one of pyarrow (`Table`, `RecordBatch`), Polars or pandas, or a dictionary of lists, as
`datasets.map(batched=True)` passes on; the same kind is returned. Both functions are pure: they
return as many rows in the same order, change no given column, keep no state, and raise for no row.
So an engine may call them again for the same batch: Ray Data, Spark's `mapInArrow`, DuckDB.

Needs `pip install pyarrow`.
"""

from __future__ import annotations

from .parsed import parse_table as parse_table
from .scored import score_table as score_table
