"""Everything that was seen of one server, and whose fault each answer is.

Fault is judged from the model's raw text and the calls that the API returned. With the raw text,
what tunaeval reads in it is what the API should have returned. Without it, only faults that no
model can cause are blamed on the server: no message, malformed calls, leaked markup.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from math import comb

from tunaeval.clients.statuses import meaning
from tunaeval.parsing.api import parse_levels
from tunaeval.showing import counted
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import JsonObject, JsonValue, json_key
from tunaeval.types.parsing import ParseResult

from . import asks
from .reading import raw_in_error
from .values import Api, ApiCall, Ask, Judgement, ServerAnswer, ServerIdentity, WantedCall

CASES = 2
"""The number of gate calls, of three, that a model has to copy before it is tested further."""

_ORDER = ("server", "model", "note", "not tested", "pass")


@dataclass(frozen=True)
class Seen:
    """The answers of one server by the key of their request, in the order in which they arrived."""

    server: ServerIdentity
    answers: Mapping[str, Sequence[ServerAnswer]] = field(default_factory=dict)
    stopped: str | None = None
    """Why the examination ended early, or None if it did not."""

    def all(self, ask: Ask) -> Sequence[ServerAnswer]:
        found = self.answers.get(ask.key)
        return found or [ServerAnswer(ask, failure=self.stopped or "not asked", skipped=True)]

    def one(self, ask: Ask) -> ServerAnswer:
        return self.all(ask)[0]

    def failed(self, wanted: Iterable[Ask], broken: Container[Api] = ()) -> tuple[int, int]:
        """Return how many answers to these requests say nothing about the server, and their number.

        Where every request with tools is refused for want of flags, that alone is the finding; and
        where streams of an API are known to be `broken`, those that came to nothing are.
        """
        answers = [answer for ask in wanted for answer in self.all(ask)]
        if mentions_flags(self.one(asks.ONE[0])):
            return 0, len(answers)
        streams = [a for a in answers if a.ask.streamed and a.failure and not a.skipped]
        known = sum(answer.ask.api in broken for answer in streams)
        return sum(map(_says_nothing, answers)) - known, len(answers)

    @cached_property
    def right(self) -> int:
        """How many of the three calls in `asks.GATE` the model copied, whole or streamed."""
        return sum(any(right(a) for ask in pair for a in self.all(ask)) for pair in asks.GATE)

    @property
    def refused(self) -> str | None:
        """The server's error if it refuses every request with tools, else None."""
        first = self.one(asks.ONE[0])
        if first.status is None or first.status < 400:
            return None
        good = (a for found in self.answers.values() for a in found if a.ok)
        return None if any(answer.ask.tools for answer in good) else first.error

    @property
    def nobody(self) -> bool:
        """Whether the examination stopped without an answer, and no refusal names a flag."""
        flags = mentions_flags(self.one(asks.ONE[0]))
        return self.stopped is not None and not self.raw_share[1] and not flags

    @cached_property
    def parses(self) -> bool:
        """Whether the server parsed any call of `asks.GATE`, so that its parser fits the model."""
        return any(a.calls for pair in asks.GATE for ask in pair for a in self.all(ask))

    @property
    def capable(self) -> bool:
        return self.right >= CASES

    @cached_property
    def native(self) -> str | None:
        """The format in which the model mostly writes calls, or None if no raw text has one."""
        found = [
            fmt
            for pair in (*asks.GATE, asks.TWO, asks.EMPTY, (asks.UNPARSED,))
            for ask in pair
            for answer in self.all(ask)
            if answer.ok and (fmt := format_of(answer)) is not None
        ]
        return Counter(found).most_common(1)[0][0] if found else None

    @cached_property
    def raw_share(self) -> tuple[int, int]:
        """The number of answers with raw text, and of all answers with a message."""
        good = [a for found in self.answers.values() for a in found if a.ok]
        return sum(answer.raw is not None for answer in good), len(good)

    def streams_nothing(self, ask: Ask) -> str:
        """Return why the request, which was to be streamed, got no stream; "" if it got one.

        The server answers a streaming request with one JSON object, or it fails every streaming
        request and answers the others.
        """
        answered = [a for a in self.all(ask) if not a.skipped and meaning(a.status).about != "key"]
        if not ask.streamed or not answered:
            return ""
        came_whole = ("frame-none" in dict(one.stream_faults) for one in answered)
        good = (one.ask for one in chain(*self.answers.values()) if one.ok)
        if not all(came_whole) and {one.streamed for one in good if one.api == ask.api} != {False}:
            return ""
        fails = all(one.failure for one in answered)
        return "the server's streams come to nothing" if fails else "the server does not stream"

    def blame(self, answer: ServerAnswer) -> Judgement:
        judged = blame(answer, self.native)
        is_open = answer.ok and not answer.cut and answer.ask.api != "chat"
        is_open = is_open and judged.verdict in ("model", "note")
        return (self._lost(answer) if is_open else None) or judged

    def _lost(self, answer: ServerAnswer) -> Judgement | None:
        """Return the fault of an answer that has fewer calls than its tokens paid for.

        Only APIs that never reveal the raw text are judged so.

        How many tokens a character of a call takes is shown by answers that have their calls and
        nothing else: to this request, over any API, or else to the first one. More than one means
        that the model has thoughts that nobody sees.
        """
        tokens, missing = answer.completion_tokens, [*answer.ask.calls]
        for call in answer.calls:
            found = next((one for one in missing if same_calls([call], [one])), None)
            if found is None:
                return None
            missing.remove(found)
        whole = [a for every in self.answers.values() for a in every if _has_calls_alone(a)]
        names = (answer.ask.name, asks.ONE[0].name)
        known = ([a for a in whole if a.ask.name == name] for name in names)
        rates = [
            (a.completion_tokens or 0) / _size(a.ask.calls) for a in next(filter(None, known), [])
        ]
        if not (missing and tokens and rates) or answer.reasoning or max(rates) > 1:
            return None
        lost = _size(missing)
        seen = _size(answer.ask.calls) - lost + len(answer.text)
        if tokens <= max(rates) * (seen + lost / 2):
            return None
        words = f"{counted(len(missing), 'call')} missing, and {tokens} tokens were written"
        return Judgement("server", f"{words}, which is as many as with all calls", "calls-lost")


