"""All checks of the doctor: the requests, the rule that judges the answers, and the remedy.

Rules send no requests; they judge the answers. The rules on what reaches the prompt compare the
prompt tokens that the server reports, so that the model needs no skill: one text is put into
several parts of a request, and each time the prompt has to grow by more than half of what the text
adds to a plain message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from tunaeval.parsing.api import parse_message
from tunaeval.showing import brief, counted
from tunaeval.tools.specs import to_tools

from . import asks
from .asks import MANY
from .blame import (
    CALL_MARKUP,
    CODE,
    Seen,
    compare_pair,
    format_of,
    is_refused,
    leak,
    misshapen,
    reading_of,
    same_calls,
    thought_in,
    trusted_raw,
    unanswered,
    worst,
)
from .values import APIS, Ask, Judgement, ServerAnswer, Verdict

Rule: TypeAlias = Callable[[Seen, Sequence[Ask]], Judgement]
Judge: TypeAlias = Callable[[Seen, ServerAnswer], Judgement]


def each(judge: Judge, refusal: Verdict | None = None) -> Rule:
    """Return a rule that judges every answer separately and reports the worst judgement, and with
    it every other fault of the server.

    `judge` sees the answers with a message. A refusal of the very request has the verdict
    `refusal`, or is judged, as all that is no message, by why it is none.
    """

    def one(seen: Seen, answer: ServerAnswer) -> Judgement:
        if answer.ok:
            found = judge(seen, answer)
        elif refusal is not None and is_refused(answer):
            found = Judgement(refusal, f"refused: {answer.error}")
        else:
            found = unanswered(answer)
        return replace(found, answer=found.answer or answer)

    def rule(seen: Seen, wanted: Sequence[Ask]) -> Judgement:
        judged = [one(seen, answer) for ask in wanted for answer in seen.all(ask)]
        faults: dict[tuple[str, str], Judgement] = {}
        for found in (found for all_ in judged for found in (all_, *all_.others)):
            if found.verdict == "server":
                faults.setdefault((found.mode, found.fault), found)
        first, *others = faults.values() or [worst(judged)]
        return replace(first, others=tuple(others))

    return rule


def _fault_or(fine: str, words: str, fault: str) -> Judgement:
    """Return a fault of the server if there are words for it, else a pass."""
    return Judgement("server", words, fault) if words else Judgement("pass", fine)


def as_written(seen: Seen, answer: ServerAnswer) -> Judgement:
    """Check that the API returns what the model wrote."""
    return seen.blame(answer)


def accepted(_: Seen, __: ServerAnswer) -> Judgement:
    """Check that the request is accepted, regardless of the model's answer."""
    return Judgement("pass", "accepted")


def sound_ids(_: Seen, answer: ServerAnswer) -> Judgement:
    """Check that each call has an id that no other call has, and the type "function"."""
    ids, words = [call.id for call in answer.calls], ""
    if any(not isinstance(id_, str) or not id_ for id_ in ids):
        words = f"ids of calls are {brief(ids, 80)}"
    elif len(set(ids)) < len(ids):
        words = f"two calls have one id: {brief(ids, 80)}"
    elif kinds := [call.type for call in answer.calls if call.type != "function"]:
        words = f"a call's type is {kinds[0]!r}"
    return _fault_or("each call has an id", words, "call-ids")


def ids_apart(seen: Seen, wanted: Sequence[Ask]) -> Judgement:
    """Check the ids of each answer, and that no two have one in common, but for Kimi K2's `f:0`."""
    judged = each(sound_ids)(seen, wanted)
    ids = [str(call.id) for ask in wanted for one in seen.all(ask) for call in one.calls]
    again = next((id_ for id_ in ids if ids.count(id_) > 1 and ":" not in id_), None)
    words = f"in the answers there are {ids.count(str(again))} calls with the id {brief(again, 40)}"
    note = Judgement("note", words, "ids-again", judged.answer)
    return note if again and judged.verdict == "pass" else judged


def honest_finish(_: Seen, answer: ServerAnswer) -> Judgement:
    """Check that the finish reason is tool_calls if and only if there are calls."""
    reason, words = answer.finish, ""
    if not answer.cut and (reason is None or bool(answer.calls) != (reason == "tool_calls")):
        words = f"the finish reason beside {counted(len(answer.calls), 'call')} is {reason!r}"
    return _fault_or("as it is", words, "finish-reason")


