"""Keep a judge's replies in a file of JSON lines, by a digest of the whole question.

Whatever changes the question (model, words, transcript, settings, number of the vote) changes the
digest, except for the boundary, which is random. Failures to get a reply are not kept.
"""

from __future__ import annotations

from pathlib import Path

from tunaeval.errors import RecordError
from tunaeval.files import records
from tunaeval.files.keys import of_environment, without
from tunaeval.types.calls import JsonObject
from tunaeval.types.exchange import Reply


class ReplyCache:
    """A file of replies, read on first access; several judges may share it, one at a time."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._replies: dict[str, Reply] | None = None

    def get(self, key: str) -> Reply | None:
        if self._replies is None:
            self._replies = self._read()
        return self._replies.get(key)

    def put(self, key: str, reply: Reply) -> None:
        """Keep a reply. Raises RecordError if the file cannot be written."""
        self.get(key)
        record = {"key": key, "message": reply.message, "finish_reason": reply.finish_reason}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        records.append(self.path, without(record, of_environment()))
        if self._replies is not None:
            self._replies[key] = reply

    def _read(self) -> dict[str, Reply]:
        if not self.path.exists():
            return {}
        return dict(map(self._entry, records.read(self.path)))

    def _entry(self, record: JsonObject) -> tuple[str, Reply]:
        match record:
            case {"key": str(key), "message": dict(message), "finish_reason": reason}:
                return key, Reply(message, reason if isinstance(reason, str) else None)
        raise RecordError(
            f"{self.path}: found {sorted(record)!r:.100} in a line; wanted key, message and "
            "finish_reason, as a judge writes them; give the judge another file"
        )
