"""Everything that was seen of one server: the answers by ask, and the facts that rules derive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import comb

from . import asks
from .blame import blame, format_of, leak, right, same, same_calls, trusted_raw
from .values import Answer, ApiCall, Ask, Judgement, Server

FLAGS = "enable-auto-tool-choice"
"""The flag of vLLM that its refusal of `tools` names."""

CASES = 2
"""The number of gate calls, of three, that a model has to copy before it is tested further."""

_ORDER = ("server", "model", "note", "not tested", "pass")


@dataclass(frozen=True)
class Seen:
    """The answers of one server, by the key of their ask, in the order in which they came."""

    server: Server
    answers: Mapping[str, Sequence[Answer]] = field(default_factory=dict)
    stopped: str | None = None
    """Why the examination ended early, or None if it did not."""

    def all(self, ask: Ask) -> Sequence[Answer]:
        found = self.answers.get(ask.key)
        return found or [Answer(ask, failure=self.stopped or "not asked", skipped=True)]

    def one(self, ask: Ask) -> Answer:
        return self.all(ask)[0]

    @cached_property
    def right(self) -> int:
        """The number of gate calls that the model wrote correctly, whole or streamed."""
        return sum(any(right(a) for ask in pair for a in self.all(ask)) for pair in asks.GATE)

    @property
    def refused(self) -> str | None:
        """The server's error if it refuses every request with tools, else None."""
        first = self.one(asks.ONE[0])
        if first.status is None or first.status < 400:
            return None
        return None if self._answers_tools else first.error

    @cached_property
    def _answers_tools(self) -> bool:
        return any(a.ok and a.ask.tools for found in self.answers.values() for a in found)

    @property
    def nobody(self) -> bool:
        """Whether nothing answered before the end, apart from a refusal that names flags."""
        flags = names_flags(self.one(asks.ONE[0]))
        return self.stopped is not None and not self.raw_share[1] and not flags

    @cached_property
    def parses(self) -> bool:
        """Whether the server parsed any call of the gate, so that its parser fits the model."""
        return any(a.calls for pair in asks.GATE for ask in pair for a in self.all(ask))

    @property
    def capable(self) -> bool:
        return self.right >= CASES

    @cached_property
    def native(self) -> str | None:
        """The format in which the model most often writes calls, or None without raw text."""
        found = [
            fmt
            for pair in (*asks.GATE, asks.TWO, asks.EMPTY)
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

    def streams_nothing(self, ask: Ask) -> bool:
        """Whether this ask was to be streamed and the server does not stream.

        Either it answers whole, or no stream is answered although whole requests are.
        """
        answered = [answer for answer in self.all(ask) if not answer.skipped]
        if not ask.streamed or not answered:
            return False
        streams = (one.streamed.faults if one.streamed else () for one in answered)
        came_whole = (any(code == "frame-none" for code, _ in faults) for faults in streams)
        return all(came_whole) or self._never_streams

    @cached_property
    def _never_streams(self) -> bool:
        good = [a.ask.streamed for found in self.answers.values() for a in found if a.ok]
        return bool(good) and not any(good)

    def blame(self, answer: Answer) -> Judgement:
        return blame(answer, self.native)


def names_flags(answer: Answer) -> bool:
    """Whether a refusal names the flags with which vLLM has to be started."""
    return FLAGS in (answer.error or "")


def worst(judgements: Iterable[Judgement]) -> Judgement:
    """Return the most serious judgement: a server's fault before a model's, and a pass last."""
    return min(judgements, key=lambda judged: _ORDER.index(judged.verdict))


def compare_pair(wholes: Sequence[Answer], streams: Sequence[Answer]) -> Judgement:
    """Judge whether an ask gets the same calls whole and streamed, and how certain that is.

    One answer of each mode decides if both have one raw text. Else the server is blamed only if all
    n answers of each mode agree and the modes differ: by chance, 2 of C(2n, n) orders do.
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


def _by_repeats(wholes: Sequence[Answer], streams: Sequence[Answer]) -> Judgement:
    count = min(len(wholes), len(streams))
    steady = all(alike(found[0], other) for found in (wholes, streams) for other in found)
    if count < CASES:
        return Judgement("note", "they differ once; repeats were not asked", answer=streams[0])
    if not steady:
        words = f"they differ, and so do {count} repeats of one mode: unstable"
        return Judgement("note", words, answer=streams[0])
    chance = 2 / comb(2 * count, count)
    words = (
        f"streamed and whole differ, each the same in all of {count} answers "
        f"(by chance: {100 * chance:.1f} %)"
    )
    wrong = streams[0] if not same_calls(streams[0].calls, streams[0].ask.calls) else wholes[0]
    return Judgement("server", words, "stream-differs", wrong)


def alike(a: Answer, b: Answer) -> bool:
    """Whether two answers have equal calls, and both or neither leak calls into the content."""
    calls = len(a.calls) == len(b.calls) and all(map(_same_call, a.calls, b.calls))
    return calls and (leak(a) is None) == (leak(b) is None)


def _same_call(a: ApiCall, b: ApiCall) -> bool:
    if a.name != b.name:
        return False
    if a.object is None or b.object is None:
        return a.object is b.object and a.arguments == b.arguments
    return same(a.object, b.object)