def one_at_a_time(seen: Seen, answer: ServerAnswer) -> Judgement:
    """Check that `parallel_tool_calls: false` leaves at most one call."""
    if not answer.calls and leak(answer) is not None:
        return seen.blame(answer)
    several = len(answer.calls) > 1
    words = f"parallel_tool_calls is false, and there are {len(answer.calls)} calls"
    judged = _fault_or("at most one call", words * several, "parallel-ignored")
    return judged if several else misshapen(answer) or judged


def no_call_at_none(_: Seen, answer: ServerAnswer) -> Judgement:
    """Check that `tool_choice: none` gives neither a call nor call markup."""
    if answer.calls:
        words = f"tool_choice is none, and {answer.calls[0].name} is called"
        return Judgement("server", words, "choice-ignored")
    words = "tool_choice is none, and the markup of a call is in the content"
    return _fault_or("no call", words * (leak(answer) is not None), "none-markup")


def enforced(seen: Seen, answer: ServerAnswer) -> Judgement:
    """Check that `tool_choice: required` gives a call, and a named choice one of that tool."""
    named = answer.ask.more.get("tool_choice") == asks.NAMED
    choice = "a named tool" if named else "required"
    wrong = [c.name for c in answer.calls if named and c.name != asks.NAMED["function"]["name"]]
    if wrong:
        words = f"tool_choice is {choice}, and {wrong[0]} is called"
        return Judgement("server", words, "choice-ignored")
    if not answer.calls and leak(answer) is not None:
        return seen.blame(answer)  # the choice was enforced, but the server did not parse the call
    if not answer.calls and format_of(answer) not in (None, *CODE):
        words = f"tool_choice is {choice}, the model wrote a call, and the API has none"
        return replace(seen.blame(answer), verdict="server", why=words, fault="calls-lost")
    if not answer.calls:
        words = f"tool_choice is {choice}, and there is no call: it is not enforced"
        return Judgement("server", words, "choice-ignored")
    if (wrong_shape := misshapen(answer)) is not None or answer.cut:
        return wrong_shape or Judgement("pass", "enforced until it was cut")
    if (outside := _outside_schema(answer)) is not None:
        words = f"tool_choice is {choice}, and the call is outside of the tool's schema: {outside}"
        verdict: Verdict = "server" if seen.server.kind in _CONSTRAIN else "note"
        return Judgement(verdict, words, "schema-forced")
    return Judgement("pass", "enforced")


_CONSTRAIN = ("llama.cpp", "TGI")
"""Servers that force calls by a grammar of the tool's schema, whether or not it is `strict`."""
_OUTSIDE = {"wrong-type", "missing-argument", "unknown-argument", "not-allowed", "invalid-json"}


