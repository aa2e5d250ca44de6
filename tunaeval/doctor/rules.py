"""The rules of the checks on calls: each judges what was seen, and none sends a request."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from tunaeval.showing import counted

from . import asks
from .blame import CALL_MARKUP, leak, same_calls
from .seen import Seen, compare_pair, worst
from .shapes import is_refused, misshapen, no_answer, refused_or, unanswered
from .values import Answer, Ask, Judgement

Rule: TypeAlias = Callable[[Seen, Sequence[Ask]], Judgement]


def each(judge: Callable[[Seen, Answer], Judgement]) -> Rule:
    """Return a rule that judges every answer separately and reports the worst judgement."""

    def rule(seen: Seen, wanted: Sequence[Ask]) -> Judgement:
        return worst(judge(seen, answer) for ask in wanted for answer in seen.all(ask))

    return rule


def as_written(seen: Seen, answer: Answer) -> Judgement:
    """Check that the API returns what the model wrote."""
    return seen.blame(answer)


def accepted(_: Seen, answer: Answer) -> Judgement:
    """Check that the request is accepted, regardless of the model's answer."""
    return unanswered(answer) or Judgement("pass", "accepted", answer=answer)


def sound_ids(_: Seen, answer: Answer) -> Judgement:
    """Check that each call has a distinct id, to which results can refer, and the type function."""
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


def honest_finish(_: Seen, answer: Answer) -> Judgement:
    """Check that the finish reason is tool_calls if and only if there are calls."""
    if not answer.ok:
        return no_answer(answer)
    reason, found = answer.finish, len(answer.calls)
    if reason == "length":
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


def one_at_a_time(seen: Seen, answer: Answer) -> Judgement:
    """Check that `parallel_tool_calls: false` leaves at most one call."""
    if not answer.ok:
        return refused_or(answer, "note", f"refused: {answer.error}")
    if len(answer.calls) > 1:
        words = f"parallel_tool_calls is false, and there are {len(answer.calls)} calls"
        return Judgement("server", words, "parallel-ignored", answer)
    if not answer.calls and leak(answer) is not None:
        return seen.blame(answer)
    return misshapen(answer) or Judgement("pass", "at most one call", answer=answer)


def no_call_at_none(_: Seen, answer: Answer) -> Judgement:
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


def a_call_at_required(seen: Seen, answer: Answer) -> Judgement:
    """Check that `tool_choice: required` gives a call."""
    return _enforced(seen, answer, "required", frozenset())


def that_call_when_named(seen: Seen, answer: Answer) -> Judgement:
    """Check that a named choice gives calls of that tool and of no other."""
    return _enforced(seen, answer, "a named tool", frozenset({asks.NAMED["function"]["name"]}))


def _enforced(seen: Seen, answer: Answer, choice: str, only: frozenset[str]) -> Judgement:
    if not answer.ok:
        return refused_or(answer, "note", f"refused: {answer.error}")
    wrong = [call.name for call in answer.calls if only and call.name not in only]
    if wrong:
        words = f"tool_choice is {choice}, and {wrong[0]} is called"
        return Judgement("server", words, "choice-ignored", answer)
    if not answer.calls and leak(answer) is not None:
        return seen.blame(answer)  # the choice was enforced, but the server did not parse the call
    if not answer.calls:
        words = f"tool_choice is {choice}, and there is no call: it is not enforced"
        return Judgement("server", words, "choice-ignored", answer)
    return misshapen(answer) or Judgement("pass", "enforced", answer=answer)


def refused(_: Seen, answer: Answer) -> Judgement:
    """Check that an invalid tool_choice is refused."""
    if answer.ok:
        words = "tool_choice 'whatever' is accepted in silence"
        return Judgement("note", words, "choice-unknown", answer)
    if answer.status is not None and 400 <= answer.status < 500:
        return Judgement("pass", f"refused with {answer.status}", answer=answer)
    return no_answer(answer)


def known_model(_: Seen, answer: Answer) -> Judgement:
    """Check that an unknown model is refused, or that the server ignores the model's name."""
    if answer.ok:
        return Judgement("pass", "any model name is answered", answer=answer)
    if answer.error is not None and answer.status is not None and answer.status < 500:
        return Judgement("pass", f"refused with {answer.status}", answer=answer)
    return no_answer(answer)


def within_schema(_: Seen, answer: Answer) -> Judgement:
    """Check that `strict` keeps a value within its enum, or is refused."""
    if not answer.ok:
        return refused_or(answer, "pass", "refused")
    colours = [(call.object or {}).get("colour") for call in answer.calls]
    if any(colour not in ("red", "green") for colour in colours):
        words = f"strict is set, and a value is outside its enum: {colours!r:.60}"
        return Judgement("note", words, "strict-ignored", answer)
    return Judgement("pass", "within the enum", answer=answer)


def read_or_refused(seen: Seen, answer: Answer) -> Judgement:
    """Check that a tool is called by its exact name, or that the name is refused when offered."""
    if not answer.ok and is_refused(answer):
        return Judgement("note", f"the name is refused: {answer.error}", answer=answer)
    return seen.blame(answer)


def cut_is_cut(_: Seen, answer: Answer) -> Judgement:
    """Check that a call cut by max_tokens is reported as cut and never looks complete."""
    if not answer.ok:
        return no_answer(answer)
    if same_calls(answer.calls, answer.ask.calls):
        return Judgement("not tested", "max_tokens is not kept: nothing was cut", answer=answer)
    whole = [call for call in answer.calls if call.object is not None]
    if whole:
        words = f"a call that was cut looks complete: {whole[0].arguments!r:.60}"
        return Judgement("server", words, "cut-complete", answer)
    if answer.calls and answer.finish != "length":
        words = f"a call was cut, and the finish reason is {answer.finish!r}"
        return Judgement("server", words, "cut-finish", answer)
    if answer.finish != "length":
        return Judgement("not tested", "the model stopped by itself", answer=answer)
    if CALL_MARKUP.search(answer.text):
        words = "the markup of the call that was cut is in the content, with 'length'"
        return Judgement("note", words, "cut-markup", answer)
    return Judgement("pass", "reported as length", answer=answer)


def thought_apart(seen: Seen, answer: Answer) -> Judgement:
    """Check that reasoning is kept out of the content, and that a call after it is parsed."""
    if not answer.ok:
        return no_answer(answer)
    if "<think>" in answer.text or "</think>" in answer.text:
        return Judgement("server", "reasoning is in the content", "reasoning-leaks", answer)
    if not answer.reasoning and "think>" not in (answer.raw or ""):
        return Judgement("pass", "no reasoning was seen", answer=answer)
    return seen.blame(answer)


def same_in_both(seen: Seen, wanted: Sequence[Ask]) -> Judgement:
    """Check that each ask gets equivalent answers, whole and streamed."""
    judged = [compare_pair(seen.all(w), seen.all(s)) for w, s in pairs(wanted)]
    return worst(judged) if judged else Judgement("not tested", "the server does not stream")


def pairs(wanted: Sequence[Ask]) -> Iterator[tuple[Ask, Ask]]:
    streamed = {ask.name: ask for ask in wanted if ask.streamed}
    for ask in wanted:
        if not ask.streamed and ask.name in streamed:
            yield ask, streamed[ask.name]
