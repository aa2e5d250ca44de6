"""Registries of named things: built-ins, things added in code, and installed plug-ins.

A name belongs to one thing: if two packages claim it, or one claims a built-in's, every use of it
raises an error that names both. Entry points are read when the first name is looked up, and a
plug-in is imported when it is used or listed. A failure of its import or of its calls becomes one
sentence that names the plug-in and its package, and affects no other plug-in. One that hangs is
ended as any call is, by Ctrl-C; `tunaeval plugins` finds it.
"""

from __future__ import annotations

import inspect
import os
import re
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar, cast

from tunaeval.errors import (
    PluginClashError,
    PluginError,
    PluginLoadError,
    PluginShapeError,
    UnknownNameError,
)
from tunaeval.showing import brief, visible

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

LONGEST = 300
"""How many characters of an exception's message are kept."""


@cache
def _not_theirs() -> re.Pattern[str]:
    """How the file names of generated code, of this package and of the standard library begin."""
    from pathlib import Path  # noqa: PLC0415 - a parse needs no paths

    ours, library = (re.escape(str(Path(file).parent)) for file in (__file__, os.__file__))
    return re.compile(rf"<|{ours}|{library}(?!.*site-packages)")


Check: TypeAlias = Callable[[object], str | None]
"""A function that returns what is wrong with a thing's shape, or None if nothing is."""

_BROUGHT: dict[int, tuple[object, str]] = {}
"""Things from entry points, by `id`, with who brought each; kept, so that no id is used again."""

_WARNED: dict[int, object] = {}
"""Things that were warned about, by `id`; kept for the same reason as those in `_BROUGHT`."""


def remember(thing: object, who: str) -> None:
    """Record which plug-in (`who`, in words) a thing was loaded from."""
    _BROUGHT[id(thing)] = (thing, who)


def who(thing: object, kind: str, name: str | None = None) -> str:
    """Return a plug-in's description for messages, such as "client 'mine' of my-package 1.0". A
    thing that was passed as a value is described by `name`, or else by its `name` or `__name__`.
    """
    for known in (thing, type(thing)):
        if id(known) in _BROUGHT:
            return _BROUGHT[id(known)][1]
    try:
        own = getattr(thing, "name", None) or getattr(thing, "__name__", None)
        called: object = own if name is None else name
    except Exception:  # noqa: BLE001 - a plug-in's attributes may run code
        called = None
    return f"{kind} {called!r}" if isinstance(called, str) else f"{kind} {brief(thing)}"


def words_of(error: BaseException) -> str:
    """Return an exception as one line, "ValueError: its message", cut to `LONGEST` characters."""
    try:
        message = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - an exception's own __str__ may raise anything
        message = ""
    name = type(error).__name__
    return f"{name}: {message[:LONGEST]}" if message else name


def words_with_place(error: BaseException) -> str:
    """Return `words_of` a plug-in's exception, with the line of its code that raised it."""
    from pathlib import Path  # noqa: PLC0415 - as above

    place, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if not _not_theirs().match(code.co_filename):
            place = f" ({'/'.join(Path(code.co_filename).parts[-2:])}:{trace.tb_lineno})"
        trace = trace.tb_next
    return words_of(error) + place


def raised(thing: object, kind: str, error: BaseException, wanted: str) -> PluginError:
    """Return the PluginError for a plug-in that raised `error`; raise it `from error`."""
    return PluginError(f"{who(thing, kind)} raised {words_with_place(error)}; wanted {wanted}")


def returned(thing: object, kind: str, value: str, wanted: str) -> PluginError:
    """Return the PluginError for a plug-in that returned a wrong value; `value` describes it."""
    return PluginError(f"{who(thing, kind)} returned {value}; wanted {wanted}")


