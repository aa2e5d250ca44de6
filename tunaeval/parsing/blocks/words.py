"""The words of a block whose tool name is outside of the arguments, each as it is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from typing import Any, TypeAlias

from tunaeval.grammar import (
    Arguments,
    Attribute,
    Elements,
    Format,
    Key,
    Literal,
    Many,
    Markup,
    Maybe,
    Name,
    Space,
    Value,
    Word,
    starts_with_space,
)
from tunaeval.limits import VALUE_AHEAD
from tunaeval.repair import Note, Read, Unreadable, member, object_reader
from tunaeval.types import JsonObject, Repair, Span

from ..closings import Closing, closing_of, stops_of
from ..live import LiveCall, LiveObject, LiveText
from ..swallowed import note_of, with_marks
from ..typing import stays_text, trimmed, typed, undoubled, unescaped
from .bare import Forgotten, Unclosed, bare_text
from .elements import ElementsReader
from .recovering import Begun, Setting
from .siblings import Piece, never_closed, pieces_of, swallowed
from .steps import bounded, literal, next_char, nothing, skip_space

_ATTRIBUTE = re.compile(r"[A-Za-z]{0,16}")


class Words(Begun):
    """A block that is read word by word, as far as it has been read; see `Begun`."""

    def __init__(
        self, setting: Setting, form: Format, start: int, *, quoted: bool, name: str | None = None
    ) -> None:
        super().__init__(setting, form, start, quoted=quoted)
        self._name = name or form.tool or None
        self._key = ""
        self._raw: str | None = None
        self._live: LiveCall | None = None
        self._tried: dict[str, int] = {}
        self._lost_closer = False
        self._stray: Span | None = None
        self._arguments: JsonObject = {}
        self._object: Read | None = None
        self._repairs: list[Repair] = []
        self._notes: list[Note] = []

    def _word(
        self, word: Word, after: tuple[Word, ...]
    ) -> Generator[None, None, bool | Unreadable]:
        """Whether the word stands here; an Unreadable if it does, but broken."""
        return (yield from _READERS[type(word)](self, word, after))  # type: ignore[no-any-return]  # the table's readers all do

    def _literal(self, word: Literal, _: tuple[Word, ...] = ()) -> Generator[None, None, bool]:
        """Whether the text stands here; what was tried in vain is remembered, and where."""
        found = yield from literal(self._window, word.spellings)
        if not found:
            self._tried.update(dict.fromkeys(word.spellings, self._window.offset))
        if found and self._name and self._live is None:
            self._begin(self._name)
        return found

    def _at_end(self) -> bool:
        """Whether the text ends here, perhaps inside a fixed text."""
        window = self._window
        rest = window.text[window.pos : window.pos + VALUE_AHEAD]
        tried = (text for text, at in self._tried.items() if at == window.offset)
        return window.final and (not rest or any(text.startswith(rest) for text in tried))

    def _begin(self, name: str) -> None:
        """The name stands, and what has to follow it."""
        setting = self._setting
        if not self._quoted:
            waiting = self._ledger.count
            self._live = setting.collector.begin(waiting, self._start, setting.tools)
        if self._live:
            self._live.start(name)

    def _space(self, _word: Space, _: tuple[Word, ...]) -> Generator[None, None, bool]:
        yield from skip_space(self._window)
        return True

    def _markup(self, word: Markup, _: tuple[Word, ...]) -> Generator[None, None, bool]:
        yield from bounded(self._window, re.compile(word.pattern))
        return True

    def _name_word(self, word: Name, _: tuple[Word, ...]) -> Generator[None, None, bool]:
        if word.before:
            yield from literal(self._window, (word.before,))
        name = yield from bounded(self._window, re.compile(word.pattern))
        if word.after:
            yield from bounded(self._window, re.compile(word.after))
        if word.doubled:
            name = undoubled(name, self._setting.tools)
        self._name = name or None
        return bool(name)

    def _maybe(
        self, word: Maybe, after: tuple[Word, ...]
    ) -> Generator[None, None, bool | Unreadable]:
        first = word.words[0]
        if not (isinstance(first, Literal) and (yield from self._literal(first))):
            return True
        return (yield from self._row(word.words[1:], after))

    def _many(
        self, word: Many, after: tuple[Word, ...]
    ) -> Generator[None, None, bool | Unreadable]:
        first = word.words[0]
        while True:
            if not starts_with_space(word):
                yield from skip_space(self._window)
            if not (isinstance(first, Literal) and (yield from self._literal(first))):
                return True
            fits = yield from self._row(word.words[1:], (word, *after))
            if fits is not True:
                if isinstance(fits, Unreadable):
                    return fits
                if self._at_end():
                    return Unreadable("truncated", "the text ends inside an argument", cut=True)
                return Unreadable("invalid-arguments", "an argument that is not whole")
            if self._lost_closer:
                return True

    def _row(
        self, words: tuple[Word, ...], after: tuple[Word, ...]
    ) -> Generator[None, None, bool | Unreadable]:
        for index, word in enumerate(words):
            fits = yield from self._word(word, (*words[index + 1 :], *after))
            if fits is not True or self._lost_closer:
                return fits
        return True

    def _json(
        self, word: Arguments, after: tuple[Word, ...]
    ) -> Generator[None, None, bool | Unreadable]:
        window, stops = self._window, stops_of(self._form, after)
        char = yield from next_char(window)
        if char != "{":
            if word.optional or char == "" or self._name is None:
                return word.optional
            if (yield from nothing(window, stops)):
                self._object = Read({})
                return True
            if self._at_end():
                return Unreadable("truncated", "the text ends before the arguments", cut=True)
            return Unreadable("invalid-arguments", f"{char!r} where the arguments were expected")
        reader = object_reader(window, word.mark, stops)
        if self._live is None:
            self._begin(self._name or "")
        if self._live:
            live = LiveObject(self._live, reader.draft.pieces, depth=1)
            read = yield from self._setting.collector.follow(live, reader)
        else:
            read = yield from reader.read()
        if isinstance(read, Unreadable):
            return read
        self._notes += with_marks(read.value, word.mark) if word.mark else ()
        self._object = read
        return True

    def _key_word(self, word: Key, _: tuple[Word, ...]) -> Generator[None, None, bool]:
        key = yield from bounded(self._window, re.compile(word.pattern))
        self._key, self._raw = unescaped(key) if word.escaped else key, None
        return bool(self._key)

    def _attribute(self, word: Attribute, _: tuple[Word, ...]) -> Generator[None, None, bool]:
        said = yield from bounded(self._window, _ATTRIBUTE)
        self._raw = "text" if said in word.text else "json" if said in word.json else None
        return True

    def _value(
        self, word: Value, after: tuple[Word, ...]
    ) -> Generator[None, None, bool | Unreadable]:
        root, live = self._setting.parameters(self._name) or None, None
        schema = member(root, self._key, root)
        plain = not word.quotes[0] and word.trim != "newlines"
        if plain and self._live and stays_text(schema, self._raw, root):
            live = LiveText(self._live, self._key, word.trim)
        closing, start = closing_of(self._form, word, after), self._window.offset
        text = yield from bare_text(self._window, closing, live)
        if isinstance(text, Forgotten):
            return Unreadable("invalid-arguments", f"{self._key[:60]!r} is never closed")
        if text is None:
            return Unreadable("truncated", "the text ends inside an argument", cut=True)
        if live:
            live.end()
        self._lost_closer = isinstance(text, Unclosed)
        first = Piece(self._key, self._raw, text.text if isinstance(text, Unclosed) else text)
        closed = not self._lost_closer
        if isinstance(text, Unclosed) and text.stray:
            closed = self._set_aside(text.stray, closing)
        pieces = pieces_of(first, closing, self._arguments, root, closed=closed)
        if not closed or len(pieces) > 1:
            self._repairs.append(never_closed(pieces, start))
        self._notes += swallowed(pieces, closing, closed=closed)
        for piece in pieces:
            self._argument(piece, word, root, told=bool(live) and piece is pieces[0])
        return True

    def _set_aside(self, stray: str, closing: Closing) -> bool:
        """Text before the position is in the call and no part of it; the argument was closed."""
        end = self._window.offset
        said = Span(end - len(stray.lstrip()), end - len(stray) + len(stray.rstrip()))
        self._repairs.append(Repair("unclosed", "text follows an argument's closer", said))
        self._stray = said if stray.strip() else None
        if closing.marks.inside(stray):
            self._notes.append(note_of(self._key))
        return True

    def _argument(self, piece: Piece, word: Value, root: object, *, told: bool) -> None:
        """Keep an argument, and tell of it if that was not done while it grew."""
        if piece.key in self._arguments:
            self._notes.append(Note("duplicate-key", f"more than once: {piece.key!r}"))
        made = typed(trimmed(piece.text, word), member(root, piece.key, root), piece.said, root)
        self._arguments[piece.key] = made.value
        self._repairs += made.repairs
        self._notes += made.notes
        if self._live and not told:
            self._live.whole(piece.key, made.value)

    def _elements(
        self, word: Elements, after: tuple[Word, ...]
    ) -> Generator[None, None, bool | Unreadable]:
        schema = self._setting.parameters(self._name)
        if not word.prefix and (yield from next_char(self._window)) != "<":
            return self._object is not None
        ends = next((one.text for one in after if isinstance(one, Literal)), "")
        tree = yield from ElementsReader(self._window, word, schema, ends).read()
        if isinstance(tree, Unreadable):
            return tree if word.prefix or tree.cut else False
        self._arguments = tree.value
        self._repairs += tree.repairs
        self._notes += tree.notes
        return bool(word.prefix or tree.value or self._object or not schema.get("required"))


_Reader: TypeAlias = Callable[[Any, Any, tuple[Word, ...]], Generator[None, None, Any]]

_READERS: dict[type, _Reader] = {
    Literal: Words._literal,  # noqa: SLF001 - the block's own table
    Space: Words._space,  # noqa: SLF001 - as above
    Markup: Words._markup,  # noqa: SLF001 - as above
    Name: Words._name_word,  # noqa: SLF001 - as above
    Maybe: Words._maybe,  # noqa: SLF001 - as above
    Many: Words._many,  # noqa: SLF001 - as above
    Arguments: Words._json,  # noqa: SLF001 - as above
    Key: Words._key_word,  # noqa: SLF001 - as above
    Attribute: Words._attribute,  # noqa: SLF001 - as above
    Elements: Words._elements,  # noqa: SLF001 - as above
    Value: Words._value,  # noqa: SLF001 - as above
}
"""How each word of the grammar is read."""
