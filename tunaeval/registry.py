"""Registries of named things: built-ins, things added in code, and installed plug-ins.

A name belongs to one thing: if two packages claim it, or one claims a built-in's, every use of it
raises an error that names both. Entry points are read when the first name is looked up, and a
plug-in is imported when it is used or listed. Its import and its calls may raise, exit or hang;
each failure becomes one sentence that names the plug-in and its package, and affects no other
plug-in.
"""

from __future__ import annotations

import inspect
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    Literal,
    NoReturn,
    SupportsFloat,
    TypeAlias,
    TypeVar,
    cast,
    get_args,
)

from tunaeval.errors import (
    PluginClashError,
    PluginError,
    PluginLoadError,
    PluginShapeError,
    TunaevalError,
    UnknownNameError,
    UsageError,
)
from tunaeval.showing import brief
from tunaeval.types.calls import STRUCTURED, ToolCall, Tools
from tunaeval.types.copies import copied
from tunaeval.types.exchange import Reply, Request, fault_of
from tunaeval.types.parsing import Diagnosis, Level, Outcome, ParseResult
from tunaeval.types.roles import Client, Parser

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

LONGEST = 300
"""How many characters of an exception's message are kept."""

_NOT_THEIRS = re.compile(
    rf"<|{re.escape(str(Path(__file__).parent))}|{re.escape(str(Path(os.__file__).parent))}"
    "(?!.*site-packages)"
)
"""How the file names of generated code, of this package and of the standard library begin."""

_BROUGHT: dict[int, tuple[object, str]] = {}
"""Things from entry points, by `id`, with who brought each; kept, so that no id is used again."""

_WARNED: dict[int, object] = {}
"""Things that were warned about, by `id`; kept for the same reason as those in `_BROUGHT`."""


_MODULES: dict[str, dict[str, None]] = {}
"""Descriptions of the plug-ins that are loaded from each top-level package, in order."""


def remember_module(module: str, who: str) -> None:
    """Record which plug-in (`who`, in words) is loaded from a module, before it is imported."""
    _MODULES.setdefault(module.partition(".")[0], {})[who] = None


def running(frame: FrameType | None) -> str | None:
    """Return, in words, the plug-in whose code runs in `frame`, or None if no plug-in's does."""
    found: str | None = None
    while frame is not None:
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if found and package == "tunaeval":
            return " or ".join(_MODULES[found])
        found = found or (package if package in _MODULES else None)
        frame = frame.f_back
    return None


class _Exits:
    """The real `os._exit`, and how many blocks of `exits_raised` are running."""

    real = staticmethod(os._exit)
    lock = threading.Lock()
    count = 0
    process = 0


@contextmanager
def exits_raised() -> Iterator[None]:
    """While the block runs, make `os._exit` raise SystemExit in a plug-in's code, so that it is
    caught as the plug-in's failure. The real one would end the process without a message.
    """
    with _Exits.lock:
        _Exits.count += 1
        _Exits.process = os.getpid()
        os._exit = _raised
    try:
        yield
    finally:
        with _Exits.lock:
            _Exits.count -= 1
            if not _Exits.count:
                os._exit = _Exits.real


def _raised(status: int) -> NoReturn:
    caller = sys._getframe(1)  # noqa: SLF001 - there is no other way to find the caller
    if os.getpid() == _Exits.process and running(caller):  # a child that it has forked may exit
        raise SystemExit(status)
    _Exits.real(status)


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
    place, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if not _NOT_THEIRS.match(code.co_filename):
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


Check: TypeAlias = Callable[[object], str | None]
"""A function that returns what is wrong with a thing's shape, or None if nothing is."""

_KINDS: dict[str, type] = {"str": str, "float": SupportsFloat}
"""The class that an attribute's value must have, by the annotation in the protocol."""


def instance_of(role: type) -> Check:
    """Return a check that a thing has a protocol's attributes and methods."""

    def check(thing: object) -> str | None:
        if isinstance(thing, type):
            return f"it is the class {thing.__name__}; wanted an instance of it"
        missing = [name for name in _attributes(role) if not hasattr(thing, name)]
        if missing:
            return f"{_called(thing)} has no {' and no '.join(missing)}; wanted {_outline(role)}"
        return _attribute_fault(thing, role) or _method_fault(thing, role, bound=True)

    return check


def maker_of(role: type) -> Check:
    """Return a check that a thing is a class with the protocol's methods, or any other callable."""

    def check(thing: object) -> str | None:
        if not callable(thing):
            return f"{_called(thing)} cannot be called; wanted what makes {_outline(role)}"
        return _method_fault(thing, role, bound=False) if isinstance(thing, type) else None

    return check


def head(name: str, function: Callable[..., object]) -> str:
    """Return the first line of a function's definition, without annotations, for a message."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        return f"{name}(...)"
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    shown = signature.replace(parameters=bare, return_annotation=signature.empty)
    return f"{'async ' if is_async(function) else ''}def {name}{shown}"


def is_async(function: Callable[..., object]) -> bool:
    """Whether the result must be awaited: the function, or its `__call__`, is defined as async."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(type(function), "__call__", None)  # noqa: B004 - the method itself is inspected
    )


