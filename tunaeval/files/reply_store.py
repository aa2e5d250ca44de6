"""A cache of models' replies that lasts from run to run: in SQLite, by a digest of what was asked.

Several processes may share a store. It contains no API key and no header: secrets of the
environment are covered in each reply, and of the question only a digest is stored.
"""

from __future__ import annotations

import hashlib
import sqlite3
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from tunaeval.errors import RecordError
from tunaeval.types.calls import JsonValue
from tunaeval.types.exchange import Reply
from tunaeval.types.messages import Usage

from .keys import of_environment, without
from .records import decode, encode

FILE = "replies.sqlite"
_BUSY_SECONDS = 30.0
"""How long to wait for another process that writes."""

_TABLE = (
    "CREATE TABLE IF NOT EXISTS replies (asked BLOB PRIMARY KEY, reply BLOB NOT NULL, "
    "at TEXT NOT NULL) WITHOUT ROWID"
)


def digest_of(asked: Mapping[str, JsonValue]) -> bytes:
    """Return the SHA-256 of everything that a reply depends on."""
    return hashlib.sha256(encode(asked)).digest()


class ReplyStore:
    """The replies in a directory, which is made if it is missing.

    Raises RecordError, here and in `put`, for a place that cannot be written to.
    """

    def __init__(self, directory: Path | str) -> None:
        self.path = Path(directory) / FILE
        self._secrets = of_environment()
        with self._guarded("opened"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(
                self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            weakref.finalize(self, self._base.close)
            self._refuse_foreign()
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = NORMAL")
            self._base.execute(_TABLE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, asked: bytes) -> Reply | None:
        """Return the stored reply to a question, or None. It has `cached_at`, and no latency."""
        with self._guarded("read"):
            row = self._base.execute(
                "SELECT reply, at FROM replies WHERE asked = ?", (asked,)
            ).fetchone()
            return None if row is None else _read(*row)

    def _refuse_foreign(self) -> None:
        """Raise ValueError if the database has tables, but not the table of replies."""
        found = self._base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        names = {name for (name,) in found}
        if names and "replies" not in names:
            raise ValueError("it is the database of another program")

    def put(self, asked: bytes, reply: Reply) -> None:
        """Store a reply; it replaces an earlier one to the same question."""
        usage = reply.usage
        record = {
            "message": reply.message,
            "finish_reason": reply.finish_reason,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "source": reply.source,
            "notes": list(reply.notes),
        }
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._guarded("written"):
            self._base.execute(
                "INSERT OR REPLACE INTO replies VALUES (?, ?, ?)",
                (asked, encode(without(record, self._secrets)), now),
            )

    def close(self) -> None:
        self._base.close()

    @contextmanager
    def _guarded(self, action: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError, ValueError) as error:
            raise RecordError(
                f"the kept replies in {str(self.path)!r} cannot be {action}: {error}; choose "
                "another directory, or move it away"
            ) from error


def _read(stored: bytes, at: str) -> Reply | None:
    """Return a stored reply. A damaged one counts as missing: it is asked for again."""
    try:
        record = decode(stored)
        return Reply(
            record["message"],
            record["finish_reason"],
            usage=Usage(record["prompt_tokens"], record["completion_tokens"]),
            source=record["source"],
            notes=tuple(record["notes"]),
            cached_at=at,
        )
    except (ValueError, KeyError, TypeError):
        return None
