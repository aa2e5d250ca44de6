"""Named things that others can add to: built-ins, additions in code, installed plug-ins.

A name belongs to one thing: one that is claimed twice, by a plug-in and by tunaeval too, is an
error that names both, wherever it is used. Entry points are read when the first name is asked for.
A plug-in is imported when it is asked for, or to be listed, and one that is broken is in nobody's
way.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Generic, Literal, TypeVar, cast

from tunaeval.errors import (
    PluginClashError,
    PluginError,
    PluginShapeError,
    UnknownNameError,
)
from tunaeval.plugins import remember, remember_module, words_of

from .shapes import Check

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")

_NAME = re.compile(r"[a-z0-9]+(?:[-._][a-z0-9]+)*")
_SIGNS = re.compile(r"[-._ ]")
_OURS = "tunaeval"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a listing: a name, who brought it, and whether it can be used."""

    name: str
    group: str
    source: str
    """ "tunaeval", "added in code", or a distribution and its version."""
    status: Literal["ok", "broken", "clash"]
    reason: str = ""
    aliases: tuple[str, ...] = ()


class Registry(Generic[T]):
    """The things of one entry-point group by name; `aliases` are further names of built-ins.

    Built-ins are "module.path:attribute", imported when asked for; `refused`: why a name is none;
    `command`: what lists all, if it is not `tunaeval plugins --group GROUP`.
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
        """The thing called `name`, imported now if it was not yet.

        Raises UnknownNameError (with near misses) or a PluginError.
        """
        try:
            return self._loaded[name]
        except (KeyError, TypeError):  # TypeError for what cannot be a name
            thing = self._loaded[name] = self._find(name)
            return thing

    def add(self, name: str, thing: T) -> T:
        """Register `thing` for this process; returns it. A name that is taken is refused."""
        _refuse(_name_fault(name) or self._shape_fault(thing), f"{self.kind} {name!r}")
        with self._adding:
            if owner := self._owner(name):
                raise PluginClashError(
                    f"{self.kind} {name!r} cannot be added: {owner} has that name; choose another"
                )
            self._added[name] = thing
        return thing

    def refuse_clash(self, name: str) -> None:
        """Raise PluginClashError for a name of ours that a package claims, too. `get` asks this."""
        if (name in self._builtins or name in self._aliases) and name in self._entry_points():
            owners = " and ".join(map(_distribution, self._entry_points()[name]))
            raise PluginClashError(
                f"{self.kind} {name!r} is claimed by {_OURS}, which brings it, and by {owners}; "
                f"uninstall {owners}, or have it choose another name"
            )

    def names(self) -> tuple[str, ...]:
        """All names but aliases, sorted; nothing is imported for it."""
        return tuple(sorted({*self._builtins, *self._added, *self._entry_points()}))

    def aliases(self) -> dict[str, str]:
        """Further names, and what each stands for."""
        return dict(self._aliases)

    def entries(self) -> list[Entry]:
        """Everything that claims a name, each imported by itself to see whether it works."""
        plugins = [self.claimed(name, source) for name, source, _ in self.claims()]
        return sorted([*self.own_entries(), *plugins], key=in_order)

    def entry(self, name: str) -> Entry:
        """The entry of a name that `get` knows."""
        points = self._entry_points().get(name)
        if points:
            return self._plugin_entry(name, points[0])
        return self._entry(name, "added in code" if name in self._added else _OURS)

    def own_entries(self) -> list[Entry]:
        """What comes with us, and what was added in code."""
        ours = [self._entry(name, _OURS) for name in self._builtins]
        return [*ours, *(self._entry(name, "added in code") for name in self._added)]

    def claims(self) -> list[tuple[str, str, str]]:
        """What plug-ins claim: each name, who claims it and from where; nothing is imported."""
        return [
            (name, _distribution(point), point.value)
            for name, points in self._entry_points().items()
            for point in points
        ]

    def claimed(self, name: str, source: str) -> Entry:
        """The entry of a plug-in's claim; it is imported to see whether it works."""
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
        return f"Registry({self.group!r})"

    def _find(self, name: str) -> T:
        if not isinstance(name, str):
            raise UnknownNameError(self.kind, name, self)
        self.refuse_clash(name)
        name = self._aliases.get(name, name)
        if name in self._added:
            return self._added[name]
        if name in self._builtins:
            return self._shaped(_import(self._builtins[name]), f"{self.kind} {name!r}")
        match self._entry_points().get(name, []):
            case []:
                known = [*self.names(), *self._aliases]
                instead = self._refused.get(name) or _alike(name, known)
                raise UnknownNameError(self.kind, name, known, instead, self._command)
            case [point]:
                return self._load(name, point)
            case points:
                owners = " and ".join(_distribution(point) for point in points)
                raise PluginClashError(
                    f"{self.kind} {name!r} is claimed by {owners}; uninstall all but one"
                )

    def _load(self, name: str, point: EntryPoint) -> T:
        what = f"{self.kind} {name!r} of {_distribution(point)}"
        _refuse(_name_fault(name), what)
        from .importing import imported  # noqa: PLC0415 - signals and clocks: built-ins need none

        remember_module(point.module, what)
        found = self._shaped(imported(point.load, what, point.value), what)
        remember(found, what)
        return found

    def _shaped(self, thing: object, what: str) -> T:
        _refuse(self._shape_fault(thing), what)
        return cast("T", thing)

    def _shape_fault(self, thing: object) -> str | None:
        if self._check is None:
            return None
        try:
            return self._check(thing)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - its attributes may run code
            return f"looking at it raised {words_of(error)}"

    def _owner(self, name: str) -> str | None:
        """Who has `name` already, in words."""
        if name in self._aliases:
            return f"{_OURS}'s {self._aliases[name]!r} (as an alias)"
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
            self.get(name)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a listing survives what it lists
            return Entry(name, self.group, source, "broken", _words(error), aliases)
        return Entry(name, self.group, source, "ok", "", aliases)

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


