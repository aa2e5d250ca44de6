"""The rules on what reaches the prompt, judged by the prompt tokens that the server reports.

No model skill is needed: one text is put into different parts of a request, and each time the
prompt has to grow by more than half of what the text adds to a plain message.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import asks
from .rules import Rule
from .seen import Seen
from .shapes import is_refused, no_answer
from .values import Answer, Ask, Judgement

_LEAST_GROWTH = 10
"""The least growth in tokens from a text of 380 characters if the server counts tokens at all."""
_SHARE = 0.5  # of the growth that the same text causes in a plain message


def reaches(what: str, *, against: Ask, times: int = 1) -> Rule:
    """Return a rule that an ask's prompt exceeds that of `against` by `times` the known text."""

    def rule(seen: Seen, wanted: Sequence[Ask]) -> Judgement:
        shown = seen.one(wanted[0])
        if shown.ok and shown.prompt is not None and shown.prompt.count(asks.TEXT) < times:
            words = f"{what} is not in the prompt that the server shows"
            return Judgement("server", words, "", shown)
        unit = _growth(seen, asks.CONTROL, asks.PLAIN)
        if shown.ok and shown.prompt is not None and (unit is None or unit < _LEAST_GROWTH):
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
    counted = reaches("a tool's result", against=asks.PAST)(seen, wanted[2:])
    if counted.verdict == "server":
        words = "results never reach the prompt (results-in-prompt)"
        return Judgement("not tested", words, answer=answer)
    if _says_code(seen.one(wanted[1])):
        words = f"it says {asks.CODE_WORD} where a message says so, and not where a result does"
        return Judgement("note", words, "result-unseen", answer)
    if counted.verdict == "pass":
        return Judgement("pass", "results are in the prompt; this model repeats nothing")
    return Judgement("not tested", "the model repeats nothing that it reads", answer=answer)


def _says_code(answer: Answer) -> bool:
    given = [answer.text, answer.reasoning, answer.raw or "", *map(str, answer.calls)]
    return any(asks.CODE_WORD in text for text in given)


def _growth(seen: Seen, longer: Ask, shorter: Ask) -> int | None:
    more, less = seen.one(longer).prompt_tokens, seen.one(shorter).prompt_tokens
    return None if more is None or less is None else more - less
