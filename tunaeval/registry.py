"""Named things that others can add to: built-ins, additions in code, installed plug-ins.

A name belongs to one thing: one that is claimed twice, by a plug-in and by tunaeval too, is an
error that names both, wherever it is used. Entry points are read when the first name is asked for.
A plug-in is imported when it is asked for, or to be listed. Its import may do anything (raise,
leave, or hang) and so may its calls: whatever it does is its own failure, ends in one sentence that
names it and who brought it, and is in nobody else's way.
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
from dataclasses import dataclass
from importlib import import_module
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
from tunaeval.types.calls import ToolCall, Tools
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.messages import Usage
from tunaeval.types.parsing import Diagnosis, Level, Outcome, ParseResult
from tunaeval.types.roles import Client, Parser

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

LONGEST = 300
"""Characters of an exception's words that are kept."""

_BROUGHT: dict[int, tuple[object, str]] = {}
"""What was loaded from entry points, by its id, which stays its own while it is kept here."""

_WARNED: dict[int, object] = {}
"""What was warned of, likewise."""


_MODULES: dict[str, dict[str, None]] = {}
"""Who is loaded from which package."""


def remember_module(module: str, who: str) -> None:
    """Keep who is loaded from a module, before it is imported."""
    _MODULES.setdefault(module.partition(".")[0], {})[who] = None


def running(frame: FrameType | None) -> str | None:
    """The plug-in whose code is running in a frame, called by us; None where there is none."""
    found: str | None = None
    while frame is not None:
        package = str(frame.f_globals.get("__name__")).partition(".")[0]
        if found and package == "tunaeval":
            return " or ".join(_MODULES[found])
        found = found or (package if package in _MODULES else None)
        frame = frame.f_back
    return None


class _Exits:
    """`os._exit` as it is, and for how many it is replaced."""

    real = staticmethod(os._exit)
    lock = threading.Lock()
    count = 0
    process = 0


@contextmanager
def exits_raised() -> Iterator[None]:
    """Where a plug-in calls `os._exit`, raise SystemExit, which is caught as its own failure.

    Its call would end the process without a word, and with an exit code that says what it likes.
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
    caller = sys._getframe(1)  # noqa: SLF001 - there is no other way to know
    if os.getpid() == _Exits.process and running(caller):  # what it has forked ends as it likes
        raise SystemExit(status)
    _Exits.real(status)


def remember(thing: object, who: str) -> None:
    """Keep who brought a thing that was loaded from an entry point."""
    _BROUGHT[id(thing)] = (thing, who)


def who(thing: object, kind: str, name: str | None = None) -> str:
    """A plug-in in words: "client 'mine' of my-package 1.0"; of what was given as a value, the name
    that it is known by, or has.
    """
    for known in (thing, type(thing)):
        if id(known) in _BROUGHT:
            return _BROUGHT[id(known)][1]
    try:
        called: object = getattr(thing, "name", None) if name is None else name
    except Exception:  # noqa: BLE001 - a plug-in's attributes may run code
        called = None
    return f"{kind} {called!r}" if isinstance(called, str) else f"{kind} {shown(thing)}"


def words_of(error: BaseException) -> str:
    """An exception in one line: "ValueError: what it says"."""
    try:
        said = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - an exception's own __str__ may raise anything
        said = ""
    name = type(error).__name__
    return f"{name}: {said[:LONGEST]}" if said else name


def shown(value: object) -> str:
    """The beginning of a value's repr."""
    try:
        return f"{value!r:.60}"
    except Exception:  # noqa: BLE001 - nor does a plug-in's __repr__ hide who returned it
        return f"a {type(value).__name__}"


def raised(thing: object, kind: str, error: BaseException, wanted: str) -> PluginError:
    """The error that names a plug-in that raised; to be raised from what it raised."""
    return PluginError(f"{who(thing, kind)} raised {words_of(error)}; wanted {wanted}")


def returned(thing: object, kind: str, value: str, wanted: str) -> PluginError:
    """The error that names a plug-in that returned `value`, in words."""
    return PluginError(f"{who(thing, kind)} returned {value}; wanted {wanted}")