def _has_calls_alone(answer: ServerAnswer) -> bool:
    is_called = answer.ok and bool(answer.calls) and bool(answer.completion_tokens)
    alone = not (answer.reasoning or answer.text.strip())
    return is_called and alone and same_calls(answer.calls, answer.ask.calls)


def _size(calls: Iterable[WantedCall]) -> int:
    """Return how many characters calls have in their names and arguments."""
    return sum(len(call.name) + len(json.dumps(call.arguments)) for call in calls)


def _says_nothing(answer: ServerAnswer) -> bool:
    named = answer.lost or "model" not in answer.ask.more  # one is to be refused as unknown
    return not answer.ok and unanswered(answer).verdict == "not tested" and named


def mentions_flags(answer: ServerAnswer) -> bool:
    """Whether a refusal names the flags with which vLLM has to be started."""
    return "enable-auto-tool-choice" in (answer.error or "")


def worst(judgements: Iterable[Judgement]) -> Judgement:
    """Return the most serious judgement: a server's fault before a model's, and a pass last."""
    return min(judgements, key=lambda judged: _ORDER.index(judged.verdict))


def compare_pair(wholes: Sequence[ServerAnswer], streams: Sequence[ServerAnswer]) -> Judgement:
    """Judge whether whole and streamed answers to a request have the same calls.

    If the first answers differ, their raw texts decide, if known. Else the server is blamed only if
    the n answers of each mode agree and the modes differ: by chance, 2 of C(2n, n) orders do.
    """
    wholes = [answer for answer in wholes if answer.ok]
    streams = [answer for answer in streams if answer.ok]
    if not wholes or not streams:
        return Judgement("not tested", "there is no answer in both modes")
    if alike(wholes[0], streams[0]):
        return Judgement("pass", "the same calls, whole and streamed")
    raws = trusted_raw(wholes[0]), trusted_raw(streams[0])
    # A server may reveal a raw text only by leaving all of it in the content.
    if None not in (*raws, wholes[0].raw, streams[0].raw):
        if raws[0] != raws[1]:
            return Judgement("pass", "the model wrote two texts; each is judged by itself")
        words = "one text of the model gave other calls streamed than whole"
        return Judgement("server", words, "stream-differs", streams[0])
    return _by_repeats(wholes, streams)