def _attribute_fault(thing: object, role: type) -> str | None:
    for name, wanted in _attributes(role).items():
        found = getattr(thing, name)
        if not isinstance(found, _KINDS.get(wanted, object)):
            return f"its {name} is {brief(found)}; wanted a {wanted}"
    return None


def _method_fault(thing: object, role: type, *, bound: bool) -> str | None:
    for name, wanted in _methods(role).items():
        found = getattr(thing, name, None)
        if not callable(found):
            return f"{_called(thing)} has no method {name}; wanted {head(name, wanted)}"
        fault = _signature_fault(found, wanted, has_self=not bound and inspect.isfunction(found))
        if fault:
            return f"{fault}: {head(name, found)}; wanted {head(name, wanted)}"
    return None


def _signature_fault(
    found: Callable[..., object], wanted: Callable[..., object], *, has_self: bool
) -> str | None:
    """Return why `found` cannot be called as the protocol's method `wanted` is, else None."""
    if is_async(wanted) != is_async(found):
        return "it is not async" if is_async(wanted) else "it is async"
    parameters = list(inspect.signature(wanted).parameters.values())[1:]
    keyword = {p.name: None for p in parameters if p.kind is p.KEYWORD_ONLY}
    positional = [None] * (len(parameters) - len(keyword) + has_self)
    try:
        inspect.signature(found).bind(*positional, **keyword)
    except TypeError as error:
        return str(error)
    except ValueError:  # a function written in C may have no signature
        return None
    return None


def _attributes(role: type) -> dict[str, str]:
    """Return the annotations, as strings, of a protocol's attributes and properties."""
    read_only = {
        name: str(kind.fget.__annotations__["return"])
        for name, kind in [*vars(role).items()]
        if isinstance(kind, property)
    }
    return {**role.__annotations__, **read_only}


def _methods(role: type) -> dict[str, Callable[..., object]]:
    return {
        name: member
        for name, member in vars(role).items()
        if inspect.isfunction(member) and not name.startswith("_")
    }


def _outline(role: type) -> str:
    parts = [*_attributes(role), *(head(*item) for item in _methods(role).items())]
    return f"a {role.__name__} with {', '.join(parts)}"


def _called(thing: object) -> str:
    return thing.__name__ if isinstance(thing, type) else f"a {type(thing).__name__}"


IMPORT_SECONDS = 60.0
"""How many seconds the import of one plug-in may take, unless $TUNAEVAL_IMPORT_SECONDS is set."""

_NOTED = (signal.SIGINT, signal.SIGTERM)


class _TooLong(BaseException):
    """An import took too long. This is no Exception, because a plug-in might catch that."""


def imported(load: Callable[[], object], what: str, where: str) -> object:
    """Call `load`, which imports a plug-in, and return its result. Raise PluginLoadError if it
    fails; the message has `what`, the plug-in in words, and `where`, its import path. In the main
    thread, except on Windows, an import that hangs is ended by a timer.
    """
    signals: list[int] = []
    seconds = import_seconds()
    try:
        with _noting_signals(signals), exits_raised(), _limited(seconds):
            return load()
    except _TooLong:
        raise PluginLoadError(not_imported(what, where, too_long(seconds))) from None
    except BaseException as error:
        if signals:  # the user interrupts the command: the plug-in has not failed
            raise
        raise PluginLoadError(not_imported(what, where, words_of(error))) from error


def not_imported(what: str, where: str, why: str) -> str:
    """Return the message for a plug-in that cannot be imported."""
    return f"{what} cannot be imported from {where!r}: {why}; repair or uninstall it"


def too_long(seconds: float) -> str:
    """Return the reason for an import that took longer than `seconds`."""
    return (
        f"it did not end within {seconds:g} s (more time: TUNAEVAL_IMPORT_SECONDS in the "
        "environment)"
    )


def import_seconds() -> float:
    """Return how many seconds the import of one plug-in may take in this environment."""
    try:
        seconds = float(os.environ.get("TUNAEVAL_IMPORT_SECONDS", ""))
    except ValueError:
        return IMPORT_SECONDS
    return seconds if 0 < seconds < threading.TIMEOUT_MAX else IMPORT_SECONDS


@contextmanager
def _noting_signals(signals: list[int]) -> Iterator[None]:
    """Append each signal that arrives to `signals`, then call the handler that was set before."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _NOTED}

    def note(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        handler: Any = before[signal.Signals(number)]
        handler(number, frame)

    theirs = {number: handler for number, handler in before.items() if callable(handler)}
    for number in theirs:
        signal.signal(number, note)
    try:
        yield
    finally:
        for number, handler in theirs.items():
            if signal.getsignal(number) is note:  # otherwise the plug-in has set its own
                signal.signal(number, handler)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise `_TooLong` in the block after `seconds`, in the main thread if its timer is free."""
    is_main = threading.current_thread() is threading.main_thread()
    if sys.platform == "win32" or not (
        hasattr(signal, "SIGALRM") and is_main and signal.getitimer(signal.ITIMER_REAL)[0] == 0
    ):
        yield
        return

    def end(*_: object) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


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
        return f"Registry({self.group!r})"

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
        remember_module(point.module, what)
        found = self._shaped(imported(point.load, what, point.value), what, name)
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
        reason = _needs(found) if self.kind == _CLIENT and callable(found) else ""
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


