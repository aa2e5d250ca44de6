"""Reads a block whose tool name is outside of the arguments, word by word of its format.

Arguments are one JSON object, a bare text for each argument, or nested elements. The module
`markup` decides where a bare text ends.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from tunaeval import limits
from tunaeval.grammar import (
    TAG,
    Arguments,
    Attribute,
    Elements,
    Key,
    Literal,
    Many,
    Markup,
    Maybe,
    Name,
    Space,
    Value,
    Word,
    literal_texts,
    starts_with_space,
)
from tunaeval.grammar.format import Format
from tunaeval.limits import WIDE_SPACE
from tunaeval.types.calls import JsonObject, JsonValue, Repair, Span, Tools

from .block import Block, Setting, bounded, cut_off, literal, next_char, peek, stops_of
from .collect import LiveCall, LiveText
from .finder import ATTRIBUTE, SPACE, any_of, row
from .judge import HINTS, JudgedCall, stays_text, trimmed, typed, unescaped
from .markup import Closing, Piece, closing_of, in_element, note_of, with_marks
from .repair.schema import ANY, admitted, member
from .repair.values import QUOTES, Note, Read, Unreadable
from .window import Reading, Window

_ATTRIBUTE = re.compile(ATTRIBUTE)
_VALUED = ('" value="', "' value='")
_REST = re.compile(
    rf"""(["'])(?:\s{{1,9}}+(?:type|string)=["']({ATTRIBUTE})["'])?\s{{0,9}}+(?:/>|></[a-z]{{3,9}}>)"""
)
"""What follows a value that is an attribute, up to the end of its tag."""
_NEAR_SPACE = re.compile(WIDE_SPACE)

_NAMED = re.compile(r"\w \S++ ++[\w-]++ ++\S++\Z").match
"""Matches the end of a word, an opener, one word between spaces, and a closer."""

_BEFORE_WORDS = re.compile(r".?\w\Z|[\w*-] \Z", re.DOTALL).match
"""Matches the two characters before an opener that is part of a sentence or a list item."""

_Fits: TypeAlias = Reading[bool | Unreadable]
"""The result of reading a word: whether it is here, or an Unreadable if it is here but broken."""


class TaggedBlock(Block):
    """Reads a block word by word; see `Block`. `name` is the tool's if it was read before."""

    def __init__(
        self, setting: Setting, form: Format, start: int, *, quoted: bool, name: str | None = None
    ) -> None:
        super().__init__(setting, form, start, quoted=quoted)
        self._parts = _parts_of(form)
        self._name = name or form.tool or None
        self._key = ""
        self._kind: str | None = None
        """How an attribute says that the next value is written: "text", "json", or None."""
        self._live: LiveCall | None = None
        self._cut_at = -1
        """The offset of the last literal that the end of the text cut off, or -1."""
        self._lost_closer = False
        self._valued = False
        """Whether the value of the last key was an attribute, so that its argument is whole."""
        self._stray: Span | None = None
        self._arguments: JsonObject = {}
        self._object: Read | None = None
        self._repairs: list[Repair] = []
        self._notes: list[Note] = []

    def read(self) -> Reading[None]:
        """Read the block. Without a name and the words that must follow it, it gives no call."""
        words, closers, head, *_ = self._parts
        if head and self._is_whole and self._passes(head):
            fits = yield from self._body(words[-1], closers)
        else:
            fits = yield from self._row(words, closers)
        if fits is True:
            in_message = not closers and isinstance(words[-1], Many)
            fits = yield from (self._end_of_message() if in_message else self._closers(closers))
        if fits is not True:
            self._give_up(fits or None)
            return
        self.had_body = True
        self._close_at(self._window.offset, self._stray)

    @property
    def _is_whole(self) -> bool:
        """Whether the text is whole and no stream listens, so that several words are one step."""
        return self._window.final and self._collector.events is None

    def _passes(self, head: _Head) -> bool:
        """Skip all words before the arguments at once, if they are here; return whether they were.

        To read them one after the other would give the same.
        """
        (pattern, word, maybe), window = head, self._window
        found = pattern.match(window.text, window.pos)
        # A name that is guessed from an id gets the span up to the id's end.
        if not (found and found[1]) or (word.after and self._setting.level == "lenient"):
            return False
        window.pos = found.end()
        if maybe and cut_off(window, maybe):
            self._cut_at = window.offset
        return self._named(found[1], word)

    def _closers(self, words: Sequence[Word]) -> _Fits:
        """Skip the closers; judge the call if it is complete, and return whether it is."""
        window, open_, tail = self._window, self._object is None, self._parts.tail
        if tail and self._is_whole and (found := tail.match(window.text, window.pos)):
            window.pos, self.closed = found.end(), True
            self._take_all()
            return True
        for at, word in enumerate(words):
            if (yield from self._word(word)) or not isinstance(word, Literal):
                open_ = open_ and not isinstance(word, Literal)
                continue
            if open_:  # bare arguments end only at the first literal after them
                opener = self._form.opener if self._has_all() else None
                whole = self._arguments or (
                    opener and (yield from peek(window, literal(window, opener.spellings)))
                )
                if not whole:
                    return False
                if self._at_end():
                    message = "the text ends between two arguments"
                    return Unreadable("truncated", message, cut=True)
            self._take_all()
            char = window.text[window.pos : window.pos + 1]
            self._missed(word)
            if char and self._object is not None and char in f",{{{QUOTES}":
                self._repair_last("early-closer", "more arguments follow their closer", "lenient")
            yield from self._later_closers(words[at + 1 :])
            return True
        self.closed = True
        self._take_all()
        return True

    def _later_closers(self, words: Sequence[Word]) -> Reading[None]:
        """Skip the closers that are in the text although one before them is missing."""
        window = self._window
        for word in words:
            if isinstance(word, Literal):
                start = window.offset
                yield from bounded(window, _NEAR_SPACE)
                self.closed = yield from literal(window, word.spellings)
                if not self.closed:
                    window.pos = start - window.base
                    return

    def _end_of_message(self) -> _Fits:
        """Judge a call that ends with its message if it is complete; return whether it is."""
        envelope, window = self._form.envelope, self._window
        closes = envelope.closes.spellings if envelope else ()
        closed = not closes or (yield from peek(window, literal(window, closes)))
        at_end, here = self._at_end(), Span(window.offset, window.offset)
        if self._arguments and not (closed or at_end):
            self._repairs.append(Repair("unclosed", "text follows the last argument", here))
            self._notes.append(note_of(self._key))
        between = window.pos < len(window.text)
        if at_end and (between or not self._has_all()):
            where = "inside markup" if between else "before the call does"
            return Unreadable("truncated", f"the text ends {where}", cut=True)
        self.closed = True
        self._take_all()
        if at_end:
            self._repair_last("unclosed", "the text ends before the message does")
        return True

    def _has_all(self) -> bool:
        """Whether the call names a known tool and has all arguments that its schema declares."""
        known = self._setting.tools is not None and self._name in self._setting.tools
        declared = self._setting.parameters(self._name).get("properties")
        return known and self._arguments.keys() >= set(declared or ())

    def _take_all(self) -> None:
        """Judge the call that was read, unless a sentence only names the markup."""
        name, end = self._name, self._stray.start if self._stray else self._window.offset
        span, read = Span(self._start, end), self._object or Read(self._arguments)
        window, tools = self._window, self._setting.tools
        if not read.value and _is_named_in_prose(window, self._start, name, tools):
            return
        if self.doubtful and self._object is None and not self._arguments:
            message = f"{name!r} has no arguments, and may be no tool"
            self._take(JudgedCall(None, (Note("missing-arguments", message),)), span)
            return
        if self._repairs or self._notes:
            repairs, notes = (*self._repairs, *read.repairs), (*self._notes, *read.notes)
            read = Read(read.value, repairs, notes, read.truncated)
        self._take(self._judge(read, span, name), span)

    def _give_up(self, why: Unreadable | None) -> None:
        """Report a call that is broken (`why`) or cut off; anything else is only a mention."""
        window, tools = self._window, self._setting.tools
        at_end = self._at_end() and (
            self._form.marked or not _ends_sentence(window, self._start, self._name, tools)
        )
        self._collector.drop(self._count)
        if at_end:
            window.pos = len(window.text)
        self.failed, self.had_body = why is not None, at_end or why is not None
        if self.had_body:
            why = why or Unreadable("truncated", "the text ends before the call does", cut=True)
            self._fail("truncated" if why.cut else why.code, why.message, cut=why.cut)

    def _at_end(self) -> bool:
        """Whether the text ends at the position or inside the literal that is expected there."""
        window = self._window
        return window.final and (window.pos == len(window.text) or self._cut_at == window.offset)

    def _row(self, words: Sequence[Word], after: Sequence[Word] = ()) -> _Fits:
        """Read words in sequence until one is not here; `after` are the words that follow them."""
        for at, word in enumerate(words):
            fits = yield from self._word(word, (*words[at + 1 :], *after))
            if fits is not True or self._lost_closer or self._valued:
                return fits
        return True

    def _word(self, word: Word, after: Sequence[Word] = ()) -> _Fits:
        """Skip the word if it is here, and keep its value; return whether it was here."""
        window = self._window
        match word:
            case Literal():
                return (yield from self._literal(word))
            case Space():
                yield from next_char(window)
            case Markup():
                yield from bounded(window, re.compile(word.pattern))
            case Name():
                return (yield from self._name_here(word))
            case Key():
                key, self._kind = (yield from bounded(window, re.compile(word.regex))), None
                self._key = unescaped(key) if word.escaped else key
                if word.valued and (yield from literal(window, _VALUED)):
                    return (yield from self._attribute_value())
                return bool(key)
            case Attribute():
                self._kind = _kind_of((yield from bounded(window, _ATTRIBUTE)), word)
            case Maybe(words=words) if words and isinstance(first := words[0], Literal):
                if (yield from self._literal(first)):
                    return (yield from self._row(words[1:], after))
            case _:
                return (yield from self._body(word, after))
        return True

    def _body(self, word: Word, after: Sequence[Word]) -> _Fits:
        """Read arguments, or one's value, if they are here; return whether they were."""
        match word:
            case Arguments():
                if word.optional and (yield from next_char(self._window)) != "{":
                    return True
                usual = after == self._parts.closers
                stops = self._parts.stops if usual else stops_of(self._form, after)
                return (yield from self._json(word, stops))
            case Many():
                return (yield from self._many(word, after))
            case Elements():
                return (yield from self._elements(word, after))
        return (yield from self._value())

    def _literal(self, word: Literal) -> Reading[bool]:
        """Skip the literal if it comes next; return if so. If it is cut, set `_cut_at`."""
        found = yield from literal(self._window, word.spellings)
        if found and self._name:
            self._begin(self._name)
        elif not found and cut_off(self._window, word.spellings):
            self._cut_at = self._window.offset
        return found

    def _name_here(self, word: Name) -> Reading[bool]:
        """Read the tool's name if it is here; return whether it was."""
        window = self._window
        if word.before:
            yield from literal(window, (word.before,))
        name = yield from bounded(window, re.compile(word.pattern))
        if word.after:
            yield from bounded(window, re.compile(word.after))
        return self._named(name, word)

    def _named(self, name: str, word: Name) -> bool:
        """Keep the name that was read; return whether there was one."""
        tools = self._setting.tools
        name = self._of_id(name, word) if word.before and word.after else name
        half = name[: len(name) // 2]
        if word.doubled and name == f"{half}.{half}" and not (tools and name in tools):
            name = half
        self._name = name or None
        return bool(name)

    def _of_id(self, text: str, word: Name) -> str:
        """Return the one tool whose id `text` may be, read leniently: `functions_bash_1`."""
        tools, level = self._setting.tools or (), self._setting.level
        if level != "lenient" or not text or text in tools:
            return text
        stem = re.escape(word.before.rstrip("."))
        fitting = [
            tool
            for tool in tools
            if re.fullmatch(rf"(?:{stem})?[._-]?{re.escape(tool)}[._-]?[0-9]{{0,6}}", text)
        ]
        if len(fitting) == 1:
            message, span = f"{text[:60]!r} is no id", Span(self._start, self._window.offset)
            self._repairs.append(Repair("guessed-name", message, span, "lenient"))
            return fitting[0]
        return text

    def _begin(self, name: str) -> None:
        """Report once that a call of `name` starts, now that the name and its literal are read."""
        setting = self._setting
        if self._live or self._quoted or setting.collector.events is None:
            return
        self._live = setting.collector.begin(self._held, self._start, setting.tools)
        if self._live:
            self._live.start(name)

    def _json(self, word: Arguments, stops: tuple[str, ...]) -> _Fits:
        """Read the object of all arguments, which may be missing or `null`."""
        window = self._window
        char = yield from next_char(window)
        if char != "{":
            if char == "" or self._name is None:
                return False
            if word.text:
                return (yield from self._text_of(word.text, stops))
            yield from literal(window, ("null",))
            yield from next_char(window)
            if (yield from peek(window, literal(window, stops))):  # null, or nothing
                self._object = Read({})
                return True
            if self._at_end():
                return Unreadable("truncated", "the text ends before the arguments", cut=True)
            return Unreadable("invalid-arguments", f"{char!r} where the arguments were expected")
        self._begin(self._name or "")
        read = yield from self._object_here(stops, self._live, depth=1, mark=word.mark)
        if isinstance(read, Unreadable):
            return read
        self._notes += with_marks(read.value, word.mark) if word.mark else ()
        self._object = read
        return True

    def _text_of(self, key: str, stops: tuple[str, ...]) -> _Fits:
        """Read all text up to one of `stops` as the argument `key`."""
        ends, longest = "|".join(map(re.escape, stops)), max(map(len, stops))
        text = yield from _up_to(self._window, re.compile(ends), longest)
        if text is None:
            return Unreadable("truncated", "the text ends inside the arguments", cut=True)
        self._object = Read({key: text.strip()} if text.strip() else {})
        return True

    def _many(self, word: Many, after: Sequence[Word]) -> _Fits:
        """Read arguments, each in the words of `word`, until none follows.

        Instead of them there may be elements named after declared arguments, up to the closer.
        """
        first, closing, window = word.words[0], closing_of(self._form), self._window
        while True:
            if closing.plain and window.final and self._plain_arguments(closing.plain, closing):
                return True
            if not starts_with_space(word):
                yield from next_char(self._window)
            if not (isinstance(first, Literal) and (yield from self._literal(first))):
                if self._arguments or self._object or not (yield from self._has_element()):
                    return True
                return (yield from self._elements(Elements(""), after)) or Unreadable(
                    "invalid-arguments", "elements that are no arguments of the tool"
                )
            self._valued = False
            fits = yield from self._row(word.words[1:])
            if isinstance(fits, Unreadable):
                return fits
            if not fits and self._at_end():
                return Unreadable("truncated", "the text ends inside an argument", cut=True)
            if not fits:
                return Unreadable("invalid-arguments", "an argument that is not whole")
            if self._lost_closer:
                return True

    def _has_element(self) -> Reading[bool]:
        """Whether an element named after a declared argument is here."""
        declared = self._setting.parameters(self._name).get("properties")
        tags = tuple(f"<{key}>" for key in declared) if isinstance(declared, Mapping) else ()
        return bool(tags) and (yield from peek(self._window, literal(self._window, tags)))

    def _plain_arguments(self, pattern: re.Pattern[str], closing: Closing) -> bool:
        """Read the arguments here that `pattern` matches, of a whole text; return whether the call
        ends behind them.
        """
        window, root = self._window, self._root
        while found := pattern.match(window.text, window.pos):
            key, *kind, text = found.groups()
            self._key = unescaped(key) if closing.key.escaped else key
            self._kind = _kind_of(kind[0], closing.attribute) if closing.attribute else None
            if self._name:
                self._begin(self._name)
            self._argument((self._key, self._kind, text), closing.value, root)
            window.pos = found.end()
        tail = self._parts.tail if self._arguments else None
        return tail is not None and tail.match(window.text, window.pos) is not None

    def _attribute_value(self) -> _Fits:
        """Read a value that is an attribute, and the rest of its tag, which may have its type."""
        window = self._window
        text = yield from _up_to(window, _REST, limits.MARGIN)
        if text is None or not (found := _REST.match(window.text, window.pos)):
            return Unreadable("truncated", "the text ends inside an argument", cut=True)
        window.pos, self._valued = found.end(), True
        piece = self._key, _kind_of(found[2], _HINTED), text
        self._argument(piece, closing_of(self._form).value, self._root)
        return True

    def _value(self) -> _Fits:
        """Read one argument's value as bare text, and any arguments that it swallowed."""
        root, closing, start = self._root, closing_of(self._form), self._window.offset
        word, live = closing.value, None
        schema = member(root, self._key, root)
        plain = not word.quotes[0] and word.trim != "newlines" and self._kind not in ANY
        if plain and self._live and stays_text(schema, self._kind, root):
            live = LiveText(self._live, self._key, word.trim)
        bare = yield from closing.text_at(self._window, self._key, live)
        if isinstance(bare, Unreadable):
            return bare
        if live:
            live.end()
        text, closed, stray = bare
        self._lost_closer, closed = not closed, closed or bool(stray)
        if stray:  # text between the last argument and the call's end
            end = self._window.offset
            span = Span(end - len(stray.lstrip()), end - len(stray) + len(stray.rstrip()))
            self._repairs.append(Repair("unclosed", "text follows an argument's closer", span))
            self._stray = span if stray.strip() else None
            self._notes += [note_of(self._key)] if closing.has_tags(stray) else []
        first = self._key, self._kind, text
        pieces = closing.split(first, self._arguments, root, closed=closed)
        if not closed or len(pieces) > 1:
            lost = pieces[: max(1, len(pieces) - 1)][:6]
            keys = ", ".join(repr(key[:60]) for key, *_ in lost)
            message = f"the closing tag of {keys} is missing"
            self._repairs.append(Repair("unclosed", message, Span(start, start + 1)))
        self._notes += closing.swallowed(pieces, closed=closed)
        for at, piece in enumerate(pieces):
            self._argument(piece, word, root, reported=at == 0 and live is not None)
        return True

    @property
    def _root(self) -> object:
        """The schema of the tool's arguments; None if the tool is not known or has none."""
        return self._setting.parameters(self._name) or None

    def _argument(self, piece: Piece, word: Value, root: object, *, reported: bool = False) -> None:
        """Convert and keep an argument, and report it unless it was `reported` as it grew."""
        key, kind, text = piece
        if key in self._arguments and len(self._notes) < limits.MAX_DIAGNOSES:
            self._notes.append(Note("duplicate-key", f"more than once: {key!r}"))
        text = trimmed(text, word)
        if kind in ANY:
            text = unescaped(text)
        made = typed(text, self._types(key, root), kind)
        self._arguments[key] = made.value
        self._repairs += made.repairs
        self._notes += made.notes
        if self._live and not reported:
            self._live.whole(key, made.value)

    def _types(self, key: str, root: object) -> frozenset[str]:
        """Return the types that the tool's schema admits for an argument; made once for a tool."""
        tools, place = self._setting.tools, (self._name, key)
        found: frozenset[str] | None = tools.prepared.get(place) if tools is not None else None
        if found is None:
            found = admitted(member(root, key, root), root)
            declared = root.get("properties") if isinstance(root, Mapping) else None
            if tools is not None and isinstance(declared, Mapping) and key in declared:
                tools.prepared[place] = found
        return found

    def _elements(self, word: Elements, after: Sequence[Word]) -> _Fits:
        """Read arguments that are elements, up to the call's closer."""
        closer = next((one.text for one in after if isinstance(one, Literal)), "")
        schema = self._setting.parameters(self._name)
        if not word.prefix and (yield from next_char(self._window)) != "<":
            return self._object is not None
        tree = yield from ElementsReader(self._window, word, schema, closer).read()
        if isinstance(tree, Unreadable):
            return tree if word.prefix or tree.cut else False
        self._arguments = tree.value
        self._repairs += tree.repairs
        self._notes += tree.notes
        return bool(word.prefix or tree.value or self._object or not schema.get("required"))


def _up_to(window: Window, ends: re.Pattern[str], held: int) -> Reading[str | None]:
    """Skip and return the text up to what `ends` matches, of at most `held` characters; None if
    the text ends before it.
    """
    pieces = list[str]()
    while (found := ends.search(window.text, window.pos)) is None:
        end = len(window.text) - (0 if window.final else held)
        pieces.append(window.text[window.pos : max(window.pos, end)])
        window.pos = max(window.pos, end)
        if window.final:
            return None
        yield
    pieces.append(window.text[window.pos : found.start()])
    window.pos = found.start()
    return "".join(pieces)


def _ends_sentence(window: Window, start: int, name: str | None, tools: Tools | None) -> bool:
    """Whether the opener at offset `start` follows a word or list mark, in the text's last line.

    Replies without a call may end like this: "Here is a Call to Action:", "x>>>1", "- Action:
    rest". If `name` is that of a tool, the result is False.
    """
    at = start - window.base
    if tools is not None and name in tools:
        return False
    in_words = _BEFORE_WORDS(window.text[max(0, at - 2) : max(0, at)]) is not None
    return in_words and "\n" not in window.text[at:].rstrip()


def _is_named_in_prose(window: Window, start: int, name: str | None, tools: Tools | None) -> bool:
    """Whether the text from offset `start` to the position is a word between tags in a sentence, as
    in "between <tool_call> and </tool_call>". The name of a tool is no such word.
    """
    at = start - window.base
    if at < 2 or (tools is not None and name in tools):
        return False
    return _NAMED(window.text[at - 2 : window.pos]) is not None


_Head: TypeAlias = tuple[re.Pattern[str], Name, tuple[str, ...]]
"""A pattern of words with one name, that name, and the beginnings of words that may be missing."""


class _Parts(NamedTuple):
    """The words after the opener up to the arguments, and those that close the call.

    `head` is for the former without the arguments; `tail` is a pattern of the latter, where no
    further argument follows. `stops` are the texts that end an unclosed object.
    """

    words: tuple[Word, ...]
    closers: tuple[Word, ...]
    head: _Head | None
    tail: re.Pattern[str] | None
    stops: tuple[str, ...]


@lru_cache(maxsize=256)
def _parts_of(form: Format) -> _Parts:
    words, bodies = form.words[form.opener is not None :], Arguments | Many | Elements
    end = max(at for at, word in enumerate(words) if isinstance(word, bodies))
    names = [word for word in words[:end] if isinstance(word, Name)]
    before, behind, body = row(words[:end]), row(words[end + 1 :]), words[end]
    head = re.compile(before) if before and len(names) == 1 else None
    maybe = [word.words[0] for word in words[:end] if isinstance(word, Maybe)]
    further = ""
    if isinstance(body, Many) and isinstance(first := body.words[0], Literal):
        further = ("" if starts_with_space(body) else SPACE) + f"(?!{any_of(first)})"
    closing = re.compile(further + behind) if behind else None
    return _Parts(
        words[: end + 1],
        words[end + 1 :],
        (head, names[0], (*literal_texts(maybe),)) if head and head.groups == 1 else None,
        closing if closing and not closing.groups else None,
        stops_of(form, words[end + 1 :]),
    )


def _kind_of(written: str | None, word: Attribute) -> str | None:
    """Return how an attribute says that a value is written: "text", "json", or None.

    Of a hint it is the type of JSON schema.
    """
    if word.hint:
        return HINTS.get((written or "").lower())
    return "text" if written in word.text else "json" if written in word.json else None


_HINTED = Attribute((), (), hint=True)

_ARGUMENT = 2
"""The number of open elements directly in an argument: the call's and the argument's."""

_BRACKET = re.compile(rf"[ \t\r\n]{{0,{limits.SPACE_AHEAD}}}+[\[{{]?")
_CUT = Unreadable("truncated", "the text ends inside an element", cut=True)


@dataclass(slots=True)
class _Open:
    """An element that is being read, with its own texts and the inner elements."""

    tag: str
    schema: JsonValue
    texts: list[str] = field(default_factory=list)
    inner: list[tuple[str, JsonValue]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.texts)


class ElementsReader:
    """Reads the elements of one call; used once.

    The reader stops before a closing tag that closes no element. `closer` is the text that closes
    the call. Texts are converted by the tool's `schema` or, without one, by what they look like.
    """

    def __init__(self, window: Window, word: Elements, schema: object, closer: str) -> None:
        self._window = window
        self._closer = closer
        self._word = word
        self._tag = re.compile(re.escape(word.prefix) + TAG.pattern)
        self._root = schema
        self._open = [_Open("", schema)]
        self._repairs: list[Repair] = []
        self._notes: list[Note] = []

    def read(self) -> Reading[Read | Unreadable]:
        """Return the arguments, or why they cannot be read."""
        while True:
            top = self._open[-1]
            raw = yield from self._is_raw(top)
            text = yield from (self._raw(top.tag) if raw else self._text())
            if isinstance(text, Unreadable):
                return text
            top.texts.append(text)
            tag = self._tag.match(self._window.text, self._window.pos)
            if tag is None:
                raise AssertionError("a text ends in front of a tag")
            closing, name = bool(tag[1]), tag[2]
            if not (closing and name == top.tag):
                self._close_unmarked()
            if closing and len(self._open) == 1:
                if self._open[0].text.strip():
                    return Unreadable("invalid-arguments", "text beside the arguments")
                members = self._members(self._open[0])
                return Read(members, tuple(self._repairs), tuple(self._notes))
            fault = self._closed(name) if closing else self._opened(name)
            if fault:
                return fault
            self._window.pos = tag.end()

    def _text(self) -> Reading[str | Unreadable]:
        """Skip and return the text up to the next tag."""
        held = len(self._word.prefix) + limits.TAG_AHEAD
        text = yield from _up_to(self._window, self._tag, held)
        return _CUT if text is None else text

    def _declared(self) -> Collection[str]:
        """Return the names of the arguments that the tool's schema declares."""
        declared = self._root.get("properties") if isinstance(self._root, Mapping) else None
        return declared if isinstance(declared, Mapping) else ()

    def _is_raw(self, element: _Open) -> Reading[bool]:
        """Whether tags in an argument are text: its schema has no container type, or it is JSON."""
        if self._word.prefix or len(self._open) != _ARGUMENT or element.inner or element.texts:
            return False
        types = admitted(element.schema, self._root)
        if types == ANY or not types & {"array", "object"}:
            return True
        return (yield from peek(self._window, bounded(self._window, _BRACKET)))[-1:] in ("[", "{")

    def _raw(self, name: str) -> Reading[str | Unreadable]:
        """Return the text up to the first closer of argument `name` that another argument or the
        call's closer follows. If other text follows all of its closers, return an Unreadable.
        """
        window, closer, outer = self._window, f"</{name}>", self._closer
        names = "|".join(map(re.escape, self._declared()))
        ends = re.compile(
            rf"{re.escape(closer)}(?={WIDE_SPACE}(?:<(?:{names})>|{re.escape(outer)}))"
            rf"|(?P<over>{re.escape(outer)})"
        )
        pieces, last, closed = list[str](), "", False
        while True:
            end = ends.search(window.text, window.pos)
            held = max(window.pos, len(window.text) - len(closer) - 2 * limits.TAG_AHEAD)
            if closer == outer and not window.final and end and end.start() >= held:
                end = None  # what follows says which of the two it is
            stop = end.start() if end else len(window.text) if window.final else held
            piece = window.text[window.pos : stop]
            closed = closed or closer in last + piece
            last = (last + piece)[-len(closer) :]
            pieces.append(piece)
            window.pos = stop
            if end and not end["over"]:
                return "".join(pieces).removeprefix("\n").removesuffix("\n")
            if end and closed:
                return Unreadable("invalid-arguments", f"text follows {closer!r}")
            if end:
                pieces.append(outer)
                window.pos += len(outer)
            elif window.final:
                return _CUT
            else:
                yield

    def _opened(self, name: str) -> Unreadable | None:
        """Begin an element in the innermost one; return None, or why that is impossible."""
        if len(self._open) >= limits.MAX_DEPTH:
            return Unreadable("too-deep", f"elements nested deeper than {limits.MAX_DEPTH}")
        outer = self._open[-1]
        if not self._word.prefix and len(self._open) == 1 and name not in self._declared():
            return Unreadable("invalid-arguments", f"<{name}> is no declared argument")
        self._open.append(_Open(name, member(outer.schema, name, self._root, or_item=True)))
        return None

    def _closed(self, name: str) -> Unreadable | None:
        """End the innermost element with the tag `name`; return None, or why that is impossible."""
        top = self._open.pop()
        if name != top.tag:
            return Unreadable("invalid-arguments", f"<{top.tag}> is closed by </{name}>")
        if top.inner and top.text.strip():
            return Unreadable("invalid-arguments", f"<{top.tag}> has text beside its elements")
        self._open[-1].inner.append((name, self._value(top)))
        return None

    def _close_unmarked(self) -> None:
        """Close the innermost element if its text ends in its closing tag without the prefix."""
        top, closer = self._open[-1], f"</{self._open[-1].tag}>"
        if len(self._open) == 1 or top.inner:  # checked first: joining at each child is quadratic
            return
        text = top.text.rstrip()
        if not text.endswith(closer):
            return
        top.texts = [text.removesuffix(closer)]
        at = self._window.offset
        message = f"{closer!r} comes without what belongs before it"
        self._repairs.append(Repair("unclosed", message, Span(at - len(closer), at)))
        self._closed(top.tag)

    def _value(self, element: _Open) -> JsonValue:
        """Return the value of an element that was closed."""
        wanted = admitted(element.schema, self._root)
        types = frozenset[str]() if wanted == ANY else wanted
        if element.inner:  # a list or object: by the schema, else by the names
            nested, names = types & {"array", "object"}, {name for name, _ in element.inner}
            alike = len(names) == 1 and (
                self._word.item in names or ("array" in nested and len(element.inner) > 1)
            )
            if nested == {"array"} or (alike and nested != {"object"}):
                return [item for _, item in element.inner]
            return self._members(element)
        containers = types & {"array", "object"}
        if containers and not element.text.strip() and "string" not in types:
            return [] if "array" in types else {}
        text, prefix = element.text, self._word.prefix
        if prefix and in_element(text, element.tag, prefix, element.schema, self._root):
            self._notes.append(note_of(element.tag))
        made = typed(text, wanted, None)
        self._repairs += made.repairs
        self._notes += made.notes
        return made.value

    def _members(self, element: _Open) -> JsonObject:
        """Return the inner elements as an object; a repeated name has a list or its last value."""
        groups: dict[str, list[JsonValue]] = {}
        for name, value in element.inner:
            groups.setdefault(name, []).append(value)
        members: JsonObject = {name: values[-1] for name, values in groups.items()}
        for name, values in groups.items() if len(groups) < len(element.inner) else ():
            schema = member(element.schema, name, self._root)
            if values[1:] and "array" in admitted(schema, self._root):  # ANY includes it
                members[name] = values
            elif values[1:]:
                self._notes.append(Note("duplicate-key", f"an element twice in <{element.tag}>"))
        return members