def _by_repeats(wholes: Sequence[ServerAnswer], streams: Sequence[ServerAnswer]) -> Judgement:
    count = min(len(wholes), len(streams))
    steady = all(alike(found[0], other) for found in (wholes, streams) for other in found)
    if count < CASES or not steady:
        words = f"they differ, and so do {count} repeats of one mode: unstable"
        words = words if count >= CASES else "they differ once; repeats were not asked"
        return Judgement("note", words, answer=streams[0], undecided=True)
    chance = 2 / comb(2 * count, count)
    words = (
        f"streamed and whole differ, each the same in all of {count} answers "
        f"(by chance: {100 * chance:.1f} %)"
    )
    wrong = streams[0] if not same_calls(streams[0].calls, streams[0].ask.calls) else wholes[0]
    return Judgement("server", words, "stream-differs", wrong)


def alike(a: ServerAnswer, b: ServerAnswer) -> bool:
    """Whether two answers have equal calls, and both or neither leak calls into the content.

    If either was cut, only calls that are complete in both are compared.
    """
    if a.cut or b.cut:
        both = zip(a.calls, b.calls, strict=False)
        return all(_same_call(x, y) for x, y in both if None not in (x.object, y.object))
    calls = len(a.calls) == len(b.calls) and all(map(_same_call, a.calls, b.calls))
    return calls and (leak(a) is None) == (leak(b) is None)


def _same_call(a: ApiCall, b: ApiCall) -> bool:
    if a.name != b.name:
        return False
    if a.object is None or b.object is None:
        return a.object is b.object and a.arguments == b.arguments
    return json_key(a.object) == json_key(b.object)


UNMARKED = frozenset({"json", "fence", "loose-json", "llama3-bare", "tool-code"})
"""Formats that have no marker of their own, so that prose may look like a call."""

CODE = frozenset({"fence", "loose-json"})
"""Formats that no server parses: a call shown as code, or near-JSON inside prose."""

_SPECIAL = re.compile(r"<[|\uff5c][^|<>\uff5c]{1,40}[|\uff5c]>|\[/?[A-Z_]{3,20}\]")
_WORDS = 8  # the fewest letters of prose beside calls whose loss is reported
_LETTERS = 3
"""A sentence that is shorter by this many letters has lost text, not just punctuation."""
CALL_MARKUP = re.compile(
    r"</?(?:tool_calls?|function|parameter|arg_value)\b[^<>]{0,40}>|<\|[^|<>]{1,40}\|>"
    r"|\[/?TOOL_CALLS\]"
)
_OF_CALLS = frozenset(
    {"value-changed", "name-changed", "call-invented", "calls-lost", "arguments-broken"}
)
"""Faults in the calls themselves, as opposed to faults in the content beside them."""


def blame(answer: ServerAnswer, native: str | None = None) -> Judgement:
    """Return the verdict on one answer; `native` is the format of the model's calls."""
    return replace(_blamed(answer, native), answer=answer)


def _blamed(answer: ServerAnswer, native: str | None) -> Judgement:
    if not answer.ok:
        return unanswered(answer)
    cut = answer.cut
    if thought_in(answer.text):
        words = "reasoning is in the content: the server does not know how this model thinks"
        return Judgement("server", words, "reasoning-leaks")
    shape = None if cut else misshapen(answer)
    raw = trusted_raw(answer)
    if raw is None:
        return shape or _without_raw(answer, cut=cut)
    levels = parse_levels(raw, tools=to_tools(answer.ask.tools))
    read = levels["standard"]
    if same_calls(answer.calls, answer.ask.calls) and not read.calls:
        # The API's calls cannot come from this text, so it is not the raw one.
        return shape or _without_raw(answer, cut=cut)
    verdict = _with_raw(answer, levels["strict"], read, native, cut=cut)
    if shape is not None and verdict.verdict != "model":
        verdict = shape
    elif verdict.fault in _OF_CALLS and same_calls(answer.calls, answer.ask.calls):
        # No server can produce exactly the requested calls from a text that lacks them.
        verdict = Judgement("pass", "the API gave what was asked")
    return replace(verdict, read=_reading(read, raw))


