r"""What a judge sees of a transcript, within limits; everything left out is counted and stated.

    task       the query, always
    messages   the last messages, each in full as far as the limits allow
    calls      every call in order with its outcome; of very many, the first and the last
    sizes      the size of the whole transcript

System messages are the host's and no part of the task. Each section is JSON lines.

The lines are framed in the prompt so that no text in them can forge the frame: every `<`, every
unprintable character and every bracket that could open a chat template's control word is a `\u`
escape. So no text has a marker, a line break of its own, or a token such as `<|im_end|>`; and the
boundary, a random word, differs for every request as well.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from secrets import token_hex
from typing import NamedTuple

from tunaeval.scoring.history import history_of
from tunaeval.showing import counted
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.conversations import Transcript
from tunaeval.types.history import HistoryCall
from tunaeval.types.json_text import encode
from tunaeval.types.messages import Message
from tunaeval.types.wanted import wanted_count

BEGIN = "<<<TRANSCRIPT {}>>>"
END = "<<<END OF TRANSCRIPT {}>>>"

_BOUNDARY_DIGITS = 24  # hexadecimal, so 96 random bits
_TEMPLATE_WORD = re.compile(r"\[(?=/?[A-Z])")
"""Matches `[` as in `[INST]`, a token of some models; JSON has it only inside strings."""


def boundary(seed: int | None, subject: str) -> str:
    """Return a random word for the marks around a transcript; a seed fixes it for each subject."""
    if seed is None:
        return token_hex(_BOUNDARY_DIGITS // 2)
    return sha256(f"{seed}:{subject}".encode()).hexdigest()[:_BOUNDARY_DIGITS]


def framed(lines: str, word: str) -> str:
    """Return the lines between an opening and a closing mark that contain the boundary `word`."""
    return f"{BEGIN.format(word)}\n{lines}\n{END.format(word)}"


def frames(prompt: str) -> tuple[str, ...]:
    """Return each text of a prompt between an opening and a closing mark with the same boundary."""
    lines = prompt.split("\n")
    opening = BEGIN.format("")[:-3]
    found = []
    for number, line in enumerate(lines):
        if line.startswith(opening):
            end = END.format(line.removeprefix(opening).removesuffix(">>>"))
            if end in lines[number:]:
                found.append("\n".join(lines[number + 1 : lines.index(end, number)]))
    return tuple(found)


def json_line(fields: JsonObject) -> str:
    """Return an object as one line of JSON, in which nothing looks like a mark of the frame."""
    text = encode(fields).decode().rstrip("\n").replace("<", "\\u003c")
    text = _TEMPLATE_WORD.sub(r"\\u005b", text)
    return text if text.isprintable() else "".join(map(_printable, text))


def written(value: JsonValue) -> tuple[str, JsonValue]:
    """Return a value as JSON text, and the value; if it is not JSON, both are its repr()."""
    try:
        return encode({"": value}).decode()[4:-2], value
    except (TypeError, ValueError, RecursionError):
        return repr(value), repr(value)


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


SYSTEM_ROLES = frozenset({"system", "developer"})

_MOST_CALLS = 60  # calls in the section `calls`, and in a message
_CALL_SHARE = 4
"""The divisor of a message's limit that gives the limit of an argument list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The limits of what a judge sees of a transcript, in messages and characters.

    `last_messages` limits the section `messages` (None shows all); `characters` limits each
    section. `reasoning` shows the agent's reasoning, `tool_results` the results of its tools.
    """

    last_messages: int | None = 5
    message_characters: int = 2_000
    characters: int = 24_000
    reasoning: bool = False
    tool_results: bool = True

    def __post_init__(self) -> None:
        for name in ("last_messages", "message_characters", "characters"):
            number = getattr(self, name)
            if number is not None:
                wanted_count(number, name)


@dataclass(slots=True)
class View:
    """A transcript as a judge sees it: JSON lines, the shown messages' indices, what is missing."""

    lines: list[str] = field(default_factory=list)
    messages: set[int] = field(default_factory=set)
    left_out: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def leave_out(self, what: str, at: int) -> None:
        """Note what is left out, in `left_out` and as a new line before index `at`."""
        self.left_out.append(what)
        self.lines.insert(at, json_line({"left_out": what}))


def view_of(transcript: Transcript, sections: Iterable[str], shown: Shown) -> View:
    """Return what a judge sees: the task and the named sections, within the limits of `shown`."""
    view = View()
    task, cut = _cut(transcript.query, shown.message_characters)
    view.lines.append(json_line({"task": task, **_left_out(cut)}))
    if cut:
        view.left_out.append(f"{cut} characters of the task")
    for section in dict.fromkeys(sections):
        _SECTIONS[section](view, transcript, shown)
    return view


def is_idle(transcript: Transcript) -> bool:
    """Whether the agent neither wrote nor called anything."""
    return not any(
        message.role == "assistant" and (message.content.strip() or message.tool_calls)
        for message in transcript.messages
    )


class _ShownLine(NamedTuple):
    text: str
    message: int
    left_out: int
    """The number of characters left out."""


