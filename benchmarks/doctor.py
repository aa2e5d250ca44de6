"""What `tunaeval doctor` and canitoolcall find on the same servers, each wrong in one way.

    pip install --no-deps canitoolcall && pip install jsonschema
    python benchmarks/doctor.py [--seed 1] [--no-raw] [--json] [--check]

The servers are those of `tests/doctor`: loopback, with a scripted model that copies what the doctor
asks for and knows the answers to canitoolcall's nine scenarios, so neither is limited by a model.
Both ask whole and streamed. For the doctor a finding is a check that blames the server; for
canitoolcall a scenario that fails or is an error.
Streams are plain: line feeds, no comments. Seconds are of one examination, wall and CPU.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.doctor.defects import DEFECTS  # noqa: E402 - of this checkout
from tests.doctor.loopback import Loopback  # noqa: E402 - as above
from tests.doctor.scripted_model import MODELS, PROSE, Written, able, asked_for, hermes  # noqa: E402 - as above
from tunaeval.doctor.examination import examine  # noqa: E402 - as above

Calls = list[tuple[str, dict[str, Any]]]

_ANSWERS: tuple[tuple[str, Calls], ...] = (
    ("weather in Paris right now", [("get_weather", {"city": "Paris"})]),
    ("Paris and in Tokyo", [("get_weather", {"city": c}) for c in ("Paris", "Tokyo")]),
    (
        "Design review",
        [
            (
                "create_event",
                {
                    "title": "Design review",
                    "start": "2026-10-01T15:00:00Z",
                    "attendees": [
                        {"name": "Ana", "email": "ana@example.com"},
                        {"name": "Bo", "email": "bo@example.com"},
                    ],
                    "location": {"city": "Berlin", "room": "4.12"},
                },
            )
        ],
    ),
    (
        "Save a note",
        [
            (
                "save_note",
                {"title": "Grüße aus Zürich", "body": "Café ☕ in 東京 — naïve résumé 🚀"},
            )
        ],
    ),
    ("time is it on the server", [("get_server_time", {})]),
    ("which number is larger", [("record_answer", {"answer": "9.9"})]),
)
"""By words of a prompt of canitoolcall, the calls that it wants."""


class Row(NamedTuple):
    """One server, and what each found there."""

    defect: str
    doctor: list[str]
    peer: list[str]
    seconds: float
    cpu_seconds: float
    requests: int


def oracle(messages: Sequence[dict[str, Any]]) -> Written:
    """Knows what both want."""
    if asked_for(messages):
        return able(messages)
    last = messages[-1]
    words = str(last["content"]) if last["role"] == "user" else ""
    for part, calls in _ANSWERS:
        if part in words:
            return Written(hermes(calls), calls)
    return Written(PROSE)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-raw", action="store_true", help="servers without log-probabilities")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="exit with 1 if an aim is missed")
    options = parser.parse_args()
    MODELS["oracle"] = oracle
    MODELS["thinking oracle"] = lambda messages: oracle(messages)._replace(thought="Let me see.")
    names = ["", *(defect.name for defect in DEFECTS)]
    rows = [_examined(name, options.seed, raw=not options.no_raw) for name in names]
    print(json.dumps([row._asdict() for row in rows]) if options.json else _table(rows))
    sound, *broken = rows
    missed = bool(sound.doctor) or (not options.no_raw and not all(row.doctor for row in broken))
    return int(options.check and missed)


def _examined(defect: str, seed: int, *, raw: bool) -> Row:
    model = "thinking oracle" if "reasoning" in defect else "oracle"
    with Loopback(defect, seed=seed, model=model, raw=raw, plain=True) as server:
        started = time.monotonic(), time.process_time()
        found = asyncio.run(examine(server.base_url, environment={}))
        seconds, cpu = time.monotonic() - started[0], time.process_time() - started[1]
    with Loopback(defect, seed=seed, model=model, raw=raw, plain=True) as server:
        peer = _peer(server.base_url)
    checks = [finding.check for finding in found.findings if finding.verdict == "server"]
    return Row(defect or "(none)", checks, peer, seconds, cpu, found.requests)


def _peer(base_url: str) -> list[str]:
    """The scenarios of canitoolcall that are not passed."""
    with TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [sys.executable, "-m", "canitoolcall", "probe", "--base-url", base_url]
        command += ["--model", "scripted", "--concurrency", "1", "--json", str(report)]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
        if not report.exists():
            raise SystemExit(f"canitoolcall cannot be run: {done.stderr.strip()[-300:]}")
        outcomes = json.loads(report.read_text("utf-8"))["outcomes"]
    failed = [each for each in outcomes if each["status"] in ("fail", "error")]
    return list(dict.fromkeys(each["scenario_id"] for each in failed))


def _table(rows: Sequence[Row]) -> str:
    lines = ["| defect | tunaeval doctor blames the server by | canitoolcall fails |"]
    lines += ["|---|---|---|"]
    lines += [f"| {row.defect} | {_some(row.doctor)} | {_some(row.peer)} |" for row in rows]
    broken = [row for row in rows if row.defect != "(none)"]
    found = sum(bool(row.doctor) for row in broken)
    peer = sum(bool(row.peer) for row in broken)
    slowest, most = max(row.seconds for row in rows), max(row.requests for row in rows)
    cpu = max(row.cpu_seconds for row in rows)
    lines += ["", f"found: doctor {found}, canitoolcall {peer}, of {len(broken)} defects"]
    times = f"{slowest:.2f} s at most, {cpu:.2f} s CPU at most with the server's"
    return "\n".join([*lines, f"one examination: {times}; {most} requests at most"])


def _some(names: Sequence[str]) -> str:
    more = f", {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more if names else "nothing"


if __name__ == "__main__":
    sys.exit(main())
