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
from tunaeval.repair import QUOTES, Note, Read, Unreadable, member, object_reader
from tunaeval.types import JsonObject, Repair, Span
from tunaeval.window import Reading

from .block import (
    Begun,
    Setting,
    bounded,
    closers_here,
    literal,
    next_char,
    stands,
)
from .closings import Closing, Plain, bare_text, closing_of, plain_of, shows_end, stops_of
from .collect import LiveCall, LiveObject, LiveText
from .elements import ElementsReader
from .judge import judge_named, object_at, only_a_word
from .markup import Piece, never_closed, note_of, pieces_of, swallowed, with_marks
from .quoting import ends_sentence, is_named_in_prose
from .typing import stays_text, trimmed, typed, undoubled, unescaped

_BODIES = Arguments | Many | Elements
_ATTRIBUTE = re.compile(r"[A-Za-z]{0,16}")


class TaggedBlock(Begun):
    """A block that is read word by word, as far as it has been read; see `Begun`."""

    def __init__(
        self, setting: Setting, form: Format, start: int, *, quoted: bool, name: str | None = None
    ) -> None:
        super().__init__(setting, form, start, quoted=quoted)
        self._name = name or form.tool or None
        self._key = ""
        self._raw: str | None = None
        self._live: LiveCall | None = None
        self._missed: dict[str, int] = {}
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
            if nothing and self._form.opener and self._has_all():
                nothing = not (yield from stands(window, self._form.opener.spellings))
            between = open_ and self._at_end()
            if nothing or between:
                cut = Unreadable("truncated", "the text ends between two arguments", cut=True)
                self._give_up(None if nothing else cut)
                return
            self._judge()
            self._miss(word)
            self.closed = yield from closers_here(words[index + 1 :], window)
            break
        else:
            row_ends = isinstance(words[-1], Many)
            if row_ends:
                yield from self._look_for_lost_tags()
                row_ends = self._at_end()
            between = window.pos < len(window.text)
            if row_ends and (between or not self._has_all()):
                where = "inside markup" if between else "before the call does"
                self._give_up(Unreadable("truncated", f"the text ends {where}", cut=True))
                return
            self.closed = True
            self._judge()
            if row_ends:
                self._repair_last("unclosed", "the text ends before the message does")
        self.had_body = True
        self._close_at(window.offset, self._stray)

    def _look_for_lost_tags(self) -> Reading[None]:
        """Note what follows the last argument of a message, if that is not the message's end."""
        envelope, window = self._form.envelope, self._window
        if envelope and not (yield from stands(window, envelope.closes.spellings)):
            here = Span(window.offset, window.offset)
            if not self._at_end() and self._arguments:
                self._repairs.append(Repair("unclosed", "text follows the last argument", here))
                self._notes.append(note_of(self._key))

    def _has_all(self) -> bool:
        """Whether it names a tool, and has all of its arguments: no other one can follow."""
        known = self._setting.tools is not None and self._name in self._setting.tools
        declared = self._setting.parameters(self._name).get("properties")
        return known and self._arguments.keys() >= set(declared or ())

    def _ends_sentence(self) -> bool:
        """Whether the opener is words, which end a sentence."""
        ends = ends_sentence(self._window, self._start, self._name, self._setting.tools)
        return ends and not self._form.marked

    def _judge(self) -> None:
        """Judge what was read."""
        tools = self._setting.tools
        end = self._stray.start if self._stray else self._window.offset
        span, name = Span(self._start, end), self._name
        found = self._object or Read(self._arguments)
        if not found.value and is_named_in_prose(self._window, self._start, name, tools):
            return
        if self._repairs or self._notes:
            found = found._replace(
                repairs=(*self._repairs, *found.repairs), notes=(*self._notes, *found.notes)
            )
        if self.doubtful and self._object is None and not self._arguments:
            verdict = only_a_word(name)
        else:
            verdict = judge_named(
                name,
                found,
                form=self._form,
                span=span,
                tools=tools,
                level=self._setting.level,
                frame=self.frame,
            )
        self._take(verdict, span)

    def _miss(self, word: Word) -> None:
        """A closer is not here. Behind an object, more of what is in one may be."""
        window = self._window
        wanted = word.text if isinstance(word, Literal) else repr(word)
        char = window.text[window.pos : window.pos + 1]
        where = "other text follows" if char else "the text ends"
        self._repair_last("unclosed", f"{where} before {wanted!r}")
        if char and self._object is not None and char in f",{{{QUOTES}":
            self._repair_last("early-closer", "more arguments follow their closer", "lenient")
        left = len(window.text) - window.pos if window.final else 0
        near = isinstance(word, Literal) and 0 < left <= len(wanted)
        if near and wanted.startswith(window.text[window.pos :]):
            window.pos = len(window.text)

    def _give_up(self, why: Unreadable | None) -> None:
        """It is no call: a mention if there was not even a name, else an attempt that failed."""
        window, at_end = self._window, self._at_end() and not self._ends_sentence()
        self._setting.collector.drop(self._count)
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
            self._refuse(code, message, span, cut=cut)
        self._content_to(span.end)

    def _word(
        self, word: Word, after: tuple[Word, ...]
    ) -> Generator[None, None, bool | Unreadable]:
        """Whether the word stands here; an Unreadable if it does, but broken."""
        return (yield from _READERS[type(word)](self, word, after))  # type: ignore[no-any-return]  # the table's readers all do

    def _literal(self, word: Literal, _: tuple[Word, ...] = ()) -> Generator[None, None, bool]:
        """Whether the text stands here; what was looked for in vain is remembered, and where."""
        found = yield from literal(self._window, word.spellings)
        if not found:
            self._missed.update(dict.fromkeys(word.spellings, self._window.offset))
        if found and self._name and self._live is None:
            self._begin(self._name)
        return found

    def _at_end(self) -> bool:
        """Whether the text ends here, perhaps inside a fixed text."""
        window = self._window
        rest = window.text[window.pos : window.pos + VALUE_AHEAD]
        missed = (text for text, at in self._missed.items() if at == window.offset)
        return window.final and (not rest or any(text.startswith(rest) for text in missed))

    def _begin(self, name: str) -> None:
        """The name stands, and what has to follow it."""
        setting = self._setting
        if not self._quoted and setting.collector.events is not None:
            waiting = self._count
            self._live = setting.collector.begin(waiting, self._start, setting.tools)
        if self._live:
            self._live.start(name)

    def _space(self, _word: Space, _: tuple[Word, ...]) -> Generator[None, None, bool]:
        yield from next_char(self._window)
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
        first, plain = word.words[0], plain_of(self._form, word, after)
        while True:
            if plain and self._window.final:
                self._plain_arguments(plain)
            if not starts_with_space(word):
                yield from next_char(self._window)
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

    def _plain_arguments(self, plain: Plain) -> None:
        """Read the arguments here that hold no markup, each at once; their text is all there."""
        window, root = self._window, self._setting.parameters(self._name) or None
        while found := plain.match(window.text, window.pos):
            key, *kind, text = found.groups()
            self._key = unescaped(key) if plain.key.escaped else key
            self._raw = _kind_of(kind[0], plain.attribute) if plain.attribute else None
            if self._name and self._live is None:
                self._begin(self._name)
            self._argument(Piece(self._key, self._raw, text), plain.value, root, reported=False)
            window.pos = found.end()

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
            yield from literal(window, ("null",))
            yield from next_char(window)
            if (yield from stands(window, stops)):  # null, or nothing at all
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
        elif window.final and not word.mark:
            known = self._setting.known
            read, window.pos = object_at(window.text, window.pos, window.base, stops, known)
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
        self._raw = _kind_of((yield from bounded(self._window, _ATTRIBUTE)), word)
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
        bare = yield from bare_text(self._window, closing, self._key, live)
        if isinstance(bare, Unreadable):
            return bare
        if live:
            live.end()
        self._lost_closer, closed = not bare.closed, bare.closed or bool(bare.stray)
        if bare.stray:
            self._set_aside(bare.stray, closing)
        first = Piece(self._key, self._raw, bare.text)
        pieces = pieces_of(first, closing, self._arguments, root, closed=closed)
        if not closed or len(pieces) > 1:
            self._repairs.append(never_closed(pieces, start))
        self._notes += swallowed(pieces, closing, closed=closed)
        for piece in pieces:
            self._argument(piece, word, root, reported=bool(live) and piece is pieces[0])
        return True

    def _set_aside(self, stray: str, closing: Closing) -> None:
        """Keep text before the position apart that is in the call and no part of an argument."""
        end = self._window.offset
        span = Span(end - len(stray.lstrip()), end - len(stray) + len(stray.rstrip()))
        self._repairs.append(Repair("unclosed", "text follows an argument's closer", span))
        self._stray = span if stray.strip() else None
        if closing.marks.inside(stray):
            self._notes.append(note_of(self._key))

    def _argument(self, piece: Piece, word: Value, root: object, *, reported: bool) -> None:
        """Keep an argument, and report it if that was not done while it grew."""
        if piece.key in self._arguments:
            self._notes.append(Note("duplicate-key", f"more than once: {piece.key!r}"))
        made = typed(trimmed(piece.text, word), member(root, piece.key, root), piece.kind, root)
        self._arguments[piece.key] = made.value
        self._repairs += made.repairs
        self._notes += made.notes
        if self._live and not reported:
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


def _kind_of(written: str | None, word: Attribute) -> str | None:
    """Return what an attribute says of a value: "text", "json", or None."""
    return "text" if written in word.text else "json" if written in word.json else None


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
