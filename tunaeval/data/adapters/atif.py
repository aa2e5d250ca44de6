"""Trajectories of ATIF, the format of Harbor (versions 1.0 to 1.8), as objects and as JSON.

A step is a message of the user, the system or the agent; an agent's step contains its calls and
their results. The format is specified in Harbor's RFC 0001, "Agent Trajectory Interchange Format".
"""

from __future__ import annotations

from tunaeval.types.messages import Usage

from .fields import declared, first, get, identifier, instant, listed, usage_of, word
from .openai_chat import KINDS
from .parts import Kinds, Media, read_content, result_words
from .reading import Reading

_ROLES = {"agent": "assistant", "user": "user", "system": "system"}
_KINDS: Kinds = {**KINDS, "image": Media(), "audio": Media(), "file": Media()}


def is_trajectory(thing: object) -> bool:
    """Whether this is a whole trajectory, by its schema version."""
    return word(get(thing, "schema_version")).startswith("ATIF")


def claims(step: object) -> bool:
    return get(step, "step_id") is not None and get(step, "source") in _ROLES


def read(step: object, reading: Reading) -> None:
    source = word(get(step, "source"))
    reading.begin(
        _ROLES.get(source, source),
        usage=_usage(get(step, "metrics")),
        at=instant(get(step, "timestamp")),
    )
    if source not in _ROLES:
        reading.notice("unknown-role", f"the source {source[:40]!r} is not known")
    thought = get(step, "reasoning_content")
    reading.thought(thought if isinstance(thought, str) else "")
    read_content(get(step, "message"), _KINDS, reading)
    calls = listed(get(step, "tool_calls"))
    for call in calls:
        reading.call(get(call, "function_name"), get(call, "arguments"), get(call, "tool_call_id"))
    for result in listed(get(get(step, "observation"), "results")):
        _read_result(result, is_of_call=bool(calls), reading=reading)


def _read_result(result: object, *, is_of_call: bool, reading: Reading) -> None:
    """Read a result; one without a call's id is a system message, unless the step has calls."""
    answered = identifier(get(result, "source_call_id"))
    text = result_words(get(result, "content"), _KINDS)
    if get(result, "subagent_trajectory_ref") is not None:
        reading.notice("side-conversation", "what a sub-agent did is in a trajectory of its own")
    if answered is None and not is_of_call:
        reading.text(text, "system")
        return
    failed = declared(get(result, "extra"))
    reading.result(answered, text, declared(result) if failed is None else failed)


def _usage(metrics: object) -> Usage | None:
    """Return the usage; in this format the prompt's tokens include the cached ones."""
    return usage_of(metrics) if first(metrics, ("prompt_tokens", "cost_usd")) is not None else None
