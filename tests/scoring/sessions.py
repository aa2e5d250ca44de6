"""What the tests of sessions share: a task, its tool, its messages, a judge's replies, threads."""

from __future__ import annotations

import json
from collections.abc import Callable
from threading import Thread

import tunaeval

Tool = Callable[[str], str]

QUERY = "What is in a.py?"
VERDICT = json.dumps({"reason": "I have looked.", "score": 9})


class MuteError(Exception):
    """An exception that cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def read_file(filepath: str) -> str:
    if filepath == "gone":
        raise FileNotFoundError(filepath)
    return f"contents of {filepath}"


def messages(*, result: str = "contents of a.py") -> list[dict[str, object]]:
    call = {"id": "1", "function": {"name": "read_file", "arguments": '{"filepath": "a.py"}'}}
    return [
        {"role": "user", "content": QUERY},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": result},
        {"role": "assistant", "content": "Contents."},
    ]


def task(query: str = QUERY) -> tunaeval.ScoringSession:
    return tunaeval.scoring_session(query, messages=messages(), start=0)


def paths(session: tunaeval.ScoringSession) -> list[object]:
    return [run.arguments["filepath"] for run in session.executions]


def in_a_thread(work: Callable[[], object]) -> None:
    """Run it where no context is inherited."""
    thread = Thread(target=work)
    thread.start()
    thread.join()