def warn_once(thing: object, kind: str, did: str) -> None:
    """Log a plug-in's misbehaviour (`did`) where no error can be raised, once for each plug-in."""
    import logging  # noqa: PLC0415 - only where something went wrong

    if id(thing) not in _WARNED:
        _WARNED[id(thing)] = thing
        logging.getLogger("tunaeval.registry").warning("%s %s", who(thing, kind), did)


def not_imported(what: str, where: str, why: str) -> str:
    """Return the message for a plug-in that cannot be imported."""
    return f"{what} cannot be imported from {where!r}: {why}; repair or uninstall it"


T = TypeVar("T")

_NAME = re.compile(r"[a-z0-9]+(?:[-._][a-z0-9]+)*")
_SIGNS = re.compile(r"[-._ ]")  # what differs in another spelling, as in `DEEPSEEK_V31`
_OURS = "tunaeval"


@dataclass(frozen=True, slots=True)
class Entry:
    """A row in the listing of a registry: a name, who brought it, and whether it can be used."""

    name: str
    group: str
    source: str
    """Either "tunaeval", "added in code", or a distribution's name and version."""
    status: Literal["ok", "broken", "clash"]
    reason: str = ""
    aliases: tuple[str, ...] = ()


class Registry(Generic[T]):
    """The things of one entry-point group, by name.

    Args:
        group: The entry-point group, such as "tunaeval.parsers".
        kind: What one thing is called in messages, such as "client".
        builtins: Names with "module.path:attribute", which is imported when the name is used.
        aliases: Further names for built-ins, to which `add` adds.
        refused: Names that users may try and that do not exist, with a hint for each.
        check: Returns what is wrong with a thing's shape, or None.
        command: Lists all names; `tunaeval plugins --group GROUP` if it is empty.
    """

    def __init__(
        self,
        group: str,
        kind: str,
        *,
        builtins: Mapping[str, str],
        aliases: Mapping[str, str] | None = None,
        refused: Mapping[str, str] | None = None,
        check: Check | None = None,
        command: str = "",
    ) -> None:
        self.group = group
        self.kind = kind
        self._builtins = dict(builtins)
        self._aliases = dict(aliases or {})
        self._refused = dict(refused or {})
        self._check = check
        self._command = command or f"{_OURS} plugins --group {group.rpartition('.')[2]}"
        self._added: dict[str, T] = {}
        self._loaded: dict[str, T] = {}
        self._plugins: dict[str, list[EntryPoint]] | None = None
        self._adding = threading.Lock()

    def get(self, name: str) -> T:
        """Return the thing called `name`, importing it if that has not happened yet. Raise
        UnknownNameError (with similar names) if nothing has that name, or a PluginError.
        """
        try:
            return self._loaded[name]
        except (KeyError, TypeError):  # TypeError for what cannot be a name
            thing = self._loaded[name] = self._find(name)
            return thing

    def add(self, name: str, thing: T) -> T:
        """Register `thing` for this process and return it; raise PluginError for a taken name."""
        what = f"{self.kind} {name!r}"
        thing = self._shaped(thing, what, name)
        aliases = own if isinstance(own := getattr(thing, "aliases", ()), tuple) else ()
        with self._adding:
            for one in (name, *aliases):
                _refuse(_name_fault(one), what)
                if owner := self._owner(one):
                    clash = f"cannot be added: {owner} has that name; choose another"
                    raise PluginClashError(f"{self.kind} {one!r} {clash}")
            self._added[name] = thing
            self._aliases.update(dict.fromkeys(aliases, name))
        return thing

    def refuse_clash(self, name: str) -> None:
        """Raise PluginClashError if an installed package claims `name`, which is a built-in's."""
        if (name in self._builtins or name in self._aliases) and name in self._entry_points():
            owners = " and ".join(map(_distribution, self._entry_points()[name]))
            raise PluginClashError(
                f"{self.kind} {name!r} is a name of {_OURS} itself, and is claimed by {owners}; "
                f"uninstall {owners}, or have it choose another name"
            )

    def names(self) -> tuple[str, ...]:
        """Return all names except aliases, sorted, without importing anything."""
        return tuple(sorted({*self._builtins, *self._added, *self._entry_points()}))

    def in_turn(self) -> Iterator[str]:
        """Yield the names in the order in which things are asked whether something is theirs: what
        was added in code, the latest first, then plug-ins by name, then built-ins.
        """
        yield from reversed([*self._added])
        yield from sorted(self._entry_points())
        yield from self._builtins

    def aliases(self) -> dict[str, str]:
        """Return the full name for each alias."""
        return dict(self._aliases)

    def entries(self) -> list[Entry]:
        """Return all entries, sorted by name; each thing is imported to see if it works."""
        plugins = [self.claimed(name, source) for name, source, _ in self.claims()]
        return sorted([*self.own_entries(), *plugins], key=in_order)

    def entry(self, name: str) -> Entry:
        """Return the entry of a name that `get` finds."""
        points = self._entry_points().get(name)
        if points:
            return self._plugin_entry(name, points[0])
        return self._entry(name, "added in code" if name in self._added else _OURS)

    def own_entries(self) -> list[Entry]:
        """Return the entries of built-ins and of things added in code."""
        ours = [self._entry(name, _OURS) for name in self._builtins]
        return [*ours, *(self._entry(name, "added in code") for name in self._added)]

    def claims(self) -> list[tuple[str, str, str]]:
        """Return (name, "package version", import path) of each plug-in, importing nothing."""
        return [
            (name, _distribution(point), point.value)
            for name, points in self._entry_points().items()
            for point in points
        ]

    def claimed(self, name: str, source: str) -> Entry:
        """Import the plug-in `name` of `source` (a "package version"), and return its entry."""
        points = self._entry_points()[name]
        return self._plugin_entry(name, next(one for one in points if _distribution(one) == source))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def __contains__(self, name: object) -> bool:
        ours = (self._builtins, self._added, self._aliases)
        return any(name in names for names in ours) or name in self._entry_points()

    def __repr__(self) -> str:
        return visible(f"<Registry {self.group}: {', '.join(self.names())}>", 2000)

    def _find(self, name: str) -> T:
        """Look a name up among additions, built-ins and plug-ins, after aliases are resolved."""
        if not isinstance(name, str):
            raise UnknownNameError(self.kind, name, self)
        self.refuse_clash(name)
        name = self._aliases.get(name, name)
        if name in self._added:
            return self._added[name]
        if name in self._builtins:
            module, _, attribute = self._builtins[name].partition(":")
            thing = getattr(import_module(module), attribute)
            return self._shaped(thing, f"{self.kind} {name!r}", name)
        match self._entry_points().get(name, []):
            case []:
                known, plain = [*self.names(), *self._aliases], _SIGNS.sub("", name.lower())
                alike = (f"did you mean {one!r}?" for one in known if _SIGNS.sub("", one) == plain)
                instead = self._refused.get(name) or next(alike, "")
                raise UnknownNameError(self.kind, name, known, instead, self._command)
            case [point]:
                return self._load(name, point)
            case points:
                owners = " and ".join(_distribution(point) for point in points)
                raise PluginClashError(
                    f"{self.kind} {name!r} is claimed by {owners}; uninstall all but one"
                )

    def _load(self, name: str, point: EntryPoint) -> T:
        """Import a plug-in, check its shape, and record which package it came from."""
        what = f"{self.kind} {name!r} of {_distribution(point)}"
        _refuse(_name_fault(name), what)
        try:
            thing = point.load()
        except (Exception, SystemExit, GeneratorExit, BaseExceptionGroup) as error:
            raise PluginLoadError(not_imported(what, point.value, words_of(error))) from error
        found = self._shaped(thing, what, name)
        remember(found, what)
        return found

    def _shaped(self, thing: object, what: str, name: str) -> T:  # noqa: ARG002 - for subclasses
        try:
            fault = self._check(thing) if self._check else None
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a thing's attributes may run code
            fault = f"looking at it raised {words_of(error)}"
        _refuse(fault, what)
        return cast("T", thing)

    def _owner(self, name: str) -> str | None:
        """Return, in words, who has `name` already, or None if the name is free."""
        if name in self._aliases:
            whose = "" if self._aliases[name] in self._added else f"{_OURS}'s "
            return f"{whose}{self._aliases[name]!r} (as an alias)"
        if name in self._builtins:
            return _OURS
        if name in self._added:
            return "something added before"
        points = self._entry_points().get(name)
        return _distribution(points[0]) if points else None

    def _entry_points(self) -> dict[str, list[EntryPoint]]:
        if self._plugins is None:
            self._plugins = _installed(self.group)
        return self._plugins

    def _entry(self, name: str, source: str) -> Entry:
        aliases = tuple(sorted(short for short, long in self._aliases.items() if long == name))
        try:
            found: object = self.get(name)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a listing survives what it lists
            why = str(error) if isinstance(error, PluginError) else words_of(error)
            return Entry(name, self.group, source, "broken", why, aliases)
        reason = _needs(found) if self.kind == "client" and callable(found) else ""
        return Entry(name, self.group, source, "ok", reason, aliases)

    def _plugin_entry(self, name: str, point: EntryPoint) -> Entry:
        source = _distribution(point)
        rivals = [
            _distribution(other) for other in self._entry_points()[name] if other is not point
        ]
        if name in self._builtins or name in self._added or name in self._aliases:
            rivals.append(self._owner(name) or _OURS)
        if rivals:
            reason = f"{name!r} is also claimed by {' and '.join(rivals)}"
            return Entry(name, self.group, source, "clash", reason)
        return self._entry(name, source)