def _outside_schema(answer: ServerAnswer) -> str | None:
    """Return what is wrong with the arguments of the calls by the schemas of the tools, or None."""
    calls = [
        {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in answer.calls
    ]
    read = parse_message({"tool_calls": calls}, tools=to_tools(answer.ask.tools), level="strict")
    return next((one.message for one in read.diagnoses if one.code in _OUTSIDE), None)


def refused(_: Seen, __: ServerAnswer) -> Judgement:
    """Check that an invalid tool_choice is refused."""
    return Judgement("note", "tool_choice 'whatever' is accepted in silence", "choice-unknown")


def known_model(seen: Seen, wanted: Sequence[Ask]) -> Judgement:
    """Check that an unknown model is refused, or that the server ignores the model's name."""
    answer = seen.one(wanted[0])
    if answer.error is not None and answer.status is not None and answer.status < 500:
        return Judgement("pass", f"refused with {answer.status}", answer=answer)
    return each(accepted)(seen, wanted)


def within_schema(_: Seen, answer: ServerAnswer) -> Judgement:
    """Check that with `strict` a value is one of its enum, or that the request is refused."""
    colours = [(call.object or {}).get("colour") for call in answer.calls]
    if any(colour not in ("red", "green") for colour in colours):
        words = f"strict is set, and a value is outside its enum: {brief(colours)}"
        return Judgement("note", words, "strict-ignored")
    return Judgement("pass", "within the enum")


def cut_is_cut(_: Seen, answer: ServerAnswer) -> Judgement:
    """Check that a call cut by max_tokens is reported as cut and never looks complete."""
    if same_calls(answer.calls, answer.ask.calls):
        return Judgement("not tested", "max_tokens is not kept: nothing was cut")
    whole = [call for call in answer.calls if call.object is not None]
    if whole:
        words = f"a call that was cut looks complete: {brief(whole[0].arguments)}"
        return Judgement("server", words, "cut-complete")
    if answer.calls and not answer.cut:
        words = f"a call was cut, and the finish reason is {answer.finish!r}"
        return Judgement("server", words, "cut-finish")
    if not answer.cut:
        return _not_called_cut(answer)
    if not answer.calls and (answer.reasoning or thought_in(answer.raw)):
        written = (answer.raw or "") + answer.text
        if not CALL_MARKUP.search(written):
            return Judgement("not tested", "max_tokens ended it in its thought")
    if CALL_MARKUP.search(answer.text):
        words = "the markup of the call that was cut is in the content, with 'length'"
        return Judgement("note", words, "cut-markup")
    return Judgement("pass", "reported as length")


def _not_called_cut(answer: ServerAnswer) -> Judgement:
    """Judge an answer without a whole call and without the finish reason that says why.

    A model may end its text at the very token that is the last one allowed, but hardly in a call.
    """
    tokens, words = answer.completion_tokens, f"the finish reason is {answer.finish!r}"
    if tokens is None or tokens < answer.ask.max_tokens:
        by_itself = answer.finish == "stop" and tokens is not None
        words = (
            "the model stopped by itself" if by_itself else f"nobody knows if it is cut: {words}"
        )
        return Judgement("not tested", words)
    words = f"max_tokens ended it after {tokens} tokens, and {words}"
    if reading_of(answer, trusted_raw(answer) or "").outcome == "truncated":
        return Judgement("server", words, "cut-finish")
    return Judgement("note", words, "cut-finish", undecided=True)


def thought_apart(seen: Seen, answer: ServerAnswer) -> Judgement:
    """Check that reasoning is kept out of the content, and that a call after it is parsed."""
    if not answer.reasoning and not thought_in(answer.raw) and not thought_in(answer.text):
        return Judgement("pass", "no reasoning was seen")
    return seen.blame(answer)


def same_in_both(seen: Seen, wanted: Sequence[Ask]) -> Judgement:
    """Check that whole and streamed answers to each request are equivalent."""
    judged = [compare_pair(seen.all(w), seen.all(s)) for w, s in pairs(wanted)]
    return worst(judged) if judged else Judgement("not tested", "nothing was asked in both modes")


def pairs(wanted: Sequence[Ask]) -> Iterator[tuple[Ask, Ask]]:
    streamed = {ask.name: ask for ask in wanted if ask.streamed}
    for ask in wanted:
        if not ask.streamed and ask.name in streamed:
            yield ask, streamed[ask.name]


_LEAST_GROWTH = 10
"""The least growth in tokens from a text of 380 characters if the server counts tokens at all."""
_SHARE = 0.5  # of the growth that the same text causes in a plain message


def reaches(what: str, *, against: Ask, times: int = 1) -> Rule:
    """Return a rule that passes if the part of a request that `what` names reaches the prompt.

    The part has `asks.TEXT` in it `times` times. The prompt is compared with that of `against`, the
    same request without the text.
    """

    def rule(seen: Seen, wanted: Sequence[Ask]) -> Judgement:
        answer, plain = seen.one(wanted[0]), seen.one(asks.CONTROL)
        unit = _growth(seen, asks.CONTROL, asks.PLAIN) or 0
        # A prompt that lacks even the text of a plain message is not the one that was rendered.
        is_shown = answer.ok and answer.prompt and asks.TEXT in (plain.prompt or "")
        if is_shown and (answer.prompt or "").count(asks.TEXT) < times:
            words = f"{what} is not in the prompt that the server shows"
            return Judgement("server", words, "", answer)
        if is_shown and unit < _LEAST_GROWTH:
            return Judgement("pass", f"{what} is in the prompt that the server shows")
        if unit < _LEAST_GROWTH and not plain.skipped:
            words = "prompt_tokens do not grow with a message, so they show nothing"
            return Judgement("not tested", words)
        if not answer.ok:
            if times > 1 and is_refused(answer):
                return Judgement("pass", f"refused clearly: {answer.error}", answer=answer)
            # Separate checks test whether requests like this one are accepted at all.
            return Judgement("not tested", unanswered(answer).why, answer=answer)
        growth = _growth(seen, wanted[0], against)
        if growth is None:
            return Judgement("not tested", "prompt_tokens are not counted", answer=answer)
        words = f"{what}: the prompt grew by {growth} tokens, a message by {unit * times}"
        verdict: Verdict = "pass" if growth > _SHARE * unit * times else "server"
        return Judgement(verdict, words, "", answer)

    return rule


def result_reaches(seen: Seen, wanted: Sequence[Ask]) -> Judgement:
    """Check that a model that repeats what a message says also repeats what a tool's result says.

    A model that repeats neither proves nothing; then the token counts of the prompt decide.
    """
    answer = seen.one(wanted[0])
    if not answer.ok:
        return unanswered(answer)
    if _says_code(answer):
        return Judgement("pass", "the answer says what the tool's result says", answer=answer)
    by_count = reaches("a tool's result", against=asks.PAST)(seen, wanted[2:])
    if by_count.verdict == "server":
        words = "results never reach the prompt (results-in-prompt)"
        return Judgement("not tested", words, answer=answer)
    if _says_code(seen.one(wanted[1])):
        words = f"it says {asks.CODE_WORD} where a message says so, and not where a result does"
        return Judgement("note", words, "result-unseen", answer)
    if by_count.verdict == "pass":
        return Judgement("pass", "results are in the prompt; this model repeats nothing")
    return Judgement("not tested", "the model repeats nothing that it reads", answer=answer)


def _says_code(answer: ServerAnswer) -> bool:
    given = [answer.text, answer.reasoning, answer.raw or "", *map(str, answer.calls)]
    return any(asks.CODE_WORD in text for text in given)


def _growth(seen: Seen, longer: Ask, shorter: Ask) -> int | None:
    more, less = seen.one(longer).prompt_tokens, seen.one(shorter).prompt_tokens
    return None if more is None or less is None else more - less


_REMARKS = ("id-null",)
"""Faults that most clients tolerate."""


def without(prefixes: tuple[str, ...], fine: str) -> Judge:
    """Return a rule that a stream has no fault whose code begins with one of the prefixes."""

    def judge(_: Seen, answer: ServerAnswer) -> Judgement:
        found = [fault for fault in answer.stream_faults if fault[0].startswith(prefixes)]
        if not found:
            return Judgement("pass", fine)
        first, *others = [
            Judgement("note" if code in _REMARKS else "server", words, code, answer)
            for code, words in sorted(found, key=lambda fault: fault[0] in _REMARKS)
        ]
        return replace(first, others=tuple(others))

    return judge


_sound = without(("frame", "role", "text"), "every frame is sound, and [DONE] ends them")
_OFTEN = 2  # broken streams; a single one may be an accident of the network


def frames_sound(seen: Seen, wanted: Sequence[Ask]) -> Judgement:
    """Check that every frame is sound; one broken stream may be chance, two are a fault."""
    answers = [answer for ask in wanted for answer in seen.all(ask)]
    broken = [answer for answer in answers if answer.failure and not answer.skipped]
    # Where others break off now and then, too, or hang, the server fails, not its way to stream.
    others = [answer.tries for answer in answers if answer.ok]
    steadily = not others or (max(others) == 1 and all(one.tries > 1 for one in broken))
    if len(broken) >= _OFTEN and seen.stopped is None and steadily:
        words = f"{len(broken)} of {len(answers)} streams come to nothing: {broken[0].failure}"
        return Judgement("server", words, "frame-cut", broken[0])
    return each(_sound)(seen, wanted)


fragments_sound = without(("index", "id", "name", "type"), "one index, id and name for each call")


AROUND: tuple[Judge, ...] = (sound_ids, honest_finish, _sound, fragments_sound)
"""What is judged beside the calls of any answer; the first rule is for whole ones alone."""


def _usage(_: Seen, answer: ServerAnswer) -> Judgement:
    """Check that token counts are reported; a stream has them in a frame of its own."""
    if answer.uncounted and answer.prompt_tokens is None:
        words = "the server refuses stream_options, so no usage was asked for"
        return Judgement("not tested", words)
    if answer.prompt_tokens is None or answer.completion_tokens is None:
        where = "the stream" if answer.ask.streamed else "the answer"
        return Judgement("server", f"{where} has no usage", "usage-missing")
    if not answer.completion_tokens and (answer.calls or answer.text):
        words = f"completion_tokens is {answer.completion_tokens} beside an answer"
        return Judgement("note", words, "usage-differs")
    return Judgement("pass", "tokens are counted")


def counted_alike(seen: Seen, wanted: Sequence[Ask]) -> Judgement:
    """Check that token counts are reported, and that prompt tokens agree whole and streamed."""
    reported = each(_usage)(seen, wanted)
    if reported.verdict != "pass":
        return reported
    for whole, streamed in pairs(wanted):
        a, b = seen.one(whole), seen.one(streamed)
        if a.prompt_tokens != b.prompt_tokens:
            words = f"prompt_tokens of one request are {a.prompt_tokens}, and {b.prompt_tokens} "
            return Judgement("note", f"{words}streamed", "usage-differs", b)
    return reported


def steady(seen: Seen, wanted: Sequence[Ask]) -> Judgement:
    """Check that the repeats of a request are all blamed on the server, or none of them."""
    judged = [(ask, [seen.blame(a) for a in seen.all(ask) if not a.skipped]) for ask in wanted]
    for ask, found in judged:
        bad = [one for one in found if one.verdict == "server"]
        if 0 < len(bad) < len(found):
            words = f"{ask.key}: {len(bad)} of {len(found)} answers, now and then: {bad[0].why}"
            return Judgement("server", words, bad[0].fault, bad[0].answer)
    count = sum(len(found) for _, found in judged)
    if not count:
        return Judgement("not tested", seen.stopped or "not asked")
    untested = [one for _, found in judged for one in found if one.verdict == "not tested"]
    if len(untested) == count:
        return worst(untested)
    words = f"{count} answers, none lost now and then (95 % bound on the rate: {300 / count:.0f} %)"
    return Judgement("pass", words)


Needs: TypeAlias = Literal["nothing", "copying"]
"""What a check needs of the model: nothing, or the ability to copy a call (the gate)."""


@dataclass(frozen=True, slots=True)
class Check:
    """One property of a server to test.

    `rule` judges the answers to the requests `asks`, which other checks may share. `remedy` names
    the advice for a fault if the judgement names none.
    """

    name: str
    group: str
    asks: tuple[Ask, ...]
    rule: Rule
    remedy: str
    needs: Needs = "copying"

    @property
    def quick(self) -> bool:
        """Whether `--quick` includes this check: its first and main request is a quick one."""
        return self.asks[0].quick


TOOLS_ACCEPTED = "tools-accepted"
"""The check whose failure makes every other request with tools meaningless."""

AS_WRITTEN = "calls-as-written"
"""The check of plain calls, whose fault other calls have, too."""

TOOLS_IN_PROMPT = "tools-in-prompt"
"""The check whose failure means that no model can be asked for a call."""

STREAM_FRAMES = "stream-frames"
"""The check that reports a server that does not stream; other checks judge whole answers."""

_GATE = tuple(ask for pair in asks.GATE for ask in pair)
_CALLING = (*_GATE, *asks.EMPTY, *asks.TWO)
_STREAMS = _CALLING[1::2]  # each follows the same request for a whole answer
_PAIRED = (*_CALLING, *asks.TYPES, *(ask for pair in asks.HOSTILE for ask in pair))
_HOSTILE = ("closers", "quotes", "scripts", "keys", "code")
_SCHEMAS = ("ref", "boolean", "type-list", "pattern")
_HISTORY = (
    "past-call", "empty-arguments", "null-content", "content-parts", "two-results", "late-system",
)  # fmt: skip
_NAMED = ("name-dashes", "name-of-64", "name-dot")


_PROMPTS = (
    (TOOLS_IN_PROMPT, "a tool", asks.ONE_TOOL, asks.PLAIN, 1, "tools"),
    ("results-in-prompt", "a tool's result", asks.LONG_RESULT, asks.PAST, 1, "past"),
    ("arguments-in-prompt", "past arguments", asks.LONG_ARGUMENTS, asks.PAST, 1, "past"),
    ("content-in-prompt", "content beside a past call", asks.LONG_CONTENT, asks.PAST, 1, "past"),
    ("parts-in-prompt", "a text in parts", asks.IN_PARTS, asks.PLAIN, 1, "past"),
    ("many-tools-in-prompt", f"{MANY} tools", asks.MANY_TOOLS, asks.PLAIN, MANY, "context"),
)
"""Checks of what reaches the prompt: the name, what reaches it, requests with and without it,
how often the text is in it, and the remedy.
"""


_OF_CHAT: tuple[Check, ...] = (
    Check(TOOLS_ACCEPTED, "reach", asks.ONE[:1], each(accepted), "flags", "nothing"),
    Check("model-name", "reach", (asks.BAD_MODEL,), known_model, "error", "nothing"),
    *(
        Check(name, "prompt", (ask, plain, asks.CONTROL), reaches(what, against=plain, times=times),
              remedy, "nothing")
        for name, what, ask, plain, times, remedy in _PROMPTS
    ),
    Check(AS_WRITTEN, "calls", _GATE, each(as_written), "calls-lost"),
    Check("no-call-wanted", "calls", asks.HELLO, each(as_written), "calls-lost"),
    Check("no-arguments", "calls", asks.EMPTY, each(as_written), "empty-arguments"),
    Check("call-ids", "calls", _CALLING[::2], ids_apart, "call-ids", "nothing"),
    Check(
        "finish-reason", "calls", (*_CALLING, *asks.HELLO), each(honest_finish), "finish-reason",
        "nothing",
    ),
    Check("two-calls", "parallel", asks.TWO, each(as_written), "calls-lost"),
    Check(
        "one-at-a-time", "parallel", (asks.TWO_REFUSED,), each(one_at_a_time, "note"),
        "parallel-ignored",
    ),
    Check(
        STREAM_FRAMES, "stream", (*_STREAMS, *asks.HELLO[1:]),
        frames_sound, "frame", "nothing",
    ),
    Check("stream-fragments", "stream", _STREAMS, each(fragments_sound), "index", "nothing"),
    Check("usage", "stream", (*asks.ONE, *asks.HELLO), counted_alike, "usage-missing", "nothing"),
    Check("stream-as-whole", "stream", _PAIRED, same_in_both, "stream-differs"),
    Check(
        "choice-none", "choice", (asks.NONE_ECHO, asks.NONE_PLAIN), each(no_call_at_none),
        "none-markup", "nothing",
    ),
    Check("choice-required", "choice", asks.REQUIRED, each(enforced, "note"), "choice-ignored"),
    Check("choice-named", "choice", (asks.CHOSEN,), each(enforced, "note"), "choice-ignored"),
    Check(
        "choice-unknown", "choice", (asks.UNKNOWN_CHOICE,), each(refused, "pass"),
        "choice-unknown", "nothing",
    ),
    Check("typed-values", "schema", asks.TYPES, each(as_written), "value-changed"),
    *(
        Check(f"schema-{name}", "schema", (ask,), each(accepted), "schema", "nothing")
        for name, ask in zip(_SCHEMAS, asks.SCHEMAS, strict=True)
    ),
    Check("strict", "schema", (asks.STRICT,), each(within_schema, "pass"), "strict-ignored"),
    *(
        Check(f"value-{name}", "values", pair, each(as_written), "value-changed")
        for name, pair in zip(_HOSTILE, asks.HOSTILE, strict=True)
    ),
    *(
        Check(f"history-{name}", "history", (ask,), each(accepted), "history", "nothing")
        for name, ask in zip(_HISTORY, asks.HISTORY, strict=True)
    ),
    Check(
        "result-reaches-model", "history",
        (asks.FROM_RESULT, asks.FROM_MESSAGE, asks.LONG_RESULT, asks.PAST, asks.CONTROL),
        result_reaches, "past",
    ),
    Check("reasoning-apart", "reasoning", asks.THINK, each(thought_apart), "reasoning-leaks"),
    Check("cut-call", "limits", asks.CUT, each(cut_is_cut), "cut-finish"),
    *(
        Check(name, "names", (ask,), each(as_written, "note"), "name-changed")
        for name, ask in zip(_NAMED, asks.NAMES, strict=True)
    ),
    Check("stability", "stability", _CALLING, steady, "calls-lost"),
)  # fmt: skip

_OF_EVERY_API = (
    TOOLS_ACCEPTED, AS_WRITTEN, "no-call-wanted", "no-arguments", "call-ids", "finish-reason",
    "two-calls", STREAM_FRAMES, "stream-fragments", "usage", "stream-as-whole", "typed-values",
    *(f"value-{name}" for name in _HOSTILE),
)  # fmt: skip
CHECKS = (
    *_OF_CHAT,
    *(
        replace(
            check,
            name=f"{api}/{check.name}",
            group=api,
            asks=tuple(replace(ask, api=api) for ask in check.asks),
        )
        for api in APIS
        for check in _OF_CHAT
        if check.name in _OF_EVERY_API
    ),
)
"""All checks, in the order of a report."""

GROUPS = tuple(dict.fromkeys(check.group for check in CHECKS))
"""The groups of checks, in the order of a report; the last are those of the other APIs."""

REPEATED = _CALLING
"""The requests that `--repeats` repeats."""
