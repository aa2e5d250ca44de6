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
from tunaeval.showing import counted

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
    no_answer,
    offered,
    refused_or,
    same_calls,
    thought_in,
    unanswered,
    worst,
)
from .values import APIS, Ask, Judgement, ServerAnswer, Verdict

Rule: TypeAlias = Callable[[Seen, Sequence[Ask]], Judgement]


def each(judge: Callable[[Seen, ServerAnswer], Judgement]) -> Rule:
    """Return a rule that judges every answer separately and reports the worst judgement, and with
    it every other fault of the server.
    """

    def rule(seen: Seen, wanted: Sequence[Ask]) -> Judgement:
        judged = [judge(seen, answer) for ask in wanted for answer in seen.all(ask)]
        faults: dict[tuple[str, str], Judgement] = {}
        for one in (one for found in judged for one in (found, *found.others)):
            if one.verdict == "server":
                faults.setdefault((one.mode, one.fault), one)
        first, *others = faults.values() or [worst(judged)]
        return replace(first, others=tuple(others))

    return rule


def as_written(seen: Seen, answer: ServerAnswer) -> Judgement:
    """Check that the API returns what the model wrote."""
    return seen.blame(answer)


def accepted(_: Seen, answer: ServerAnswer) -> Judgement:
    """Check that the request is accepted, regardless of the model's answer."""
    return unanswered(answer) or Judgement("pass", "accepted", answer=answer)


def sound_ids(_: Seen, answer: ServerAnswer) -> Judgement:
    """Check that each call has an id that no other call has, and the type "function"."""
    if not answer.ok:
        return no_answer(answer)
    ids = [call.id for call in answer.calls]
    if any(not isinstance(id_, str) or not id_ for id_ in ids):
        return Judgement("server", f"ids of calls are {ids!r:.80}", "call-ids", answer)
    if len(set(ids)) < len(ids):
        return Judgement("server", f"two calls have one id: {ids!r:.80}", "call-ids", answer)
    kinds = [call.type for call in answer.calls if call.type != "function"]
    if kinds:
        return Judgement("server", f"a call's type is {kinds[0]!r}", "call-ids", answer)
    return Judgement("pass", "each call has an id", answer=answer)


def honest_finish(_: Seen, answer: ServerAnswer) -> Judgement:
    """Check that the finish reason is tool_calls if and only if there are calls."""
    if not answer.ok:
        return no_answer(answer)
    reason, found = answer.finish, len(answer.calls)
    if answer.cut:
        return Judgement("pass", "cut", answer=answer)
    if reason is None:
        return Judgement("server", "there is no finish reason", "finish-reason", answer)
    if found and reason != "tool_calls":
        words = f"the finish reason beside {counted(found, 'call')} is {reason!r}"
        return Judgement("server", words, "finish-reason", answer)
    if not found and reason == "tool_calls":
        words = "the finish reason is 'tool_calls', and there is no call"
        return Judgement("server", words, "finish-reason", answer)
    return Judgement("pass", "as it is", answer=answer)


def one_at_a_time(seen: Seen, answer: ServerAnswer) -> Judgement:
    """Check that `parallel_tool_calls: false` leaves at most one call."""
    if not answer.ok:
        return refused_or(answer, "note", f"refused: {answer.error}")
    if len(answer.calls) > 1:
        words = f"parallel_tool_calls is false, and there are {len(answer.calls)} calls"
        return Judgement("server", words, "parallel-ignored", answer)
    if not answer.calls and leak(answer) is not None:
        return seen.blame(answer)
    return misshapen(answer) or Judgement("pass", "at most one call", answer=answer)


def no_call_at_none(_: Seen, answer: ServerAnswer) -> Judgement:
    """Check that `tool_choice: none` gives neither a call nor call markup."""
    if not answer.ok:
        return no_answer(answer)
    if answer.calls:
        words = f"tool_choice is none, and {answer.calls[0].name} is called"
        return Judgement("server", words, "choice-ignored", answer)
    if leak(answer) is not None:
        words = "tool_choice is none, and the markup of a call is in the content"
        return Judgement("server", words, "none-markup", answer)
    return Judgement("pass", "no call", answer=answer)