def in_order(entry: Entry) -> tuple[str, str]:
    """Where an entry is in a listing."""
    return entry.name, entry.source


def _alike(name: str, known: Collection[str]) -> str:
    """A question after a name that is written otherwise, as constants are: `DEEPSEEK_V31`."""
    plain = _SIGNS.sub("", name.lower())
    found = next((one for one in known if _SIGNS.sub("", one) == plain), "")
    return f"did you mean {found!r}?" if found else ""


def _name_fault(name: object) -> str | None:
    if isinstance(name, str) and _NAME.fullmatch(name):
        return None
    return f"{name!r} is no name: wanted lower-case letters and digits, joined by - . or _"


def _refuse(fault: str | None, what: str) -> None:
    if fault:
        raise PluginShapeError(f"{what} is refused: {fault}")


def _import(path: str) -> object:
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


def strays(groups: Collection[str]) -> list[Entry]:
    """What is installed under a group whose name begins as ours do, and that there is not."""
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
    """The entry points of a group; a distribution that is on the path twice counts once."""
    found: dict[str, dict[str, EntryPoint]] = {}
    for distribution, point in _points():
        if point.group == group:
            found.setdefault(point.name, {}).setdefault(distribution, point)
    return {name: list(points.values()) for name, points in found.items()}


def _points() -> Iterator[tuple[str, EntryPoint]]:
    """Every entry point, with the name of its distribution."""
    from importlib.metadata import distributions  # noqa: PLC0415 - 15 ms, and most never need it

    for distribution in distributions():
        try:
            yield from [(distribution.name, point) for point in distribution.entry_points]
        except Exception:  # noqa: BLE001, S112 - one unreadable package must not hide the others
            continue


def _distribution(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value


def _words(error: BaseException) -> str:
    return str(error) if isinstance(error, PluginError) else words_of(error)
