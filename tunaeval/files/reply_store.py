"""A cache of models' replies that lasts from run to run: in SQLite, by a digest of what was asked.

Several processes may share a store. It contains no API key and no header: secrets of the
environment are covered in each reply, and of the question only a digest is stored. Only its owner
may read it. A cache is a convenience: where it cannot be used, a run goes on as without it.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Self, TypeVar

from tunaeval.errors import RecordError
from tunaeval.types.calls import JsonValue
from tunaeval.types.exchange import Reply
from tunaeval.types.json_text import encode
from tunaeval.workers import in_daemon

from .kept_replies import KeptReply
from .keys import of_environment, without
from .plain_files import check_writable
from .records import decode

FILE = "replies.sqlite"
_BUSY_SECONDS = 2.0
"""How long to wait for another process that writes; a write takes a few milliseconds."""
_PATIENCE_SECONDS = 2 * _BUSY_SECONDS
"""How long a run waits for its cache, whatever keeps it: a disk of the network may never answer."""

_TABLE = (
    "CREATE TABLE replies (asked BLOB PRIMARY KEY, reply BLOB NOT NULL, at TEXT NOT NULL) "
    "WITHOUT ROWID"
)
_T = TypeVar("_T")
_LOG = logging.getLogger("tunaeval.files")


def digest_of(asked: Mapping[str, JsonValue]) -> bytes:
    """Return the SHA-256 of everything that a reply depends on."""
    return hashlib.sha256(encode(asked)).digest()


class ReplyStore:
    """The replies in a directory, which is made if it is missing.

    Raises RecordError for a place that cannot be read or written, and for a file of others.
    """

    def __init__(self, directory: Path | str) -> None:
        self.path = Path(directory) / FILE
        self._secrets = of_environment()
        with self._guarded("opened"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            check_writable(self.path)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            self._base = sqlite3.connect(
                self.path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            weakref.finalize(self, self._base.close)
            is_new = self._is_new()
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = NORMAL")
            if is_new:
                self._base.execute(_TABLE.replace("TABLE", "TABLE IF NOT EXISTS"))
            self._base.text_factory = bytes  # a damaged text is a miss like any other

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
            return None if row is None else _read_stored(*row)

    def _is_new(self) -> bool:
        """Whether nothing is in the database. Raise ValueError if it is that of another program."""
        found = dict(self._base.execute("SELECT name, sql FROM sqlite_master"))
        signs = self._base.execute("SELECT * FROM pragma_application_id, pragma_user_version")
        if found.get("replies") != _TABLE if found else signs.fetchone() != (0, 0):
            raise ValueError("it is the database of another program")
        return not found

    def put(self, asked: bytes, reply: Reply) -> None:
        """Store a reply; it replaces an earlier one to the same question."""
        record = KeptReply.of(reply).as_record()
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


def _read_stored(stored: bytes, at: bytes) -> Reply | None:
    """Return a stored reply. A damaged one counts as missing: it is asked for again."""
    with suppress(ValueError, TypeError, AttributeError, RecordError):
        return KeptReply.model_validate(decode(stored)).as_reply(FILE, cached_at=at.decode())
    return None


class ReplyCache:
    """The replies in a directory as a convenience: a fault is logged once, and then they are not
    used, or after a fault in writing only read.

    They are read and written in threads: the event loop waits for no disk and no other process.
    """

    def __init__(self, directory: Path | str) -> None:
        self._directory = directory
        self._store: ReplyStore | None = None
        self._turn = threading.Lock()
        self._off: frozenset[str] = frozenset()

    async def get(self, asked: bytes) -> Reply | None:
        return await self._beside("get", lambda store: store.get(asked))

    async def put(self, asked: bytes, reply: Reply) -> None:
        await self._beside("put", lambda store: store.put(asked, reply))

    async def aclose(self) -> None:
        """Close the database. The next use opens it again, as others may share this cache."""
        await self._beside("close", ReplyStore.close)
        self._off = frozenset()

    async def _beside(self, name: str, work: Callable[[ReplyStore], _T]) -> _T | None:
        """Return what `work` returns, or None where it fails, now or before."""
        if name in self._off:
            return None
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                return await asyncio.wrap_future(in_daemon(lambda: self._in_turn(name, work)))
        except (TimeoutError, RuntimeError) as error:  # no thread can be started
            self._fail(name, f"{str(self._directory)!r} does not answer ({error!r})")
        return None

    def _in_turn(self, name: str, work: Callable[[ReplyStore], _T]) -> _T | None:
        with self._turn:
            if name in self._off or (name == "close" and self._store is None):
                return None
            try:
                store = self._store = self._store or ReplyStore(self._directory)
                self._store = None if name == "close" else store
                return work(store)
            except RecordError as error:
                self._fail(name, str(error))
        return None

    def _fail(self, name: str, words: str) -> None:
        if not self._off:
            _LOG.warning("%s; what is asked goes on as without a cache", words)
        self._off |= {"put"} if name == "put" else {"get", "put", "close"}


_OPEN: weakref.WeakValueDictionary[str, ReplyCache] = weakref.WeakValueDictionary()


def cache_in(place: ReplyStore | Path | str) -> ReplyCache:
    """Return the cache in a directory. `place` is that directory, or a store in it.

    Everybody in this process who asks for the same directory gets the same cache.
    """
    directory = place.path.parent if isinstance(place, ReplyStore) else Path(place)
    return _OPEN.setdefault(str(directory.absolute()), ReplyCache(directory))