def a_call_at_required(seen: Seen, answer: ServerAnswer) -> Judgement:
    """Check that `tool_choice: required` gives a call."""
    return _enforced(seen, answer, "required", frozenset())


def that_call_when_named(seen: Seen, answer: ServerAnswer) -> Judgement:
    """Check that a named choice gives calls of that tool and of no other."""
    return _enforced(seen, answer, "a named tool", frozenset({asks.NAMED["function"]["name"]}))


def _enforced(seen: Seen, answer: ServerAnswer, choice: str, only: frozenset[str]) -> Judgement:
    if not answer.ok:
        return refused_or(answer, "note", f"refused: {answer.error}")
    wrong = [call.name for call in answer.calls if only and call.name not in only]
    if wrong:
        words = f"tool_choice is {choice}, and {wrong[0]} is called"
        return Judgement("server", words, "choice-ignored", answer)
    if not answer.calls and leak(answer) is not None:
        return seen.blame(answer)  # the choice was enforced, but the server did not parse the call
    if not answer.calls and format_of(answer) not in (None, *CODE):
        words = f"tool_choice is {choice}, the model wrote a call, and the API has none"
        return replace(seen.blame(answer), verdict="server", why=words, fault="calls-lost")
    if not answer.calls:
        words = f"tool_choice is {choice}, and there is no call: it is not enforced"
        return Judgement("server", words, "choice-ignored", answer)
    if (wrong_shape := misshapen(answer)) is not None or answer.cut:
        return wrong_shape or Judgement("pass", "enforced until it was cut", answer=answer)
    if (outside := _outside_schema(answer)) is not None:
        words = f"tool_choice is {choice}, and the call is outside of the tool's schema: {outside}"
        verdict: Verdict = "server" if seen.server.kind in _CONSTRAIN else "note"
        return Judgement(verdict, words, "schema-forced", answer)
    return Judgement("pass", "enforced", answer=answer)


_CONSTRAIN = ("vLLM", "SGLang", "llama.cpp", "TGI")
"""Servers that force calls by a grammar of the tool's schema."""
_OUTSIDE = {"wrong-type", "missing-argument", "unknown-argument", "not-allowed", "invalid-json"}