def _needs(maker: Callable[..., object]) -> str:
    """Return, in words, which settings a client cannot be made without, or "" if there are none."""
    try:
        parameters = inspect.signature(maker).parameters.values()
    except (TypeError, ValueError):  # written in C, without a signature
        return ""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    names = [one.name for one in parameters if one.default is one.empty and one.kind in named]
    return f"needs {', '.join(names)}" if names else ""


def in_order(entry: Entry) -> tuple[str, str]:
    """Return the key that sorts entries: by name, then by source."""
    return entry.name, entry.source


def _name_fault(name: object) -> str | None:
    if isinstance(name, str) and _NAME.fullmatch(name):
        return None
    return f"{name!r} is no name: wanted lower-case letters and digits, joined by - . or _"


def _refuse(fault: str | None, what: str) -> None:
    if fault:
        raise PluginShapeError(f"{what} is refused: {fault}")


def strays(groups: Collection[str]) -> list[Entry]:
    """Return an entry, marked as broken, for each entry point whose group begins with "tunaeval."
    and is none of `groups`.
    """
    found = (
        Entry(
            point.name,
            point.group,
            _distribution(point),
            "broken",
            str(UnknownNameError("entry-point group", point.group, groups)),
        )
        for _, point in _points()
        if point.group.startswith(f"{_OURS}.") and point.group not in groups
    )
    return list(dict.fromkeys(found))  # a distribution may be on the path twice


def _installed(group: str) -> dict[str, list[EntryPoint]]:
    """Return a group's entry points by name; a distribution that is found twice counts once."""
    found: dict[str, dict[str, EntryPoint]] = {}
    for distribution, point in _points():
        if point.group == group:
            found.setdefault(point.name, {}).setdefault(distribution, point)
    return {name: list(points.values()) for name, points in found.items()}


def _points() -> Iterator[tuple[str, EntryPoint]]:
    """Yield every installed entry point with the name of its distribution."""
    from importlib.metadata import distributions  # noqa: PLC0415 - 15 ms, and most never need it

    for distribution in distributions():
        try:
            yield from [(distribution.name, point) for point in distribution.entry_points]
        except Exception:  # noqa: BLE001, S112 - one unreadable package must not hide the others
            continue


def _distribution(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value
