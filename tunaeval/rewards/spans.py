"""Where each attempt is, in characters and in tokens: what a trainer masks or credits.

spans = attempt_spans(text, gold)
mask = loss_mask(spans, token_offsets(completion_ids, tokenizer.decode))
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, get_args

from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import AUTO
from tunaeval.grammar.words import spellings
from tunaeval.parsing.api import parser_for
from tunaeval.parsing.reader import Reader
from tunaeval.types.exchange import field_of, text_of
from tunaeval.types.wanted import refusal, wanted_items, wanted_name

from .gold import AnyTools
from .leftovers import NEAR
from .reading import attempts_of
from .recipe import Recipe, recipe_of
from .scored import AttemptKind, Credit, gold_of


class AttemptSpan(NamedTuple):
    """Where an attempt is, markers included: characters (or tokens) `start` to `end` of a text.

    `kind` is "right" (a wanted call), "wrong" (a call in place of a wanted one, or with other
    arguments), "extra" (one more than wanted), or "broken". What is broken in no format, such as
    `f(a=1)` in prose, has the span of its beginning, `f(`. `message` is the index of its message,
    or None if the completion is one text or one message.
    """

    start: int
    end: int
    kind: AttemptKind
    message: int | None = None


def attempt_spans(
    completion: object, gold: object, tools: AnyTools = None, *, recipe: Recipe | str = "default"
) -> list[AttemptSpan]:
    """Return where each attempt in a completion is, in order; the arguments are those of `reward`.

    Structured calls are in no text, and have no span.

    Examples:
        >>> text = 'So: <tool_call>{"name": "ls", "arguments": {}}</tool_call>'
        >>> (found,) = attempt_spans(text, [{"name": "ls"}])
        >>> text[found.start : found.end][:14], found.kind
        ('<tool_call>{"n', 'right')
    """
    recipe, known = recipe_of(recipe), gold_of(gold, tools)
    attempts = attempts_of(completion, known.tools, recipe)
    kinds = Credit(known, attempts, known.tools, recipe).kinds()
    owners = attempts.owners or [None] * len(attempts.calls)
    found = [
        AttemptSpan(*call.span, kind, owner)
        for call, kind, owner in zip(attempts.calls, kinds, owners, strict=True)
        if call.span is not None
    ]
    found += [AttemptSpan(span.start, span.end, "broken", span.message) for span in attempts.spans]
    return sorted(
        (_with_marks(_text_of(completion, one.message), one, recipe.reader) for one in found),
        key=lambda one: (one.message or 0, one.start),
    )


def _text_of(completion: object, message: int | None) -> str:
    if message is not None and isinstance(completion, Sequence):
        return _text_of(completion[message], None)
    return completion if isinstance(completion, str) else text_of(field_of(completion, "content"))


def _with_marks(text: str, span: AttemptSpan, reader: str) -> AttemptSpan:
    """Return the span with the opener right before it, and the closer right behind it, if any.

    If the span is just an opener, it is that of all up to its closer.
    """
    openers, closers = _marks(reader)
    start, end = span.start, span.end
    if closer := openers.get(text[start:end]):
        at = text.find(closer, end)
        is_its = at >= 0 and text[start:end] not in text[end:at]
        return span._replace(end=at + len(closer) if is_its else end)
    before = text[max(start - NEAR, 0) : start]
    head = text[: start - len(before) + len(_LANGUAGE.sub("", before.rstrip()))]
    if not text.startswith(tuple(openers), start):
        start = len(head) - max((len(one) for one in openers if head.endswith(one)), default=0)
        start = start if start < len(head) else span.start
    behind = text[end : end + NEAR]
    at = end + len(behind) - len(behind.lstrip())
    if not text[start:end].endswith(closers) and text.startswith(closers, at):
        end = at + max(len(one) for one in closers if text.startswith(one, at))
    return span._replace(start=start, end=end)


_LANGUAGE = re.compile(r"(?<=```)\w{1,16}\Z")  # of a code fence


@lru_cache(maxsize=64)
def _marks(reader: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the openers of a reader's formats, and of those that `auto` reads, each with its
    closer ("" if there is none), and all closers.
    """
    parser = parser_for(reader)
    every = (*(parser.formats if isinstance(parser, Reader) else (parser,)), *AUTO)
    formats = [fmt for fmt in every if isinstance(fmt, Format) and fmt.opener and not fmt.by_tool]
    closers = [text for fmt in formats for text in spellings(fmt.closer)]
    return {
        text: fmt.closer.text if fmt.closer else ""
        for fmt in reversed(formats)
        for text in spellings(fmt.opener)
    }, tuple(closers)


def token_offsets(
    completion_ids: Sequence[int], decode: Callable[[Sequence[int]], str]
) -> list[tuple[int, int]]:
    """Return where each token is in the text that all of them decode to, as characters.

    Tokens that are parts of one character all have that character's place. `decode` turns a list
    of ids into text, as a tokenizer's does (with the same treatment of special tokens as the text).
    """
    found: list[tuple[int, int]] = []
    at = known = begun = 0  # characters so far; the first token of the text before; the first open
    for index in range(len(completion_ids)):
        before = decode(completion_ids[known:begun]) if begun > known else ""
        text = decode(completion_ids[known : index + 1])
        if not isinstance(text, str):
            raise refusal("what decode returns", text, "a text, as from tokenizer.decode")
        if text.endswith("\ufffd") and index - begun < _PARTS and index + 1 < len(completion_ids):
            continue
        end = at + max(len(text) - len(before), 0)
        found += [(at, end)] * (index + 1 - begun)
        at, known, begun = end, begun, index + 1
    return found


_PARTS = 4
"""The most tokens of one character, which has up to four bytes."""


def token_spans(
    spans: Iterable[AttemptSpan], offsets: Sequence[tuple[int, int]]
) -> list[AttemptSpan]:
    """Return the spans in tokens, given where each token is in the text (see `token_offsets`).

    A token that is partly in a span belongs to it. Raises `UsageError` for spans of several
    messages, as each message has offsets of its own.
    """
    spans = [*spans]
    if len(messages := sorted({one.message or 0 for one in spans})) > 1:
        raise refusal("the list of the spans' messages", messages, "one, as offsets are of one")
    starts, ends = [start for start, _ in offsets], [end for _, end in offsets]
    return [
        one._replace(start=bisect_right(ends, one.start), end=bisect_left(starts, one.end))
        for one in spans
    ]


def loss_mask(
    spans: Iterable[AttemptSpan],
    offsets: Sequence[tuple[int, int]],
    kinds: Collection[str] = ("wrong", "extra", "broken"),
) -> list[int]:
    """Return 0 for each token in a span of one of these kinds, and 1 for all others."""
    for kind in wanted_items(kinds, "kinds", str, "kinds of attempts"):
        wanted_name(kind, "kind of attempt", get_args(AttemptKind))
    mask = [1] * len(offsets)
    for one in token_spans(spans, offsets):
        if one.kind in kinds:
            mask[one.start : one.end] = [0] * (one.end - one.start)
    return mask