_PARSER, _CLIENT = "parser", "client"
_IS_CLIENT = instance_of(Client)
_ANSWER = "a ParseResult, whatever the text"
_OUTCOMES = frozenset(get_args(Outcome))


def guarded(parser: Parser) -> Parser:
    """Return the parser; a third party's is wrapped so that its faults raise PluginError."""
    return parser if is_ours(parser) else _Guarded(parser)


def is_ours(thing: object) -> bool:
    """Whether its class is one of this package, so that it changes nothing that it is given."""
    return type(thing).__module__.partition(".")[0] == "tunaeval"


_UNNAMED = ("", STRUCTURED)


class _Guarded:
    """A third party's parser, which gets a copy of the tools, and whose errors and wrong results
    become PluginError.
    """

    def __init__(self, parser: Parser) -> None:
        self.name = getattr(parser, "name", type(parser).__name__)
        self._parser = parser
        self._tools: tuple[Tools | None, Tools | None] = (None, None)

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        given = self._tools
        if given[0] is not tools:
            given = self._tools = tools, copied(tools)
        try:
            result: object = self._parser.parse(text, tools=given[1], level=level)
        except (Exception, SystemExit) as error:
            raise raised(self._parser, _PARSER, error, _ANSWER) from error
        if not isinstance(result, ParseResult):
            raise returned(self._parser, _PARSER, brief(result), _ANSWER)
        for field, wanted, is_one in _FIELDS:
            value = getattr(result, field)
            if not is_one(value):
                what = f"a ParseResult with {field}={brief(value)}"
                raise returned(self._parser, _PARSER, what, wanted)
        if all(call.format not in _UNNAMED for call in result.calls):
            return result
        return replace(result, calls=tuple(map(self._named, result.calls)))

    def _named(self, call: ToolCall) -> ToolCall:
        """Return the call with a format: the parser's name, as it was read from a text by it."""
        return replace(call, format=self.name) if call.format in _UNNAMED else call


def _is_call(value: object) -> bool:
    if not isinstance(value, ToolCall):
        return False
    parts: tuple[object, object] = (value.name, value.arguments)
    return isinstance(parts[0], str) and isinstance(parts[1], dict)


_FIELDS: tuple[tuple[str, str, Callable[[Any], bool]], ...] = (
    ("calls", "a tuple of ToolCalls",
     lambda value: isinstance(value, tuple) and all(map(_is_call, value))),
    ("content", "a text", lambda value: isinstance(value, str)),
    ("reasoning", "a text, or None", lambda value: isinstance(value, str | None)),
    ("diagnoses", "a tuple of Diagnoses",
     lambda value: isinstance(value, tuple) and all(isinstance(one, Diagnosis) for one in value)),
    ("outcome", f"one of {', '.join(sorted(_OUTCOMES))}",
     lambda value: isinstance(value, str) and value in _OUTCOMES),
)  # fmt: skip
"""The fields of a ParseResult that callers rely on: name, what it must be in words, and a test."""


def made_client(maker: Callable[..., object], name: str, settings: Mapping[str, Any]) -> Client:
    """Make the client that is registered as `name` with these settings. Raises PluginError if
    `maker` fails or returns no client, UsageError if the settings do not fit.
    """
    this = who(maker, _CLIENT, name)
    try:
        made = maker(**settings)
    except TunaevalError:
        raise
    except (Exception, SystemExit) as error:
        kind = UsageError if isinstance(error, TypeError) else PluginError
        given = f" with {', '.join(sorted(settings))}" if settings else ""
        raise kind(f"{this} cannot be made{given}: {words_with_place(error)}") from error
    if fault := _IS_CLIENT(made):
        raise PluginError(f"{this} made something that is no client: {fault}")
    return cast("Client", made)


async def reply_of(client: Client, request: Request) -> Reply:
    """Return a client's reply to the request. Raise PluginError for a wrong reply, and in place of
    any exception but TunaevalError and TimeoutError. The client gets a copy of the request, and
    what it does to its reply later has no effect.
    """
    try:
        reply: object = copied(await client.complete(copied(request)))
    except (TunaevalError, TimeoutError):
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(f"{who(client, _CLIENT)} raised {words_with_place(error)}") from error
    if not isinstance(reply, Reply):
        given = f"{brief(reply)}, wanted a Reply with a message"
    elif fault := fault_of(reply):
        given = f"a Reply with {fault}"
    else:
        return reply
    raise PluginError(f"{who(client, _CLIENT)} gave {given}")


async def closed(client: Client) -> str | None:
    """Close a client. If that raises, return what went wrong, in words: no result is lost."""
    try:
        await client.close()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in may raise anything
        return f"{who(client, _CLIENT)} raised {words_with_place(error)} when it was closed"
    return None