def reading_of(answer: ServerAnswer, text: str) -> ParseResult:
    """Return what tunaeval reads in a text that an answer has."""
    return parse_levels(text, tools=to_tools(answer.ask.tools))["standard"]


def written(read: ParseResult) -> list[WantedCall]:
    """Return the calls that the model wrote."""
    return [WantedCall(call.name, call.arguments) for call in read.calls]


def trusted_raw(answer: ServerAnswer) -> str | None:
    """Return the raw text of an answer, or None if the server did not reveal it.

    Content without calls is raw text itself: the parser removed nothing. Some servers report only
    the tokens of the content once they have found calls; such a text is not the raw one. Nor is one
    of fewer tokens than the server counted, but for a token that ends the answer.
    """
    counts = answer.raw_tokens, answer.completion_tokens
    raw = answer.raw
    if counts[0] is not None and counts[1] is not None and counts[0] < counts[1] - 1:
        raw = None
    if not answer.calls and answer.text and not raw:
        return answer.text
    short = raw is not None and len(raw) <= len(answer.text)
    if short and answer.calls and leak(answer) is None:
        return None
    return raw or None


def right(answer: ServerAnswer) -> bool:
    """Whether the model wrote the requested calls, judged by the API's calls, raw text or error."""
    wanted = answer.ask.calls
    if not answer.ok and answer.error:
        raw = raw_in_error(answer.error)
    else:
        raw = trusted_raw(answer)
        if same_calls(answer.calls, wanted):
            return True
    return bool(raw) and same_calls(written(reading_of(answer, raw or "")), wanted)


def format_of(answer: ServerAnswer) -> str | None:
    """Return the format in which the raw text writes its first call, or None if it has no call."""
    raw = trusted_raw(answer)
    if not raw:
        return None
    calls = reading_of(answer, raw).calls
    return calls[0].format if calls else None


def leak(answer: ServerAnswer) -> ParseResult | None:
    """Return the parse of the content if it has a call inside call markers, else None."""
    if not answer.text:
        return None
    found = reading_of(answer, answer.text)
    marked = [call for call in found.calls if call.format not in UNMARKED]
    return found if marked else None


def thought_in(text: str | None) -> bool:
    """Whether a text has reasoning in it, by the markers of any format."""
    return parse_levels(text or "")["standard"].reasoning is not None


def same_calls(calls: Sequence[ApiCall | WantedCall], wanted: Sequence[WantedCall]) -> bool:
    """Whether calls are the wanted ones, in their order."""
    return len(calls) == len(wanted) and all(
        call.name == want.name and json_key(call.object) == json_key(want.arguments)
        for call, want in zip(calls, wanted, strict=True)
    )


def _without_raw(answer: ServerAnswer, *, cut: bool) -> Judgement:
    wanted = answer.ask.calls
    leaked = leak(answer)
    if leaked is not None and not cut:
        reported = _reading(leaked, answer.text)
        return Judgement("server", "calls are in the content", "calls-in-content", read=reported)
    if same_calls(answer.calls, wanted):
        return Judgement("pass", "as asked")
    if cut:
        return Judgement("model", "it wrote until max_tokens")
    words = "no call" if not answer.calls else _differ(answer.calls, wanted)
    words = f"{words}; without the raw text nobody can say whose fault it is"
    return Judgement("note", words, undecided=True)


def _with_raw(
    answer: ServerAnswer, strict: ParseResult, read: ParseResult, native: str | None, *, cut: bool
) -> Judgement:
    """Return the verdict that follows from comparing the API's calls with those in the raw text."""
    sound = [call for call in read.calls if all(repair.code == "type" for repair in call.repairs)]
    expected = written(read)
    if not read.calls and not answer.calls:
        return _no_call(answer, read)
    complete = [call for call in answer.calls if call.object is not None]
    if cut and len(complete) <= len(expected) <= len(answer.calls):
        return Judgement("model", "it wrote until max_tokens")
    if same_calls(answer.calls, expected) or same_calls(answer.calls, written(strict)):
        return _content_kept(answer, read) or _as_asked(answer, expected)
    if not read.calls:
        if read.outcome == "no_call":
            words = "the API has a call, and the model wrote none"
            return Judgement("server", words, "call-invented")
        return Judgement("note", "lenient: the server made calls of malformed text")
    if len(sound) < len(read.calls):
        codes = {repair.code for call in read.calls for repair in call.repairs} - {"type"}
        return Judgement("model", f"its calls need repair: {', '.join(sorted(codes))}")
    if not answer.calls:
        return _lost(answer, read, native)
    return _changed(answer, expected)


