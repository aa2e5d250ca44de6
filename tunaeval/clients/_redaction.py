"""Keys kept out of the log of httpcore, which at DEBUG quotes headers, and what a server echoes."""

from __future__ import annotations

import logging

_LOGGERS = ("httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy")


class KeyFilter(logging.Filter):
    """Replaces a key in every record of httpcore from `begin` until `end`."""

    def __init__(self, key: str | None) -> None:
        super().__init__()
        self._key = key

    def begin(self) -> None:
        """Watch the loggers; once is enough."""
        for name in _LOGGERS if self._key else ():
            logging.getLogger(name).addFilter(self)

    def end(self) -> None:
        for name in _LOGGERS:
            logging.getLogger(name).removeFilter(self)

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, without the key."""
        said = record.getMessage()
        if self._key and self._key in said:
            record.msg, record.args = said.replace(self._key, "(the key)"), ()
        return True
