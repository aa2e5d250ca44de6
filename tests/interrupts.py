"""Children that can be interrupted, whoever runs the tests."""

from __future__ import annotations

import signal


def heed_interrupts() -> None:
    """For `preexec_fn`: a shell that runs the tests in the background has them ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