def _no_call(answer: ServerAnswer, read: ParseResult) -> Judgement:
    if not answer.ask.calls:
        passed = Judgement("pass", "no call was wanted, and none was made")
        return _prose_kept(answer, read) or passed
    codes = ", ".join(sorted({diagnosis.code for diagnosis in read.diagnoses}))
    return Judgement("model", f"it wrote no call ({codes or read.outcome})")


def _prose_kept(answer: ServerAnswer, read: ParseResult) -> Judgement | None:
    """Return a fault if the content lacks prose that the model wrote outside of its reasoning."""
    content, given = ("".join(text.split()) for text in (read.content, answer.text))
    thought = answer.reasoning or read.reasoning is not None
    if answer.cut or thought or _SPECIAL.search(content) or given not in content:
        return None
    left = re.sub(r"<[^<>]*>", "", content.replace(given, "", 1) if given else content)
    if sum(map(str.isalnum, left)) < _LETTERS:
        return None
    return _content_lost(read.content)


def _content_lost(content: str) -> Judgement:
    return Judgement("server", f"content of the model is lost: {content!r:.80}", "content-lost")


def _lost(answer: ServerAnswer, read: ParseResult, native: str | None) -> Judgement:
    """Return the verdict where the model wrote sound calls and the API returned none."""
    fmt = read.calls[0].format
    if fmt in CODE or (fmt in UNMARKED and native != fmt):
        return Judgement("model", f"it wrote the call as {fmt}, which a server need not read")
    if fmt in UNMARKED:
        words = f"it writes calls as bare {fmt}: its format, if the parser is one for that"
        return Judgement("note", words, "calls-in-content", undecided=True)
    words = f"{len(read.calls)} sound calls ({fmt}) are"
    if answer.text.strip():
        return Judgement("server", f"{words} left in the content", "calls-in-content")
    return Judgement("server", f"{words} lost", "calls-lost")


def _changed(answer: ServerAnswer, expected: Sequence[WantedCall]) -> Judgement:
    if len(answer.calls) != len(expected):
        fault = "calls-lost" if len(answer.calls) < len(expected) else "call-invented"
        wrote = counted(len(expected), "call")
        words = f"the model wrote {wrote}, and the API has {len(answer.calls)}"
        return Judgement("server", words, fault)
    for call, want in zip(answer.calls, expected, strict=True):
        if call.object is None:
            words = f"arguments of {call.name} are no JSON object"
            return Judgement("server", words, "arguments-broken")
        if call.name != want.name:
            return Judgement("server", f"{want.name} became {call.name}", "name-changed")
    return Judgement("server", _differ(answer.calls, expected), "value-changed")


def _differ(calls: Sequence[ApiCall], wanted: Sequence[WantedCall]) -> str:
    """Describe the first difference between the calls and the wanted ones."""
    if len(calls) != len(wanted):
        were = "was" if len(wanted) == 1 else "were"
        return f"{counted(len(wanted), 'call')} {were} wanted, and the answer has {len(calls)}"
    for call, want in zip(calls, wanted, strict=True):
        if call.name != want.name:
            return f"{want.name} was wanted, and {call.name} called"
        found = call.object
        if found is None:
            return f"the arguments of {want.name} are no JSON object"
        for key in [*want.arguments, *(key for key in found if key not in want.arguments)]:
            if key not in found:
                return f"{want.name}.{key} is missing"
            if key not in want.arguments or json_key(found[key]) != json_key(want.arguments[key]):
                was = json.dumps(want.arguments.get(key), ensure_ascii=False)
                now = json.dumps(found[key], ensure_ascii=False)
                return f"{want.name}.{key}: {_ends_of(was)} became {_ends_of(now)}"
    return "they are the same"


