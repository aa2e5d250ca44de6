"""Arguments as nested elements, `<key>value</key>`.

Read without recursion, as the text arrives: a stack of open elements, each with what it holds so
far. The tool's schema says what a text stands for, or else what it looks like.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import dataclass, field

from tunaeval.grammar import Elements
from tunaeval.limits import MAX_DEPTH, TAG_AHEAD, WIDE_SPACE
from tunaeval.repair import ANY, Note, Read, Unreadable, admitted, member, member_or_item
from tunaeval.types import JsonObject, JsonValue, Repair, Span
from tunaeval.window import Window

from .block import next_char
from .markup import in_element, note_of
from .typing import typed

_ARGUMENT = 2
"""How many elements are open in an argument: the call, and it."""

TAG = re.compile(r"<(/?)([^\W\d][\w.:-]{0,127})>")


@dataclass(slots=True)
class _Open:
    """An element that is being read."""

    tag: str
    schema: object
    texts: list[str] = field(default_factory=list)
    inner: list[tuple[str, JsonValue]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(self.texts)


class ElementsReader:
    """Reads the elements of one call; used once.

    It stops before the first tag that does not fit, or that closes none of them. `ends` is what
    closes the call.
    """

    def __init__(self, window: Window, word: Elements, schema: object, ends: str = "") -> None:
        self._window = window
        self._ends = ends
        self._word = word
        self._begins = re.compile(rf"{re.escape(word.prefix)}(?=</?[^\W\d])")
        self._root = schema
        self._open = [_Open("", schema)]
        self._repairs: list[Repair] = []
        self._notes: list[Note] = []

    def read(self) -> Generator[None, None, Read | Unreadable]:
        window, prefix = self._window, self._word.prefix
        mark = prefix or "<"
        while True:
            top = self._open[-1]
            text: str | Unreadable | None
            if (yield from self._is_raw(top)):
                text = yield from self._raw(top.tag)
            else:
                text = yield from self._until()
            if isinstance(text, Unreadable):
                return text
            if text is None:
                return Unreadable("truncated", "the text ends inside an element", cut=True)
            top.texts.append(text)
            tag = yield from self._tag()
            if tag is None:
                top.texts.append(mark)
                window.pos += len(mark)
                continue
            closing, name = bool(tag[1]), tag[2]
            if not (closing and name == top.tag):
                self._close_unmarked()
            if closing and len(self._open) == 1:
                return self._finished()
            fault = self._closed(name) if closing else self._opened(name)
            if fault:
                return fault
            window.pos += len(prefix) + len(tag[0])

    def _until(self) -> Generator[None, None, str | None]:
        """The text up to what begins like a tag; None if the text ends before it."""
        window, pieces, held = self._window, list[str](), len(self._word.prefix) + 2
        while (found := self._begins.search(window.text, window.pos)) is None:
            if window.final:
                window.pos = len(window.text)
                return None
            end = max(window.pos, len(window.text) - held)
            pieces.append(window.text[window.pos : end])
            window.pos = end
            yield
        pieces.append(window.text[window.pos : found.start()])
        window.pos = found.start()
        return "".join(pieces)

    def _tag(self) -> Generator[None, None, re.Match[str] | None]:
        """The tag behind the prefix here, not passed over."""
        window, size = self._window, len(self._word.prefix)
        while True:
            found = TAG.match(window.text, window.pos + size)
            if found or window.final or len(window.text) - window.pos - size > TAG_AHEAD:
                return found
            yield

    # --- without a prefix --------------------------------------------------------------------

    def _declared(self) -> Collection[str]:
        """The names of the arguments that the tool's schema declares."""
        declared = self._root.get("properties") if isinstance(self._root, Mapping) else None
        return declared if isinstance(declared, Mapping) else ()

    def _is_raw(self, element: _Open) -> Generator[None, None, bool]:
        """Whether any tag in an argument is a part of it: its schema wants no elements, or it is
        JSON.
        """
        if self._word.prefix or len(self._open) != _ARGUMENT or element.inner or element.texts:
            return False
        types = admitted(element.schema, self._root)
        if types == ANY or not types & {"array", "object"}:
            return True
        before = self._window.offset
        char = yield from next_char(self._window)
        self._window.pos = max(0, before - self._window.base)
        return char in ("[", "{")

    def _raw(self, name: str) -> Generator[None, None, str | Unreadable | None]:
        """The text up to the closer that another argument or the call's end follows.

        None if the text ends before it. Where the call ends, and all closers of the argument were
        followed by something else, it cannot be read.
        """
        window, closer, outer = self._window, f"</{name}>", self._ends
        names = "|".join(map(re.escape, self._declared()))
        ends = re.compile(
            rf"{re.escape(closer)}(?={WIDE_SPACE}(?:<(?:{names})>|{re.escape(outer)}))"
            rf"|(?P<over>{re.escape(outer)})"
        )
        pieces, last, closed = list[str](), "", False
        while True:
            end = ends.search(window.text, window.pos)
            held = max(window.pos, len(window.text) - len(closer) - 2 * TAG_AHEAD)
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
                return None
            else:
                yield

    # --- elements ----------------------------------------------------------------------------

    def _opened(self, name: str) -> Unreadable | None:
        if len(self._open) >= MAX_DEPTH:
            return Unreadable("too-deep", f"elements nested deeper than {MAX_DEPTH}")
        outer = self._open[-1]
        if not self._word.prefix and len(self._open) == 1 and name not in self._declared():
            return Unreadable("invalid-arguments", f"<{name}> is no declared argument")
        self._open.append(_Open(name, member_or_item(outer.schema, name, self._root)))
        return None

    def _closed(self, name: str) -> Unreadable | None:
        """The element on top ends here; it becomes a part of the one that holds it."""
        top = self._open.pop()
        if name != top.tag:
            return Unreadable("invalid-arguments", f"<{top.tag}> is closed by </{name}>")
        if top.inner and top.text.strip():
            return Unreadable("invalid-arguments", f"<{top.tag}> has text beside its elements")
        self._open[-1].inner.append((name, self._value(top)))
        return None

    def _close_unmarked(self) -> None:
        """Close the element on top if its closing tag stands there without its prefix."""
        top, closer = self._open[-1], f"</{self._open[-1].tag}>"
        if len(self._open) == 1 or top.inner:  # asked first: joining at each child is quadratic
            return
        text = top.text.rstrip()
        if not text.endswith(closer):
            return
        top.texts = [text.removesuffix(closer)]
        at = self._window.offset
        message = f"{closer!r} comes without what belongs before it"
        self._repairs.append(Repair("unclosed", message, Span(at - len(closer), at)))
        self._closed(top.tag)

    def _finished(self) -> Read | Unreadable:
        root = self._open[0]
        if root.text.strip():
            return Unreadable("invalid-arguments", "text beside the arguments")
        return Read(self._members(root), tuple(self._repairs), tuple(self._notes))

    # --- values ------------------------------------------------------------------------------

    def _value(self, element: _Open) -> JsonValue:
        types = admitted(element.schema, self._root)
        types = frozenset[str]() if types == ANY else types
        if element.inner:
            return self._nested(element, types)
        if not element.text.strip() and "string" not in types:
            empty = next((make for kind, make in _EMPTY.items() if kind in types), None)
            if empty:
                return empty()
        text, prefix = element.text, self._word.prefix
        if prefix and in_element(text, element.tag, prefix, element.schema, self._root):
            self._notes.append(note_of(element.tag))
        made = typed(text, element.schema, None, self._root)
        self._repairs += made.repairs
        self._notes += made.notes
        return made.value

    def _nested(self, element: _Open, types: frozenset[str]) -> JsonValue:
        """An object or a list: as the schema says, else as the names of the elements show."""
        nested = types & {"array", "object"}
        if nested == {"object"}:
            return self._members(element)
        names = Counter(name for name, _ in element.inner)
        one_name = len(names) == 1 and (self._word.item in names or "array" in nested)
        several = len(element.inner) > 1 or self._word.item in names
        if nested == {"array"} or (one_name and several):
            return [item for _, item in element.inner]
        return _grouped(element.inner, names)

    def _members(self, element: _Open) -> JsonObject:
        """An object of these elements: several of one name are a list, where one is admitted.

        Elsewhere the last counts.
        """
        inner, names = element.inner, Counter(name for name, _ in element.inner)
        for name, count in names.items() if len(names) < len(inner) else ():
            types = admitted(member(element.schema, name, self._root), self._root)
            if count > 1 and "array" not in types:  # any type has it, too
                self._notes.append(Note("duplicate-key", f"an element twice in <{element.tag}>"))
                names[name] = 1
        return _grouped(inner, names)


def _grouped(inner: list[tuple[str, JsonValue]], names: Counter[str]) -> JsonObject:
    """An object in which elements of one name are a list."""
    members: JsonObject = {}
    groups: dict[str, list[JsonValue]] = {name: [] for name, count in names.items() if count > 1}
    for name, value in inner:
        if name in groups:
            groups[name].append(value)
            members[name] = groups[name]
        else:
            members[name] = value
    return members


_EMPTY: dict[str, Callable[[], JsonValue]] = {"array": list, "object": dict}
"""What an element without anything in it stands for, by the type that its schema wants."""
