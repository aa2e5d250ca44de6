"""Accuracy: rendered calls have to be parsed back, and texts without a call must not give any.

The latter look as if they had a call. `negatives.toml` has templates by kind and words for their
slots; a text is one template or several, chosen at random from a seed. Texts that only one format
can mistake (its markers mentioned, its calls considered in reasoning) are made from the format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from random import Random
from typing import NamedTuple

from tunaeval.errors import UsageError
from tunaeval.files.plain_files import table_of
from tunaeval.grammar.format import Format
from tunaeval.parsing.api import render
from tunaeval.parsing.write import render_calls
from tunaeval.reports.statistics import wilson
from tunaeval.types.calls import ToolCall
from tunaeval.types.parsing import ParseResult

from .measured import USUAL, Extent, Measured, MeasuredFault, Subject
from .texts import TOOLS, TextMaker

_SLOT = re.compile(r"§(\w+)§")
_JOINTS = ("\n\n", "\n\n", "\n", "\n\n---\n\n")


class _Templates(NamedTuple):
    """The templates of texts by kind, and the words for each §slot§ in them."""

    slots: dict[str, list[str]]
    kinds: dict[str, list[str]]


def negative_texts(count: int, seed: int) -> Iterator[tuple[str, str]]:
    """Yield `count` pairs (kinds, text). No text has a call; the kinds take turns and are mixed."""
    random, templates = Random(f"{seed} negatives"), _templates()
    kinds = list(templates.kinds)
    # Reasoning comes first or not at all, as in the replies of models.
    besides = ["prose", *(kind for kind in kinds if kind != "reasoning")]
    for number in range(count):
        kind = kinds[number % len(kinds)]
        others = random.choices(besides, k=random.choice((0, 0, 1, 2)))
        # A reply that is reasoning, or one file of code, begins with that.
        parts = [kind, *others] if kind in ("reasoning", "file") else [*others[:1], kind]
        pieces = [_filled(random, templates, part) for part in parts]
        yield "+".join(parts), random.choice(_JOINTS).join(pieces)


def own_negatives(maker: TextMaker) -> Iterator[tuple[str, str]]:
    """Yield texts for one format: its calls in reasoning, its markers mentioned, unknown tools."""
    form = maker.form
    made = maker.calls(2)
    written = render(made, form)
    for markers in form.reasoning:
        thought = f"I could say {written}\nbut no."
        yield "own reasoning", f"{markers.open}\n{thought}\n{markers.close}\n{maker.prose()}"
        yield "own reasoning", f"{thought}\n{markers.close}\n{maker.prose()}"
    unknown = [ToolCall(f"no_{call.name}", call.arguments) for call in made]
    yield "unknown tools", f"{maker.prose()}\n{render_calls(unknown, form)}"
    yield from _mentions(form, written)


def _mentions(form: Format, written: str) -> Iterator[tuple[str, str]]:
    """Yield prose that names the format's markers, and a call quoted as code."""
    opener, closer = form.opener, form.closer
    if opener is not None:
        yield "mentions", f"Each call begins with `{opener.text}`, whatever the tool."
        yield "mentions", f"The text {opener.text} announces a call. None follows."
    if opener is not None and closer is not None:
        yield "mentions", f"Put it between {opener.text} and {closer.text}, please."
        yield "mentions", f"It looks like {opener.text}...{closer.text} in their logs."
    if "\n" not in written and "`" not in written:
        yield "quoted call", f"One would write `{written}` for that."


def _filled(random: Random, templates: _Templates, kind: str) -> str:
    """Return a template of that kind with its slots filled, also slots inside of slots."""
    text = random.choice(templates.kinds[kind])
    while _SLOT.search(text):
        text = _SLOT.sub(lambda slot: random.choice(templates.slots[slot[1]]), text)
    return text


@cache
def _templates() -> _Templates:
    data = table_of(__package__, "negatives.toml")
    kinds = {kind: [text.strip("\n") for text in texts] for kind, texts in data["texts"].items()}
    return _Templates(data["slots"], kinds)


EXAMPLES = 10_000
"""The default number of texts without a call; every subject parses each of them."""

_RENDERINGS = 50
"""One rendering of each format per this many texts without a call; at least `_LEAST`."""
_LEAST = 50


def accuracy(subjects: Sequence[Subject], extent: Extent = USUAL) -> Measured:
    """Parse renderings of each format, and texts without a call, with tools given.

    The bar: every rendering is parsed back, and there are no false calls.
    """
    count, seed = extent.examples or EXAMPLES, extent.seed
    renderings = max(_LEAST, count // _RENDERINGS)
    missed, unwritten, written = list[MeasuredFault](), list[MeasuredFault](), 0
    for subject, form in [(one, form) for one in subjects for form in one.forms]:
        maker = TextMaker(form, seed)
        try:
            for _ in range(renderings):
                made, text = maker.rendering()
                written += 1
                missed += _missed(subject, made, text)
        except UsageError as refusal:
            unwritten.append(MeasuredFault(subject.name, "not written", form.name, str(refusal)))
    read, false = 0, []
    for subject, kind, text in _negatives(subjects, count, seed):
        read += 1
        if (found := subject.parser.parse(text, tools=TOOLS)).calls:
            calls = repr(_names_and_arguments(found))
            false.append(MeasuredFault(subject.name, f"false call in {kind}", text, calls))
    high = wilson(len(false), read).high  # of the share of false calls, with 95 % confidence
    figures = {
        "formats": len(subjects),
        "renderings": written,
        "read_back": written - len(missed),
        "negatives": count,
        "readings": read,
        "false_calls": len(false),
        "false_at_most": None if high is None else round(high, 6),
        "seed": seed,
    }
    return Measured("accuracy", figures, (*missed, *unwritten, *false))


def _missed(subject: Subject, made: Sequence[ToolCall], text: str) -> Iterator[MeasuredFault]:
    """Yield a fault if a rendering is not parsed back to its calls."""
    result = subject.parser.parse(text, tools=TOOLS)
    if _names_and_arguments(result) != [(call.name, call.arguments) for call in made]:
        yield MeasuredFault(
            subject.name, "not read back", text, f"{result.calls} {result.diagnoses}"
        )


def _negatives(
    subjects: Sequence[Subject], count: int, seed: int
) -> Iterator[tuple[Subject, str, str]]:
    """Yield each text without a call, with its kind, for each subject that has to parse it."""
    for kind, text in negative_texts(count, seed):
        yield from ((subject, kind, text) for subject in subjects)
    for subject in subjects:
        for form in subject.forms:
            maker = TextMaker(form, seed)
            with suppress(UsageError):  # if no call can be written, which is a fault already
                for _ in range(max(10, count // 500)):
                    yield from ((subject, kind, text) for kind, text in own_negatives(maker))


def _names_and_arguments(result: ParseResult) -> list[tuple[str, dict[str, object]]]:
    return [(call.name, call.arguments) for call in result.calls]
