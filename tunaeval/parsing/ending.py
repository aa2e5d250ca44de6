"""What the end of a text says of it: whether something was cut off there."""

from __future__ import annotations

from tunaeval.types import Diagnosis, Span

from .collect import Collector

ELLIPSES = ("...", "…")


def tell_end(
    collector: Collector,
    end: int,
    *,
    cut: str,
    announced: int | None,
    in_code: bool,
    trails_off: bool,
) -> None:
    """Diagnose a cut at `end`: in code, behind an announcement, or in an ellipsis.

    `cut` is the beginning of an opener that the text ends in, `announced` where calls were
    announced and have not come yet.
    """
    if in_code:
        collector.truncated = True
        collector.diagnose("unclosed-fence", "a code fence was never closed", end, end)
    elif announced is not None and collector.last == "markup":
        collector.diagnose("truncated", "calls were announced and none came", announced, end)
        collector.attempt(announced, cut=True)
    elif cut:
        collector.diagnose("truncated", f"the text ends inside {cut!r}", end - len(cut), end)
        collector.attempt(end - len(cut), cut=True)
    elif trails_off:
        collector.truncated = True
        collector.note(trailing_ellipsis(end))


def trailing_ellipsis(end: int) -> Diagnosis:
    """What there is to say of a text that ends in dots at `end`."""
    return Diagnosis("trailing-ellipsis", "the text ends in an ellipsis", Span(end, end))
