"""One block of a format whose tool name stands outside of the arguments.

The arguments are one JSON object, or come one by one with their keys in markup and their values
as bare text. A block holds one call.
"""

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
from tunaeval.window import Reading

from ..closings import Closing, closing_of, shows_end, stops_of
from ..judge import judge_named, only_a_word
from ..quoting import ends_sentence, is_named_in_prose
from ..streaming.live import LiveCall, LiveText
from ..streaming.live_objects import LiveObject
from ..swallowed import note_of, with_marks
from ..typing import stays_text, trimmed, typed, undoubled, unescaped
from .bare import Forgotten, Unclosed, bare_text
from .closers import closers, missing
from .elements import ElementsReader
from .recovering import Begun, Setting
from .siblings import Piece, never_closed, pieces_of, swallowed
from .steps import bounded, literal, next_char, nothing, skip_space, stands

_BODIES = Arguments | Many | Elements
_ATTRIBUTE = re.compile(r"[A-Za-z]{0,16}")


class TaggedBlock(Begun):
    """Reads a block with arguments and a name, which a header may have had; see `Begun`."""

    def __init__(
        self, setting: Setting, form: Format, start: int, *, quoted: bool, name: str | None = None
    ) -> None:
        super().__init__(setting, form, start, quoted=quoted)
        self._name = name
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

    def read(self) -> Reading[None]:
        """Read it. Without a name and what has to follow it, nothing is handed on."""
        words, window = self._form.words[self._form.opener is not None :], self._window
        for index, word in enumerate(words):
            fits = yield from self._word(word, words[index + 1 :])
            if fits is True:
                continue
            if isinstance(fits, Unreadable) or any(isinstance(w, _BODIES) for w in words[index:]):
                self._give_up(fits if isinstance(fits, Unreadable) else None)
                return
            open_ = self._object is None and shows_end(words, index)
            nothing = open_ and not self._arguments
            if nothing and self._form.opener and self._takes_nothing():
                nothing = not (yield from stands(window, self._form.opener.spellings))
            between = open_ and self._at_end()
            if nothing or between:
                cut = Unreadable("truncated", "the text ends between two arguments", cut=True)
                self._give_up(None if nothing else cut)
                return
            self._ledger_call()
            missing(word, window, self._ledger, behind_object=self._object is not None)
            self.closed = yield from closers(words[index + 1 :], window)
            break
        else:
            self.closed = True
            self._ledger_call()
        self.had_body = True
        self._ledger.close(window.offset, self._stray)

    def _takes_nothing(self) -> bool:
        """Whether it names a tool without arguments, which is whole where another call begins."""
        known = self._setting.tools is not None and self._name in self._setting.tools
        return known and not self._setting.parameters(self._name).get("properties")

    def _at_end(self) -> bool:
        """Whether the text ends here, perhaps inside a fixed text."""
        window = self._window
        rest = window.text[window.pos : window.pos + VALUE_AHEAD]
        tried = (text for text, at in self._tried.items() if at == window.offset)
        return window.final and (not rest or any(text.startswith(rest) for text in tried))

    def _ends_sentence(self) -> bool:
        """Whether the opener is words, which end a sentence."""
        said = ends_sentence(self._window, self._start, self._name, self._setting.tools)
        return said and not self._form.marked

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
                return fits or Unreadable("invalid-arguments", "an argument that is not whole")
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
        self, word: Elements, _: tuple[Word, ...]
    ) -> Generator[None, None, bool | Unreadable]:
        schema = self._setting.parameters(self._name)
        tree = yield from ElementsReader(self._window, word, schema).read()
        if isinstance(tree, Unreadable):
            return tree
        self._arguments = tree.value
        self._repairs += tree.repairs
        self._notes += tree.notes
        return True

    def _ledger_call(self) -> None:
        """Judge what was read."""
        collector, ledger, tools = self._setting.collector, self._ledger, self._setting.tools
        end = self._stray.start if self._stray else self._window.offset
        span, name = Span(self._start, end), self._name
        found = self._object or Read(self._arguments)
        if not found.value and is_named_in_prose(self._window, self._start, name, tools):
            return
        repairs, notes = (*self._repairs, *found.repairs), (*self._notes, *found.notes)
        found = found._replace(repairs=repairs, notes=notes)
        if self.doubtful and self._object is None and not self._arguments:
            verdict = only_a_word(name)
        else:
            level = self._setting.level
            verdict = judge_named(
                name,
                found,
                form=self._form,
                span=span,
                tools=tools,
                level=level,
                frame=self.frame,
            )
        collector.truncated = collector.truncated or verdict.truncated
        if self._quoted:
            collector.diagnose("quoted", "a call in inline code is only quoted", *span)
            return
        for note in verdict.notes:
            collector.diagnose(note.code, note.message, *span)
        if verdict.call:
            ledger.accept(verdict.call)
        else:
            collector.drop(ledger.count)
            collector.attempt(span.start, cut=verdict.truncated)

    def _give_up(self, why: Unreadable | None) -> None:
        """It is no call: a mention if there was not even a name, else an attempt that failed."""
        window, at_end = self._window, self._at_end() and not self._ends_sentence()
        self._setting.collector.drop(self._ledger.count)
        if at_end:
            window.pos = len(window.text)
        span, self.failed = Span(self._start, window.offset), why is not None
        self.had_body = self.failed or at_end
        if not self.had_body:
            return
        if not self._quoted:
            cut = at_end if why is None else why.cut
            code = "truncated" if cut else why.code if why else "invalid-json"
            message = why.message if why else "the text ends before the call does"
            self._ledger.refuse(code, message, span, cut=cut)
        self._ledger.content(span.end)


_Reader: TypeAlias = Callable[[Any, Any, tuple[Word, ...]], Generator[None, None, Any]]

_READERS: dict[type, _Reader] = {
    Literal: TaggedBlock._literal,  # noqa: SLF001 - the block's own table
    Space: TaggedBlock._space,  # noqa: SLF001 - as above
    Markup: TaggedBlock._markup,  # noqa: SLF001 - as above
    Name: TaggedBlock._name_word,  # noqa: SLF001 - as above
    Maybe: TaggedBlock._maybe,  # noqa: SLF001 - as above
    Many: TaggedBlock._many,  # noqa: SLF001 - as above
    Arguments: TaggedBlock._json,  # noqa: SLF001 - as above
    Key: TaggedBlock._key_word,  # noqa: SLF001 - as above
    Attribute: TaggedBlock._attribute,  # noqa: SLF001 - as above
    Elements: TaggedBlock._elements,  # noqa: SLF001 - as above
    Value: TaggedBlock._value,  # noqa: SLF001 - as above
}
"""How each word of the grammar is read."""
