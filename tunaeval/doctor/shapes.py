"""Faults of an answer that no model can cause: there is no message, or calls have a wrong shape."""

from __future__ import annotations

from .raw import raw_in_error
from .values import Answer, Judgement, Verdict

LOST_TOKENS = 8
"""An answer with this many tokens cannot be empty."""


def unanswered(answer: Answer) -> Judgement | None:
    """Return the judgement of an ask that got no message, or None if it got one."""
    if answer.skipped or answer.failure is not None:
        return Judgement("not tested", answer.failure or "not asked", answer=answer)
    words = answer.error or ""
    if answer.error is None:
        return None
    if answer.status in (401, 403, 404, 408, 429):
        return Judgement("not tested", f"{answer.status}: {words}", answer=answer)
    if answer.status is not None and 300 <= answer.status < 400:
        return Judgement("not tested", f"{answer.status}: {words}", answer=answer)
    if answer.status in (502, 503, 504):
        return Judgement("not tested", f"status {answer.status}: {words}", answer=answer)
    if raw_in_error(words) is not None:
        return Judgement(
            "server", f"{answer.status} instead of an answer: {words}", "error", answer
        )
    kind = "refuses the request" if answer.status and answer.status < 500 else "fails"
    if answer.status == 200:
        kind = "gives no message"
    return Judgement("server", f"the server {kind} ({answer.status}): {words}", "error", answer)


def no_answer(answer: Answer, words: str = "no answer") -> Judgement:
    """Return the judgement of an ask that got no message; `words` say why if nothing else does."""
    return unanswered(answer) or Judgement("not tested", words, answer=answer)


def is_refused(answer: Answer) -> bool:
    """Whether the server refuses this very request, not just a wrong key or too many requests."""
    of_client = answer.status is not None and 400 <= answer.status < 500
    return of_client and no_answer(answer).verdict == "server"


def refused_or(answer: Answer, verdict: Verdict, words: str) -> Judgement:
    """Return this verdict if the request was refused, else why it got no message."""
    if is_refused(answer):
        return Judgement(verdict, words, answer=answer)
    return no_answer(answer)


def misshapen(answer: Answer) -> Judgement | None:
    """Return a fault in the shape of the calls that no model can cause, or None."""
    for call in answer.calls:
        if not isinstance(call.name, str) or not call.name:
            return Judgement("server", f"a call's name is {call.name!r}", "shape", answer)
        if not isinstance(call.arguments, str):
            kind = type(call.arguments).__name__
            return Judgement(
                "server", f"arguments are {kind}, not a string of JSON", "arguments-object", answer
            )
        if not call.arguments.strip():
            return Judgement(
                "server", f'arguments of {call.name} are "", which is no JSON', "empty-arguments",
                answer,
            )  # fmt: skip
    text = answer.text.strip() or answer.reasoning.strip()
    if not answer.calls and not text and (answer.completion_tokens or 0) >= LOST_TOKENS:
        return Judgement(
            "server",
            f"{answer.completion_tokens} tokens were written, and the answer is empty",
            "calls-lost",
            answer,
        )
    return None