def _outside_schema(answer: ServerAnswer) -> str | None:
    """Return what is wrong with the arguments of the calls by the schemas of the tools, or None."""
    calls = [
        {"type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in answer.calls
    ]
    read = parse_message({"tool_calls": calls}, tools=offered(answer.ask), level="strict")
    return next((one.message for one in read.diagnoses if one.code in _OUTSIDE), None)


def refused(_: Seen, answer: ServerAnswer) -> Judgement:
    """Check that an invalid tool_choice is refused."""
    if answer.ok:
        words = "tool_choice 'whatever' is accepted in silence"
        return Judgement("note", words, "choice-unknown", answer)
    if answer.status is not None and 400 <= answer.status < 500:
        return Judgement("pass", f"refused with {answer.status}", answer=answer)
    return no_answer(answer)


def known_model(_: Seen, answer: ServerAnswer) -> Judgement:
    """Check that an unknown model is refused, or that the server ignores the model's name."""
    if answer.ok:
        return Judgement("pass", "any model name is answered", answer=answer)
    if answer.error is not None and answer.status is not None and answer.status < 500:
        return Judgement("pass", f"refused with {answer.status}", answer=answer)
    return no_answer(answer)


def within_schema(_: Seen, answer: ServerAnswer) -> Judgement:
    """Check that with `strict` a value is one of its enum, or that the request is refused."""
    if not answer.ok:
        return refused_or(answer, "pass", "refused")
    colours = [(call.object or {}).get("colour") for call in answer.calls]
    if any(colour not in ("red", "green") for colour in colours):
        words = f"strict is set, and a value is outside its enum: {colours!r:.60}"
        return Judgement("note", words, "strict-ignored", answer)
    return Judgement("pass", "within the enum", answer=answer)


def read_or_refused(seen: Seen, answer: ServerAnswer) -> Judgement:
    """Check that a tool is called by its exact name, or that the name is refused when offered."""
    if not answer.ok and is_refused(answer):
        return Judgement("note", f"the name is refused: {answer.error}", answer=answer)
    return seen.blame(answer)


def cut_is_cut(_: Seen, answer: ServerAnswer) -> Judgement:
    """Check that a call cut by max_tokens is reported as cut and never looks complete."""
    if not answer.ok:
        return no_answer(answer)
    if same_calls(answer.calls, answer.ask.calls):
        return Judgement("not tested", "max_tokens is not kept: nothing was cut", answer=answer)
    whole = [call for call in answer.calls if call.object is not None]
    if whole:
        words = f"a call that was cut looks complete: {whole[0].arguments!r:.60}"
        return Judgement("server", words, "cut-complete", answer)
    if answer.calls and not answer.cut:
        words = f"a call was cut, and the finish reason is {answer.finish!r}"
        return Judgement("server", words, "cut-finish", answer)
    if not answer.cut:
        return Judgement("not tested", "the model stopped by itself", answer=answer)
    if not answer.calls and (answer.reasoning or thought_in(answer.raw)):
        written = (answer.raw or "") + answer.text
        if not CALL_MARKUP.search(written):
            return Judgement("not tested", "max_tokens ended it in its thought", answer=answer)
    if CALL_MARKUP.search(answer.text):
        words = "the markup of the call that was cut is in the content, with 'length'"
        return Judgement("note", words, "cut-markup", answer)
    return Judgement("pass", "reported as length", answer=answer)


def thought_apart(seen: Seen, answer: ServerAnswer) -> Judgement:
    """Check that reasoning is kept out of the content, and that a call after it is parsed."""
    if not answer.ok:
        return no_answer(answer)
    if not answer.reasoning and not thought_in(answer.raw) and not thought_in(answer.text):
        return Judgement("pass", "no reasoning was seen", answer=answer)
    return seen.blame(answer)


def same_in_both(seen: Seen, wanted: Sequence[Ask]) -> Judgement:
    """Check that whole and streamed answers to each request are equivalent."""
    judged = [compare_pair(seen.all(w), seen.all(s)) for w, s in pairs(wanted)]
    return worst(judged) if judged else Judgement("not tested", "the server does not stream")


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
        shown = seen.one(wanted[0])
        # A prompt that lacks even the text of a plain message is not the one that was rendered.
        is_shown = asks.TEXT in (seen.one(asks.CONTROL).prompt or "")
        missing = shown.prompt is not None and shown.prompt.count(asks.TEXT) < times
        if shown.ok and is_shown and missing:
            words = f"{what} is not in the prompt that the server shows"
            return Judgement("server", words, "", shown)
        unit = _growth(seen, asks.CONTROL, asks.PLAIN)
        if shown.ok and is_shown and shown.prompt and (unit is None or unit < _LEAST_GROWTH):
            words = f"{what} is in the prompt that the server shows"
            return Judgement("pass", words, answer=shown)
        if unit is None or unit < _LEAST_GROWTH:
            words = "prompt_tokens do not grow with a message, so they show nothing"
            return Judgement("not tested", words)
        answer = seen.one(wanted[0])
        if not answer.ok:
            if times > 1 and is_refused(answer):
                return Judgement("pass", f"refused clearly: {answer.error}", answer=answer)
            # Separate checks test whether requests like this one are accepted at all.
            return Judgement("not tested", no_answer(answer).why, answer=answer)
        growth = _growth(seen, wanted[0], against)
        if growth is None:
            return Judgement("not tested", "prompt_tokens are not counted", answer=answer)
        words = f"{what}: the prompt grew by {growth} tokens, a message by {unit * times}"
        if growth > _SHARE * unit * times:
            return Judgement("pass", words, answer=answer)
        return Judgement("server", words, "", answer)

    return rule


def result_reaches(seen: Seen, wanted: Sequence[Ask]) -> Judgement:
    """Check that a model that repeats what a message says also repeats what a tool's result says.

    A model that repeats neither proves nothing; then the token counts of the prompt decide.
    """
    answer = seen.one(wanted[0])
    if not answer.ok:
        return no_answer(answer)
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

Judge = Callable[[Seen, ServerAnswer], Judgement]


def without(prefixes: tuple[str, ...], fine: str) -> Judge:
    """Return a rule that a stream has no fault whose code begins with one of the prefixes."""

    def judge(_: Seen, answer: ServerAnswer) -> Judgement:
        stream = answer.streamed
        if stream is None or answer.failure:
            return no_answer(answer, "no stream came")
        found = [(code, words) for code, words in stream.faults if code.startswith(prefixes)]
        if not found or answer.error:  # an error in the stream explains what else is wrong
            return unanswered(answer) or Judgement("pass", fine, answer=answer)
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


def _usage(_: Seen, answer: ServerAnswer) -> Judgement:
    """Check that token counts are reported; a stream has them in a frame of its own."""
    if not answer.ok:
        return no_answer(answer)
    if answer.uncounted and answer.prompt_tokens is None:
        words = "the server refuses stream_options, so no usage was asked for"
        return Judgement("not tested", words, answer=answer)
    if answer.prompt_tokens is None or answer.completion_tokens is None:
        where = "the stream" if answer.ask.streamed else "the answer"
        return Judgement("server", f"{where} has no usage", "usage-missing", answer)
    if not answer.completion_tokens and (answer.calls or answer.text):
        words = f"completion_tokens is {answer.completion_tokens} beside an answer"
        return Judgement("note", words, "usage-differs", answer)
    return Judgement("pass", "tokens are counted", answer=answer)


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


def _streams(found: Sequence[Ask]) -> tuple[Ask, ...]:
    return tuple(ask for ask in found if ask.streamed)


def _wholes(found: Sequence[Ask]) -> tuple[Ask, ...]:
    return tuple(ask for ask in found if not ask.streamed)


_OF_CHAT: tuple[Check, ...] = (
    Check(TOOLS_ACCEPTED, "reach", asks.ONE[:1], each(accepted), "flags", "nothing"),
    Check("model-name", "reach", (asks.BAD_MODEL,), each(known_model), "error", "nothing"),
    *(
        Check(name, "prompt", (ask, plain, asks.CONTROL), reaches(what, against=plain, times=times),
              remedy, "nothing")
        for name, what, ask, plain, times, remedy in _PROMPTS
    ),
    Check(AS_WRITTEN, "calls", _GATE, each(as_written), "calls-lost"),
    Check("no-call-wanted", "calls", asks.HELLO, each(as_written), "calls-lost"),
    Check("no-arguments", "calls", asks.EMPTY, each(as_written), "empty-arguments"),
    Check("call-ids", "calls", _wholes(_CALLING), each(sound_ids), "call-ids", "nothing"),
    Check(
        "finish-reason", "calls", (*_CALLING, *asks.HELLO), each(honest_finish), "finish-reason",
        "nothing",
    ),
    Check("two-calls", "parallel", asks.TWO, each(as_written), "calls-lost"),
    Check(
        "one-at-a-time", "parallel", (asks.TWO_REFUSED,), each(one_at_a_time), "parallel-ignored",
    ),
    Check(
        STREAM_FRAMES, "stream", (*_streams(_CALLING), *asks.HELLO[1:]),
        frames_sound, "frame", "nothing",
    ),
    Check(
        "stream-fragments", "stream", _streams(_CALLING), each(fragments_sound),
        "index", "nothing",
    ),
    Check("usage", "stream", (*asks.ONE, *asks.HELLO), counted_alike, "usage-missing", "nothing"),
    Check("stream-as-whole", "stream", _PAIRED, same_in_both, "stream-differs"),
    Check(
        "choice-none", "choice", (asks.NONE_ECHO, asks.NONE_PLAIN), each(no_call_at_none),
        "none-markup", "nothing",
    ),
    Check("choice-required", "choice", asks.REQUIRED, each(a_call_at_required), "choice-ignored"),
    Check("choice-named", "choice", (asks.CHOSEN,), each(that_call_when_named), "choice-ignored"),
    Check(
        "choice-unknown", "choice", (asks.UNKNOWN_CHOICE,), each(refused), "choice-unknown",
        "nothing",
    ),
    Check("typed-values", "schema", asks.TYPES, each(as_written), "value-changed"),
    *(
        Check(f"schema-{name}", "schema", (ask,), each(accepted), "schema", "nothing")
        for name, ask in zip(_SCHEMAS, asks.SCHEMAS, strict=True)
    ),
    Check("strict", "schema", (asks.STRICT,), each(within_schema), "strict-ignored"),
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
        Check(name, "names", (ask,), each(read_or_refused), "name-changed")
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

REPEATED = _CALLING
"""The requests that `--repeats` repeats."""