def _ends_of(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:50]}...{text[-27:]}"


def _as_asked(answer: ServerAnswer, expected: Sequence[WantedCall]) -> Judgement:
    """Return a pass if the model wrote the requested calls, else a judgement against it."""
    wanted = answer.ask.calls
    if same_calls(expected, wanted):
        return Judgement("pass", "the API gave what the model wrote, which is what was asked")
    if wanted and same_calls(answer.calls[: len(wanted)], wanted):
        words = f"the model made {len(answer.calls)} calls, and was asked for {len(wanted)}"
        return Judgement("note", f"{words}; the server returns them as they are")
    words = f"it wrote something else than asked: {_differ(answer.calls, wanted)}"
    return Judgement("model", words)


def _content_kept(answer: ServerAnswer, read: ParseResult) -> Judgement | None:
    content = _SPECIAL.sub("", read.content).strip()
    if answer.calls and sum(map(str.isalpha, content)) >= _WORDS and not answer.text.strip():
        return _content_lost(content)
    if answer.calls and (leaked := leak(answer)) is not None:
        words = f"in the content, too, there is {counted(len(leaked.calls), 'call')}"
        return Judgement("server", words, "calls-in-content")
    # Call markup that is left in the content and is not part of the model's own prose.
    left = CALL_MARKUP.search(answer.text) if answer.calls else None
    if left is None or left[0] in read.content:
        return None
    words = f"markup is left in the content beside the call: {left[0]!r}"
    return Judgement("server", words, "calls-in-content")


def _reading(read: ParseResult, raw: str) -> JsonObject:
    """Return what tunaeval reads in the raw text, with the spans of its calls, as JSON."""
    calls: list[Mapping[str, JsonValue]] = [
        {
            "name": call.name,
            "arguments": call.arguments,
            "format": call.format,
            "span": list(call.span) if call.span else None,
        }
        for call in read.calls
    ]
    return {
        "raw": raw,
        "outcome": read.outcome,
        "calls": calls,
        "diagnoses": [diagnosis.code for diagnosis in read.diagnoses],
    }


LOST_TOKENS = 8
"""An answer with this many tokens cannot be empty."""


def unanswered(answer: ServerAnswer) -> Judgement:
    """Return the judgement of a request that got no message."""
    if answer.error is None:
        return Judgement("not tested", answer.failure or "not asked", answer=answer)
    if meaning(answer.status).about in ("address", "key", "load", "absence"):
        return Judgement("not tested", f"status {answer.status}: {answer.error}", answer=answer)
    kind = "refuses the request" if answer.status and answer.status < 500 else "fails"
    if answer.status == 200:
        kind = "gives no message"
    words = f"the server {kind} ({answer.status}): {answer.error}"
    if raw_in_error(answer.error) is not None:
        words = f"{answer.status} instead of an answer: {answer.error}"
    return Judgement("server", words, "error", answer)


def is_refused(answer: ServerAnswer) -> bool:
    """Whether the server refuses this very request, not just a wrong key or too many requests."""
    of_client = answer.status is not None and 400 <= answer.status < 500
    return of_client and unanswered(answer).verdict == "server"


def misshapen(answer: ServerAnswer) -> Judgement | None:
    """Return the verdict on calls whose shape is wrong, which only a server can cause, or None."""
    words, fault = next(_odd_shapes(answer), ("", ""))
    return Judgement("server", words, fault, answer) if fault else None


def _odd_shapes(answer: ServerAnswer) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the shape of each call, and the fault."""
    for call in answer.calls:
        if not isinstance(call.name, str) or not call.name:
            yield f"a call's name is {call.name!r}", "shape"
        elif not isinstance(call.arguments, str):
            kind = type(call.arguments).__name__
            yield f"arguments are {kind}, not a string of JSON", "arguments-object"
        elif not call.arguments.strip():
            yield f'arguments of {call.name} are "", which is no JSON', "empty-arguments"
    text, tokens = answer.text.strip() or answer.reasoning.strip(), answer.completion_tokens or 0
    if not answer.calls and not text and tokens >= LOST_TOKENS:
        yield f"{tokens} tokens were written, and the answer is empty", "calls-lost"
