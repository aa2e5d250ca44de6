"""`calibrate`: compares a judge with a file of labels in one call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from tunaeval.data.adapters import to_messages
from tunaeval.types.wanted import wanted_path

from .judging.calibrating import Calibrating, read_labels
from .judging.calibrating import calibrate as calibrate_judge
from .judging.calibration import Calibration
from .judging.judge import Judge


def calibrate(
    labels: Path | str,
    judge: Judge,
    *,
    threshold: float = 0.5,
    repeats: int = 2,
    concurrency: int = 4,
    heard: Callable[[str], None] | None = None,
) -> Calibration:
    """Compare a judge's scores with the labels of every transcript in a JSON lines file.

    Args:
        labels: The file of labelled transcripts.
        judge: The judge to be measured.
        threshold: The share (0 to 1) from which a label or a score counts as good.
        repeats: How often each question is asked again.
        concurrency: How many transcripts are judged at the same time.
        heard: Called with the id of each transcript that was judged.

    Raises UsageError for labels that cannot be read, with file, line and field.

    Examples:
        >>> import json
        >>> from pathlib import Path
        >>> from tunaeval import ScriptedClient
        >>> seen = [{"role": "assistant", "content": "Hello."}]
        >>> label = {"id": "1", "query": "Hi", "messages": seen, "label": {"goal-completion": 1}}
        >>> _ = Path("labels.jsonl").write_text(json.dumps(label))
        >>> judge = tunaeval.Judge(ScriptedClient(['{"score": 9, "reason": "It greets."}'] * 2))
        >>> found = tunaeval.calibrate("labels.jsonl", judge, repeats=1)
        >>> list(found.categories)
        ['goal-completion']
    """
    settings = Calibrating(
        threshold=threshold, repeats=repeats, concurrency=concurrency, heard=heard
    )
    read = read_labels(wanted_path(labels, "labels"), to_messages)
    return asyncio.run(calibrate_judge(judge, read, settings))