def warn_once(thing: object, kind: str, did: str) -> None:
    """Log what a plug-in did where nothing can be raised, the first time that it does anything."""
    import logging  # noqa: PLC0415 - only where something went wrong

    if id(thing) not in _WARNED:
        _WARNED[id(thing)] = thing
        logging.getLogger("tunaeval.registry").warning("%s %s", who(thing, kind), did)


Check: TypeAlias = Callable[[object], str | None]
"""Says what is wrong with a thing's shape, None when nothing is."""

_KINDS: dict[str, type] = {"str": str, "float": SupportsFloat}
"""What an attribute has to be, by how a role's annotation has it."""


def instance_of(role: type) -> Check:
    """A check that a thing has a protocol's attributes, and methods that are called alike."""

    def check(thing: object) -> str | None:
        if isinstance(thing, type):
            return f"it is the class {thing.__name__}; wanted an instance of it"
        missing = [name for name in _attributes(role) if not hasattr(thing, name)]
        if missing:
            return f"{_called(thing)} has no {' and no '.join(missing)}; wanted {_outline(role)}"
        return _attribute_fault(thing, role) or _method_fault(thing, role, bound=True)

    return check


def maker_of(role: type) -> Check:
    """A check that a thing is a class with a protocol's methods, or a callable, which may."""

    def check(thing: object) -> str | None:
        if not callable(thing):
            return f"{_called(thing)} cannot be called; wanted what makes {_outline(role)}"
        return _method_fault(thing, role, bound=False) if isinstance(thing, type) else None

    return check


def head(name: str, function: Callable[..., object]) -> str:
    """A function's first line, without annotations."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        return f"{name}(...)"
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    shown = signature.replace(parameters=bare, return_annotation=signature.empty)
    return f"{'async ' if is_async(function) else ''}def {name}{shown}"


def is_async(function: Callable[..., object]) -> bool:
    """Whether what it gives back has to be awaited: a coroutine function, or an object like one."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(type(function), "__call__", None)  # noqa: B004 - its code is asked for
    )


def _attribute_fault(thing: object, role: type) -> str | None:
    for name, wanted in _attributes(role).items():
        found = getattr(thing, name)
        if not isinstance(found, _KINDS.get(wanted, object)):
            return f"its {name} is {found!r:.60}; wanted a {wanted}"
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
    """Whether `found` can be called just as a method of the role is called."""
    if is_async(wanted) != is_async(found):
        return "it is not async" if is_async(wanted) else "it is async"
    parameters = list(inspect.signature(wanted).parameters.values())[1:]
    keyword = {p.name: None for p in parameters if p.kind is p.KEYWORD_ONLY}
    positional = [None] * (len(parameters) - len(keyword) + has_self)
    try:
        inspect.signature(found).bind(*positional, **keyword)
    except TypeError as error:
        return str(error)
    except ValueError:  # written in C, without a signature to look at
        return None
    return None


def _attributes(role: type) -> dict[str, str]:
    """Attributes and properties, with the annotation of each as it is written."""
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
"""How long the import of one plug-in may take; $TUNAEVAL_IMPORT_SECONDS says otherwise."""

_HEEDED = (signal.SIGINT, signal.SIGTERM)


class _TooLong(BaseException):
    """The time is over. No Exception, which the plug-in might catch."""


def imported(load: Callable[[], object], what: str, where: str) -> object:
    """What `load` imports. Raises PluginLoadError with `what` it is and `where` from.

    In the main thread, where there are timers (not on Windows), an import that hangs is ended.
    """
    came: list[int] = []
    seconds = import_seconds()
    try:
        with _heeding(came), exits_raised(), _limited(seconds):
            return load()
    except _TooLong:
        raise PluginLoadError(not_imported(what, where, too_long(seconds))) from None
    except BaseException as error:
        if came:
            raise
        raise PluginLoadError(not_imported(what, where, words_of(error))) from error


def not_imported(what: str, where: str, why: str) -> str:
    """The sentence for an import that fails."""
    return f"{what} cannot be imported from {where!r}: {why}; repair or uninstall it"


def too_long(seconds: float) -> str:
    """Why an import fails that takes too long."""
    return (
        f"it did not end within {seconds:g} s (more time: TUNAEVAL_IMPORT_SECONDS in the "
        "environment)"
    )


