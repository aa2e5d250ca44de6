"""Random texts with calls, from a seed: rendered, with prose around, damaged, truncated."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from tunaeval.errors import UsageError
from tunaeval.files.plain_files import table_of
from tunaeval.grammar import Value, flat, literal_texts
from tunaeval.grammar.format import Format
from tunaeval.parsing.api import render
from tunaeval.testing.tape import FRAGMENTS, WORDS
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, Tools, ToolSpec

TABLE = table_of(__package__, "texts.toml")
_STRINGS = {"type": "array", "items": {"type": "string"}}
_SHAPES: dict[str, dict[str, str]] = TABLE["tools"]

TOOLS = Tools(
    ToolSpec(
        name,
        f"The tool {name}.",
        {
            "type": "object",
            "properties": {
                key: _STRINGS if kind == "strings" else {"type": kind}
                for key, kind in shape.items()
            },
        },
    )
    for name, shape in _SHAPES.items()
)
"""The tools that the texts call: a coding agent's, with arguments of every type."""

_PIECES = (*WORDS, *TABLE["pieces"])
"""The parts of arguments: paths, commands, code, and all that has to be escaped."""


def fixed_texts(form: Format) -> tuple[str, ...]:
    """Return every spelling of every literal in a format, and its other markers, each once."""
    markers = [text for each in form.reasoning for text in (each.open, each.close)]
    words = [word for one in (form, *form.also) for word in (*one.words, *(one.around or ()))]
    frame, bodies = form.envelope, list[str]()
    if frame:
        words, bodies = [*words, frame.opens, frame.closes], [one.body for one in frame.routes]
    found = (*literal_texts(words), *form.dropped, *bodies, *markers)
    return tuple(dict.fromkeys(text for text in found if text))


class TextMaker:
    """Makes random texts in one format; the same seed gives the same texts."""

    def __init__(self, form: Format, seed: int) -> None:
        self.form = form
        self.random = Random(f"{seed} {form.name}")
        self._fixed = fixed_texts(form)
        self._plain = any(isinstance(word, Value) for word in flat(form.words))

    def calls(self, most: int = 3) -> list[ToolCall]:
        """Return one to `most` calls of `TOOLS` that the format can express.

        Raises `UsageError` if `render` refuses very many, or all that have arguments.
        """
        refusal = None
        for _ in range(100):
            count = self.random.randint(1, most)
            made = [self._call(name) for name in self.random.sample(sorted(TOOLS), count)]
            try:
                render(made, self.form)
            except UsageError as error:
                refusal = error
            else:
                if refusal is None or any(call.arguments for call in made):
                    return made
        raise refusal or UsageError("no call was drawn")

    def prose(self) -> str:
        return " ".join(self.random.choices(WORDS, k=self.random.randint(1, 12)))

    def rendering(self) -> tuple[list[ToolCall], str]:
        """Return calls, and a text with them: sometimes with prose before, after, or both.

        If the format does not mark calls, they are the whole text.
        """
        made = self.calls()
        if self.form.whole:
            return made, render(made, self.form)
        before = f"{self.prose()}\n" if self.random.random() < 0.5 else ""
        after = f"\n{self.prose()}" if self.random.random() < 0.5 else ""
        return made, before + render(made, self.form) + after

    def damaged(self) -> str:
        """Return a rendering with a few deletions, replacements, insertions; one in four is cut."""
        text, random = self.rendering()[1], self.random
        for _ in range(random.randint(0, 5)):
            start = random.randint(0, len(text))
            end = min(len(text), start + random.choice((0, 0, 1, 2, 6)))
            piece = random.choice(("", random.choice(FRAGMENTS), random.choice(self._fixed)))
            text = text[:start] + piece + text[end:]
        return text[: random.randint(0, len(text))] if random.random() < 0.25 else text

    def hostile(self) -> str:
        """Return pieces of markup and damage in random order."""
        pieces = (*FRAGMENTS, *self._fixed)
        return "".join(self.random.choices(pieces, k=self.random.randint(0, 20)))

    def cutting(self, text: str) -> list[str]:
        """Return the text cut at up to eight places."""
        places = sorted(self.random.randint(0, len(text)) for _ in range(self.random.randint(1, 8)))
        return [text[start:end] for start, end in pairwise((0, *places, len(text)))]

    def _call(self, name: str) -> ToolCall:
        shape = _SHAPES[name]
        kept = [key for key in shape if self.random.random() < 0.8]
        return ToolCall(name, {key: self._value(shape[key]) for key in kept})

    def _value(self, kind: JsonValue) -> JsonValue:
        random = self.random
        match kind:
            case "string":
                return self._text()
            case "integer":
                return random.choice((0, 1, -7, 120, 4096, 2**53 + 1, random.randint(0, 10**6)))
            case "number":
                return random.choice((0.5, -2.25, 1e-7, 3, 10.0))
            case "boolean":
                return random.random() < 0.5
            case "object":
                return self._object()
        return [self._text() for _ in range(random.randint(0, 3))]

    def _object(self) -> JsonObject:
        keys = self.random.sample(("accept", "x-id", "depth", "name"), self.random.randint(0, 3))
        return {key: self._text() for key in keys}

    def _text(self) -> str:
        """Return a string; for unescaped values, one without the format's markup."""
        joint = self.random.choice((" ", ""))
        text = joint.join(self.random.choices(_PIECES, k=self.random.randint(0, 6)))
        if not self._plain:
            return text
        text = text.strip()
        return "" if any(mark in text for mark in self._fixed) else text
