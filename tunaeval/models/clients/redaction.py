"""Keys kept out of the logs of httpx2 and its parts, which quote addresses, headers and answers."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from tunaeval.files.keys import Secret

_LOGGERS = (
    "httpx2", "httpcore2.connection", "httpcore2.http11", "httpcore2.http2", "httpcore2.proxy",
    "httpcore2.socks", "hpack.hpack", "hpack.table",
)  # fmt: skip


class KeyFilter(logging.Filter):
    """Replaces keys in every record of theirs from `begin` until `end`."""

    def __init__(self, keys: Iterable[str]) -> None:
        super().__init__()
        self._keys = sorted(map(Secret, keys), key=len, reverse=True)

    def begin(self) -> None:
        """Watch the loggers; further calls change nothing."""
        for name in _LOGGERS if self._keys else ():
            logging.getLogger(name).addFilter(self)

    def end(self) -> None:
        for name in _LOGGERS:
            logging.getLogger(name).removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, without a key."""
        said = record.getMessage()
        for key in self._keys:
            if key in said:
                said = said.replace(key, "(the key)")
                record.msg, record.args = said, ()
        return True
