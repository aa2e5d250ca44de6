"""Recorded pairs, a model's text and what a server made of it, blamed without model or server.

A pair is a JSON object, such as an engine's unit test can write. `raw` is the text, or `token_ids`
are its ids. `message` (an assistant's message) or `response` (a chat completion) is the whole
answer, `stream` the list of chunks of the streamed one. `tools` were offered; `id` names the pair.

A fixture of canitoolcall (a tool that tests engines) is one, too: `raw_output`,
`output_token_ids`, and the published reading `expected` as the answer where there is no other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from tunaeval.clients.server import Heard
from tunaeval.errors import RecordError, ToolsError, UsageError
from tunaeval.files import records
from tunaeval.files.plain_files import entries, is_directory
from tunaeval.parsing.api import parse_levels
from tunaeval.showing import brief
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import JsonObject, JsonValue

from .blame import Seen, blame, compare_pair, format_of, written
from .checks import AROUND
from .examination import INCOMPLETE, SERVER_FAULT, Examination, evidence_of
from .reading import read_answer, without_ending
from .remedies import remedy
from .values import Ask, Judgement, ServerAnswer, ServerFinding, ServerIdentity, WantedCall, listed

GROUP = "replay"

Decode = Callable[[Sequence[int]], str]


def replay(pairs: Iterable[JsonObject], *, decode: Decode | None = None) -> Examination:
    """Return the blame of each pair; `decode` makes text of token ids, special tokens included.

    Raises RecordError for a pair without a text, tools or an answer.

    Examples:
        >>> from tunaeval.doctor import replay
        >>> raw = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'
        >>> tool = {"type": "function", "function": {"name": "add"}}
        >>> found = replay([{"raw": raw, "tools": [tool], "message": {"content": raw}}])
        >>> found.exit, found.findings[0].id
        (1, 'pair 1/whole/calls-in-content')
    """
    findings: list[ServerFinding] = []
    passed, count = [], 0
    asked: dict[str, list[str]] = {}
    for count, pair in enumerate(pairs, start=1):
        name = str(pair.get("id") or f"pair {count}")
        if name in asked:
            raise RecordError(f"{name}: this is the id of two pairs; give each pair its own")
        answers = list(_answers(name, pair, decode))
        asked[name] = [f"{name}, {one.ask.mode}" for one in answers if one.ok or one.error]
        judged: list[tuple[str, Judgement]] = [
            (one.ask.mode, found)
            for one in answers
            for found in (blame(one, format_of(one)), *_around(one, pair))
        ]
        if len(answers) > 1:
            judged.append(("both", compare_pair(answers[:1], answers[1:])))
        bad = [_finding(name, mode, one) for mode, one in judged if one.verdict != "pass"]
        findings += [one for one in bad if one.verdict == "server"] or bad[:1]
        passed += [] if bad else [(GROUP, name)]
    if not count:
        raise RecordError("there is no pair to replay; wanted JSON lines, a pair on each")
    verdicts = {finding.verdict for finding in findings}
    code = INCOMPLETE if "not tested" in verdicts else SERVER_FAULT * ("server" in verdicts)
    return Examination(_SERVER, tuple(findings), tuple(passed), {}, code, None, 0, asked=asked)


_SERVER: JsonObject = {
    "base_url": "no address", "model": None, "answers_as": None, "name": "a recording",
    "version": None, "sign": "it is replayed", "parser": None, "format": None,
    "raw_text": "every answer", "gate": None, "facts": {},
}  # fmt: skip


def _around(answer: ServerAnswer, pair: JsonObject) -> Iterator[Judgement]:
    """Yield what is wrong around the calls of an answer that was recorded whole."""
    if answer.ok and (answer.ask.streamed or "response" in pair):
        judged = [rule(Seen(ServerIdentity()), answer) for rule in AROUND[answer.ask.streamed :]]
        found = [one for first in judged for one in (first, *first.others)]
        yield from (replace(one, answer=answer) for one in found)


def _finding(name: str, mode: str, judged: Judgement) -> ServerFinding:
    fault = judged.fault or "error"
    form = format_of(judged.answer) if judged.answer else None
    advice = remedy(fault, ServerIdentity(), form) if judged.verdict == "server" else ""
    id_ = f"{name}/{mode}/{fault}" if judged.verdict == "server" else name
    return ServerFinding(name, GROUP, judged.verdict, evidence_of(judged), advice, id_)


def _answers(name: str, pair: JsonObject, decode: Decode | None) -> Iterator[ServerAnswer]:
    """Yield the whole answer of a pair, and the streamed one."""
    raw, tools = _raw(name, pair, decode), pair.get("tools")
    if not isinstance(tools, list):
        raise RecordError(f"{name}: 'tools' is {brief(tools)}; wanted the list that was offered")
    try:
        read = parse_levels(raw, tools=to_tools(tools))["standard"]
    except ToolsError as error:
        raise RecordError(f"{name}: {error}") from error
    ask = Ask(name, (), tuple(tools), tuple(written(read)))
    whole = _heard(pair["response"]) if "response" in pair else _whole(pair.get("message"))
    found = [(False, whole)] if {"response", "message"} & pair.keys() else []
    for key, kind in (("response", dict), ("message", dict), ("stream", list)):
        if key in pair and not isinstance(pair[key], kind):
            wanted = "a list of chunks" if kind is list else "an object"
            raise RecordError(f"{name}: {key!r} is {brief(pair[key])}; wanted {wanted}")
    if isinstance(chunks := pair.get("stream"), list):
        events = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
        found.append((True, Heard(200, {}, "".join([*events, "data: [DONE]\n\n"]).encode())))
    published = _published(pair, raw)
    if not found and published is not None:
        found = [(False, _whole(published))]
    elif published is not None:  # what the fixture says is right, however tunaeval reads the text
        calls = read_answer(ask, _whole(published)).calls
        ask = replace(ask, calls=tuple(WantedCall(str(c.name), c.object or {}) for c in calls))
    if not found:
        raise RecordError(
            f"{name}: nothing says what the server made of the text; wanted 'message', 'response', "
            "'stream' (a list of chunks), or a fixture's 'expected'"
        )
    for streamed, heard in found:
        yield replace(read_answer(replace(ask, streamed=streamed), heard), raw=raw)


def _raw(name: str, pair: JsonObject, decode: Decode | None) -> str:
    raw = next((pair[key] for key in ("raw", "raw_output") if key in pair), None)
    if isinstance(raw, str):
        return raw
    ids = next((pair[key] for key in ("token_ids", "output_token_ids") if key in pair), None)
    if not isinstance(ids, list) or not all(isinstance(one, int) for one in ids):
        raise RecordError(f"{name}: wanted the model's text as 'raw', or its ids as 'token_ids'")
    if decode is None:
        raise UsageError(
            f"{name}: the text is given as token ids alone, and nothing decodes them; give "
            "--tokenizer FILE (the model's tokenizer.json), or decode= in Python"
        )
    return without_ending(decode(ids))


def _heard(body: JsonValue) -> Heard:
    return Heard(200, {}, json.dumps(body).encode())


def _whole(message: JsonValue) -> Heard:
    cut = message.get("finish_reason") if isinstance(message, dict) else None
    called = isinstance(message, dict) and message.get("tool_calls")
    reason = cut or ("tool_calls" if called else "stop")
    return _heard({"choices": [{"message": message, "finish_reason": reason}]})


def _published(pair: JsonObject, raw: str) -> JsonObject | None:
    """Return the reading that a fixture of canitoolcall expects, as an assistant's message."""
    is_cut = "truncated" in listed(pair.get("tags"))
    cut: JsonObject = {"finish_reason": "length"} if is_cut else {}
    if "expected_error" in pair:
        return {"content": raw, **cut}
    expected = pair.get("expected")
    if not isinstance(expected, dict):
        return None
    functions = [
        {**call, "arguments": json.dumps(call.get("arguments"))}
        for call in listed(expected.get("tool_calls"))
        if isinstance(call, dict)
    ]
    calls = [{"type": "function", "function": function} for function in functions]
    return {**expected, "tool_calls": calls, **cut}


def pairs_in(path: Path) -> Iterator[JsonObject]:
    """Yield the pairs in a file of JSON lines, or in all such files of a folder (`*.jsonl`).

    Raises RecordError.
    """
    for file in entries(path, "**/*.jsonl") if is_directory(path) else [path]:
        yield from (pair for _, pair in records.placed(file, whole=True))


def decoder(path: Path) -> Decode:
    """Return what decodes token ids by a `tokenizer.json`. Raises UsageError if that cannot be."""
    try:
        from tokenizers import Tokenizer  # noqa: PLC0415 - heavy, and seldom needed
    except ImportError:
        raise UsageError("--tokenizer needs `pip install tokenizers`") from None
    try:
        made = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises nothing more precise
        raise UsageError(f"{str(path)!r} is no tokenizer.json: {error}") from error
    return lambda ids: str(made.decode(list(ids), skip_special_tokens=False))
