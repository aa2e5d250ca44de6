"""Tells of a call while its JSON is read, from the pieces that a reader has written so far."""

from __future__ import annotations

import json
from collections import deque
from typing import NamedTuple

from tunaeval.limits import STARTED_NAME
from tunaeval.types import ARGUMENTS_KEYS, NAME_KEYS

from .events import Event
from .live import LiveCall, arguments_text, loaded

_OPENERS, _CLOSERS = frozenset("{["), frozenset("}]")


class Mark(NamedTuple):
    """Where a member begins: its key as JSON, and the number of its value's first piece.

    Without a key: where an object or array ends, by the number of the piece behind it. `depth`
    counts the brackets that are open around it.
    """

    depth: int
    key: str
    at: int


class Marks:
    """Follows the pieces of a draft: brackets, keys, whole values, and strings bit by bit.

    A string that grows begins and ends with a quote that is a piece of its own; a key is one piece
    with its colon.
    """

    def __init__(self, pieces: list[str]) -> None:
        self._pieces = pieces
        self.seen = 0
        self._depth = 0
        self.in_string = False

    def new(self) -> list[Mark]:
        """What stands in the pieces that were added since the last time."""
        marks: list[Mark] = []
        pieces = self._pieces
        for at in range(self.seen, len(pieces)):
            piece = pieces[at]
            if piece == '"':
                self.in_string = not self.in_string
            elif self.in_string:
                continue
            elif piece in _OPENERS:
                self._depth += 1
            elif piece in _CLOSERS:
                self._depth -= 1
                marks.append(Mark(self._depth, "", at + 1))
            elif piece[-1:] == ":":
                marks.append(Mark(self._depth, piece[:-1].removeprefix(","), at + 1))
        self.seen = len(pieces)
        return marks


class LiveObject:
    """Tells of a call while its JSON is read, by looking at the draft now and then.

    `depth` is that of the arguments' members: 1 when the object is the arguments, 2 when it also
    holds the name. `keys` are the keys of name and arguments; None when the only key is the name.
    """

    def __init__(
        self,
        call: LiveCall,
        pieces: list[str],
        *,
        depth: int,
        keys: tuple[str, str] | None = None,
        marked: bool = True,
    ) -> None:
        self.call = call
        self._pieces = pieces
        self._marks = Marks(pieces)
        self._depth = depth
        self._keys = keys
        self._marked = marked
        self._name_at: int | None = None
        self._name = ""
        self._inside = depth == 1
        self._members: deque[_Member] = deque()
        self.growing = False
        """Whether a string is being read and all there is of it was told."""

    def tell(self) -> None:
        """Tell what has become certain since the last time."""
        if self._marks.seen == len(self._pieces):
            return
        for mark in self._marks.new():
            if mark.depth <= self._depth:
                self._end(mark)
                self._begin(mark)
        if self._name_at is not None and not self.call.started:
            self._learn(self._name_at)
        if self.call.started and self._members:
            self._send()
            members, size = self._members, len(self._pieces)
            self.growing = bool(members) and members[0].sent == size and self._marks.in_string

    def grown(self, piece: str) -> Event:
        """A string of which all was told has grown by this piece; what there is to tell of it."""
        self._members[0].sent = self._marks.seen = len(self._pieces)
        return self.call.grown(piece)

    def _end(self, mark: Mark) -> None:
        """A mark behind the last member shows where its value ends."""
        if self._members and self._members[-1].end is None:
            own = mark.depth == self._depth and not mark.key
            self._members[-1].end = mark.at if own else mark.at - 1

    def _begin(self, mark: Mark) -> None:
        if mark.depth == self._depth and mark.key and self._inside:
            self._members.append(_Member(mark.key, mark.at))
        elif mark.depth == self._depth - 1 and self._depth > 1:
            self._outer(mark)

    def _outer(self, mark: Mark) -> None:
        """A member of the object that holds name and arguments, or its end."""
        self._inside = False
        key = _read(mark.key) if mark.key else ""
        name_key, arguments_key = self._keys or ("", "")
        if key == name_key or (self._name_at is None and key in NAME_KEYS):
            self._name_at, self._name = mark.at, ""
        elif key == arguments_key or key in ARGUMENTS_KEYS:
            self._inside = True
        elif key and self._keys is None:
            self._inside = True
            self.call.start(key)

    def _learn(self, at: int) -> None:
        """The name, once all of it is there; a bare object needs arguments as well."""
        if not (self._marked or self._inside or self._members):
            return
        for piece in self._pieces[at:]:
            if len(self._name) > STARTED_NAME or self.call.started:
                return
            self._name += piece
            self._name_at = at = at + 1
            name = loaded(self._name) if piece[-1:] == '"' else None
            if isinstance(name, str):
                self.call.start(name)

    def _send(self) -> None:
        told: list[str] = []
        while self._members and self._whole(self._members[0], told):
            self._members.popleft()
        self.call.grow("".join(told))

    def _whole(self, member: _Member, told: list[str]) -> bool:
        """Tell what there is of a member; whether that is all of it."""
        pieces, at = self._pieces, member.at
        end = member.end
        limit = len(pieces) if end is None else end
        if limit <= max(at, member.sent or 0):
            return end is not None
        if member.sent is None:
            text = pieces[at][0] == '"'
            if not self.call.plain(_read(member.key), text=text):
                return end is not None and self._held(member, end, told)
            told.append(self._opening(member, told))
            member.sent = at
        told += pieces[member.sent : limit]
        member.sent = limit
        return end is not None

    def _held(self, member: _Member, end: int, told: list[str]) -> bool:
        """A value that the schema may change is told when it is whole."""
        value = json.loads("".join(self._pieces[member.at : end]))
        fitted = self.call.fitted(_read(member.key), value)
        told += (self._opening(member, told), arguments_text(fitted))
        return True

    def _opening(self, member: _Member, told: list[str]) -> str:
        return f",{member.key}:" if told else self.call.member(member.key)


def _read(key: str) -> str:
    """A key that is written as JSON."""
    return str(json.loads(key)) if "\\" in key else key[1:-1]


class _Member:
    """One argument: its key as JSON, where its value's pieces begin and end, what was told."""

    __slots__ = ("at", "end", "key", "sent")

    def __init__(self, key: str, at: int) -> None:
        self.key = key
        self.at = at
        self.end: int | None = None
        self.sent: int | None = None
