"""Whether the smoke run asked a real model and read its replies; never how well it did.

python .ci/check_run.py RUNS
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

SCENARIOS = 12
MIN_ANSWERED = 9
"""On a busy machine a scenario may run out of time; most must not."""


def main(folder: str) -> str | None:
    """What is wrong with the only run below `folder`, or None."""
    (directory,) = Path(folder).iterdir()
    run = json.loads((directory / "run.json").read_text("utf-8"))
    lines = (directory / "results.jsonl").read_text("utf-8").splitlines()
    results = [json.loads(line) for line in lines]
    replies = [a for r in results for a in r["attempts"] if a["outcome"] != "transport_failure"]
    answered = [r for r in results if r["outcome"] != "transport_failure"]
    called = [r for r in answered if r["got"]]
    faults = [
        fault
        for fault, found in (
            (f"{len(results)} results instead of {SCENARIOS}", len(results) != SCENARIOS),
            (f"only {len(answered)} scenarios were answered", len(answered) < MIN_ANSWERED),
            ("no call was read", not called),
            ("a reply without tokens", not all(a["completion_tokens"] for a in replies)),
            ("a reply without words", not all(a["message"].get("content") for a in replies)),
            (f"client {run['client']!r}", run["client"] != "llamacpp"),
            (f"heading {run['heading']!r}", "constrained decoding" not in (run["heading"] or "")),
        )
        if found
    ]
    print(f"{run['model']}: {len(replies)} real replies, {len(called)} scenarios with calls")
    return f"{directory}: {'; '.join(faults)}" if faults else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