def import_seconds() -> float:
    """How long the import of one plug-in may take here."""
    try:
        seconds = float(os.environ.get("TUNAEVAL_IMPORT_SECONDS", ""))
    except ValueError:
        return IMPORT_SECONDS
    return seconds if 0 < seconds < threading.TIMEOUT_MAX else IMPORT_SECONDS


@contextmanager
def _heeding(came: list[int]) -> Iterator[None]:
    """Note which signals came from outside; what they did before they do still."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _HEEDED}

    def heed(number: int, frame: FrameType | None) -> None:
        came.append(number)
        handler: Any = before[signal.Signals(number)]
        handler(number, frame)

    theirs = {number: handler for number, handler in before.items() if callable(handler)}
    for number in theirs:
        signal.signal(number, heed)
    try:
        yield
    finally:
        for number, handler in theirs.items():
            if signal.getsignal(number) is heed:  # else the plug-in has set its own
                signal.signal(number, handler)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise `_TooLong` after so long, where that can be done and nobody else uses the timer."""
    is_main = threading.current_thread() is threading.main_thread()
    if not (
        hasattr(signal, "setitimer") and is_main and signal.getitimer(signal.ITIMER_REAL)[0] == 0
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


_PARSER, _CLIENT = "parser", "client"
_IS_CLIENT = instance_of(Client)
_ANSWER = "a ParseResult, whatever the text"
_OUTCOMES = frozenset(get_args(Outcome))


def guarded(parser: Parser) -> Parser:
    """The parser; one of somebody else's raises `PluginError` for whatever it does wrong."""
    is_ours = type(parser).__module__.partition(".")[0] == "tunaeval"
    return parser if is_ours else _Guarded(parser)


class _Guarded:
    """A parser of somebody else's."""

    def __init__(self, parser: Parser) -> None:
        self.name = getattr(parser, "name", type(parser).__name__)
        self._parser = parser

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        try:
            result: object = self._parser.parse(text, tools=tools, level=level)
        except (Exception, SystemExit) as error:
            raise raised(self._parser, _PARSER, error, _ANSWER) from error
        if not isinstance(result, ParseResult):
            raise returned(self._parser, _PARSER, shown(result), _ANSWER)
        for field, wanted, is_one in _FIELDS:
            value = getattr(result, field)
            if not is_one(value):
                what = f"a ParseResult with {field}={shown(value)}"
                raise returned(self._parser, _PARSER, what, wanted)
        return result


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
"""What the rest relies on in a ParseResult: a field, what it has to be, and whether it is."""


def made_client(maker: Callable[..., object], name: str, settings: Mapping[str, Any]) -> Client:
    """The client that is registered under a name, made with these settings.

    Raises PluginError where there comes no client of it, UsageError where the settings do not fit.
    """
    this = who(maker, _CLIENT, name)
    try:
        made = maker(**settings)
    except TunaevalError:
        raise
    except (Exception, SystemExit) as error:
        kind = UsageError if isinstance(error, TypeError) else PluginError
        given = f" with {', '.join(sorted(settings))}" if settings else ""
        raise kind(f"{this} cannot be made{given}: {words_of(error)}") from error
    if fault := _IS_CLIENT(made):
        raise PluginError(f"{this} made what is no client: {fault}")
    return cast("Client", made)


async def reply_of(client: Client, request: Request) -> Reply:
    """A client's reply. Raises what of ours it raises, TimeoutError, and PluginError for all else
    that it does in place of a reply.
    """
    try:
        reply: object = await client.complete(request)
    except (TunaevalError, TimeoutError):
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(f"{who(client, _CLIENT)} raised {words_of(error)}") from error
    if not (isinstance(reply, Reply) and isinstance(reply.message, dict)):
        given = f"{shown(reply)}, wanted a Reply with a message"
    elif not isinstance(reply.usage, Usage):
        given = f"a Reply with usage={shown(reply.usage)}, wanted a Usage"
    else:
        return reply
    raise PluginError(f"{who(client, _CLIENT)} gave {given}")


async def closed(client: Client) -> str | None:
    """Close a client; returns what went wrong in words, for it changes nothing that was had."""
    try:
        await client.close()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in's, given back by its name
        return f"{who(client, _CLIENT)} raised {words_of(error)} when it was closed"
    return None