def _messages(view: View, transcript: Transcript, shown: Shown) -> None:
    """Add the newest messages to the view, as many as the limits allow."""
    reported = [
        (index, message)
        for index, message in enumerate(transcript.messages)
        if message.role not in SYSTEM_ROLES
    ]
    remaining = shown.characters
    lines: deque[_ShownLine] = deque()
    for index, message in reversed(
        reported if shown.last_messages is None else reported[-shown.last_messages :]
    ):
        line = _message(index, message, shown)
        remaining -= len(line.text)
        if remaining < 0 and lines:  # one message is always shown
            break
        lines.appendleft(line)
    begin = len(view.lines)
    _add(view, lines)
    earlier = reported[: len(reported) - len(lines)]
    if earlier:
        characters = sum(len(message.content) for _, message in earlier)
        which = f"messages {earlier[0][0]} to {earlier[-1][0]}"
        view.leave_out(f"{len(earlier)} earlier ({which}) with {characters} characters", begin)


def _message(index: int, message: Message, shown: Shown) -> _ShownLine:
    limit = shown.message_characters if shown.tool_results or not message.is_result else 0
    content, cut = _cut(message.content, limit)
    fields: JsonObject = {"message": index, "role": message.role, "content": content}
    left_out = cut
    if shown.reasoning and message.reasoning:
        fields["reasoning"], cut = _cut(message.reasoning, shown.message_characters)
        left_out += cut
    if message.tool_calls:
        calls = [_shown_call(call.name, call.arguments, shown) for call in message.tool_calls]
        fields["calls"] = [call for call, _ in calls[:_MOST_CALLS]]
        left_out += sum(cut for _, cut in calls)
        if len(calls) > _MOST_CALLS:
            fields["calls_left_out"] = len(calls) - _MOST_CALLS
    if message.is_error:
        fields["is_error"] = True
    return _ShownLine(json_line({**fields, **_left_out(left_out)}), index, left_out)


def _calls(view: View, transcript: Transcript, shown: Shown) -> None:
    """Add the first and the last calls to the view, as many as the limits allow."""
    history = history_of(transcript)
    given = (call.arguments for message in transcript.messages for call in message.tool_calls)
    runs = list(zip(history.calls, given, strict=True))

    def line(number: int) -> _ShownLine:
        run, arguments = runs[number]
        call, cut = _shown_call(run.tool, arguments, shown)
        result = None if run.result_message is None else transcript.messages[run.result_message]
        fields: JsonObject = {"call": number + 1, "message": run.message, **call}
        fields["ended"] = _ended(run)
        if result is not None:
            fields["result_characters"] = len(result.content)
        return _ShownLine(json_line({**fields, **_left_out(cut)}), run.message, cut)

    first, last = _from_both_ends(len(runs), line, shown.characters)
    begin = len(view.lines)
    _add(view, [*first, *last])
    if not runs:
        view.lines.append(json_line({"calls": "none was made"}))
    missing = len(runs) - len(first) - len(last)
    if missing:
        at = begin + len(first)
        view.leave_out(f"{counted(missing, 'call')}, from number {len(first) + 1} on", at)


def _from_both_ends(
    count: int, line: Callable[[int], _ShownLine], characters: int
) -> tuple[list[_ShownLine], list[_ShownLine]]:
    """Return lines from the front and from the back, by turns, until `characters` are used up.

    `line` makes the line with a number below `count`.
    """
    first: list[_ShownLine] = []
    last: deque[_ShownLine] = deque()
    while len(first) + len(last) < min(count, _MOST_CALLS):
        from_front = len(first) <= len(last)
        one = line(len(first) if from_front else count - 1 - len(last))
        characters -= len(one.text)
        if characters < 0 and first:  # one call is always shown
            break
        if from_front:
            first.append(one)
        else:
            last.appendleft(one)
    return first, list(last)


def _sizes(view: View, transcript: Transcript, shown: Shown) -> None:
    del shown
    messages = [one for one in transcript.messages if one.role not in SYSTEM_ROLES]
    sizes = {
        "messages": len(messages),
        "characters": sum(len(message.content) for message in messages),
        "characters_of_tool_results": sum(
            len(message.content) for message in messages if message.tool_call_id is not None
        ),
        "calls": sum(len(message.tool_calls) for message in messages),
    }
    view.lines.append(json_line({"sizes": sizes}))


_SECTIONS: Mapping[str, Callable[[View, Transcript, Shown], None]] = {
    "messages": _messages,
    "calls": _calls,
    "sizes": _sizes,
}


def _shown_call(tool: str, arguments: JsonValue, shown: Shown) -> tuple[JsonObject, int]:
    """Return a call's tool and arguments, long ones cut, and the number of characters left out."""
    text, value = written(arguments)
    kept, cut = _cut(text, max(1, shown.message_characters // _CALL_SHARE))
    name, name_cut = _cut(tool, shown.message_characters)
    return {"tool": name, "arguments": kept if cut else value}, cut + name_cut


def _ended(call: HistoryCall) -> str:
    if call.dangles:
        return "without a result"
    return "well" if call.ok else f"in failure ({call.ok_reason})"


def _cut(text: str, limit: int) -> tuple[str, int]:
    """Return up to `limit` characters of a text, from both ends, and how many are left out."""
    over = len(text) - limit
    if over <= 0:
        return text, 0
    tail = limit // 3
    return f"{text[: limit - tail]} … {text[len(text) - tail :]}" if limit else "", over


def _left_out(characters: int) -> JsonObject:
    return {"left_out_characters": characters} if characters else {}


def _add(view: View, lines: Iterable[_ShownLine]) -> None:
    for line in lines:
        view.lines.append(line.text)
        view.messages.add(line.message)
        if line.left_out:
            view.left_out.append(f"{line.left_out} characters of message {line.message}")
