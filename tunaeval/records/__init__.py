"""JSON lines that survive a crash, and which lines of a run's results count."""

from .lines import (
    MAX_DEPTH,
    TOO_DEEP,
    RecordWriter,
    append,
    decode,
    encode,
    opened,
    placed,
    read,
    read_at,
    read_document,
    recover,
    replace_document,
    write_document,
)
from .results import FAILED_OUTCOMES, RESULTS_FILE, CountedResults, counted_results

__all__ = [
    "FAILED_OUTCOMES",
    "MAX_DEPTH",
    "RESULTS_FILE",
    "TOO_DEEP",
    "CountedResults",
    "RecordWriter",
    "append",
    "counted_results",
    "decode",
    "encode",
    "opened",
    "placed",
    "read",
    "read_at",
    "read_document",
    "recover",
    "replace_document",
    "write_document",
]
