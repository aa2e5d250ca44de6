"""The rules of the checks on a stream's bytes, and on the token counts that servers report."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .rules import pairs
from .seen import Seen, worst
from .shapes import no_answer, unanswered
from .values import Answer, Ask, Judgement

_REMARKS = ("id-null",)
"""Faults that most clients tolerate."""

Judge = Callable[[Seen, Answer], Judgement]


def without(prefixes: tuple[str, ...], fine: str) -> Judge:
    """Return a rule that a stream has no fault whose code begins with one of the prefixes."""

    def judge(_: Seen, answer: Answer) -> Judgement:
        stream = answer.streamed
        if stream is None or answer.failure:
            return no_answer(answer, "no stream came")
        found = [(code, words) for code, words in stream.faults if code.startswith(prefixes)]
        if not found:
            return unanswered(answer) or Judgement("pass", fine, answer=answer)
        code, words = min(found, key=lambda fault: fault[0] in _REMARKS)
        return Judgement("note" if code in _REMARKS else "server", words, code, answer)

    return judge


_sound = without(("frame", "role", "text"), "every frame is sound, and [DONE] ends them")
_OFTEN = 2  # broken streams; a single one may be an accident of the network


def frames_sound(seen: Seen, wanted: Sequence[Ask]) -> Judgement:
    """Check that every frame is sound; one broken stream may be chance, two are a fault."""
    answers = [answer for ask in wanted for answer in seen.all(ask)]
    broken = [answer for answer in answers if answer.failure and not answer.skipped]
    if len(broken) >= _OFTEN and seen.stopped is None:
        words = f"{len(broken)} of {len(answers)} streams come to nothing: {broken[0].failure}"
        return Judgement("server", words, "frame-cut", broken[0])
    return worst(_sound(seen, answer) for answer in answers)


fragments_sound = without(("index", "id", "name", "type"), "one index, id and name for each call")


def counted(_: Seen, answer: Answer) -> Judgement:
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
    reported = worst(counted(seen, answer) for ask in wanted for answer in seen.all(ask))
    if reported.verdict != "pass":
        return reported
    for whole, streamed in pairs(wanted):
        a, b = seen.one(whole), seen.one(streamed)
        if a.prompt_tokens != b.prompt_tokens:
            words = f"prompt_tokens of one request are {a.prompt_tokens}, and {b.prompt_tokens} "
            return Judgement("note", f"{words}streamed", "usage-differs", b)
    return reported


def steady(seen: Seen, wanted: Sequence[Ask]) -> Judgement:
    """Check that the repeats of an ask are all blamed on the server, or none."""
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
