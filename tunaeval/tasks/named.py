"""The registry of checks: functions by their name, and classes, made of the keys in a suite."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from inspect import signature
from typing import Any, NamedTuple

from tunaeval.errors import PluginError
from tunaeval.registry import Registry, who, words_of
from tunaeval.showing import brief
from tunaeval.types.copies import copied
from tunaeval.types.shapes import head, is_async
from tunaeval.types.tasks import KINDS, Check, NamedCheck

_SHAPE = "a function of a FinalState that returns a bool or (bool, reason), and is not async"
_CLASS = "a class with grade(self, state), which returns a bool or (bool, reason) and is not async"


def _no_check(thing: object) -> str | None:
    """Return why a thing is neither a check's function nor a check's class, or None."""
    function, shape = thing, _SHAPE
    if isinstance(thing, type):
        function, shape = getattr(thing, "grade", None), _CLASS
    if not callable(function):
        return f"{brief(thing)} is no function, and no class with grade; wanted {shape}"
    name = getattr(function, "__name__", "__call__")
    if is_async(function):
        return f"it is async: {head(name, function)}; wanted {shape}"
    try:
        signature(function).bind_partial(*[None] * (1 + isinstance(thing, type)))
    except TypeError as error:
        return f"{error}: {head(name, function)}; wanted {shape}"
    except ValueError:  # a function written in C may have no signature to inspect
        return None
    return None


checks: Registry[Callable[..., Any]] = Registry(
    "tunaeval.checks",
    "check",
    builtins={
        **{kind: f"tunaeval.tasks.grades:{kind.title()}" for kind in KINDS},
        "bfcl-multi-turn": "tunaeval.tasks.suites.bfcl_classes:judge",
    },
    check=_no_check,
)
"""Checks: functions of a `FinalState` (and the suite's settings), or classes whose objects have
`grade(state)`; both return a bool or (bool, reason).
"""


class MadeCheck(NamedTuple):
    """A check's object, made of what a suite writes, or `unmade`: why there is none.

    `label` is how reports call it. With `needs_workspace`, it inspects files.
    """

    name: str
    label: str
    thing: Any = None
    needs_workspace: bool = False
    unmade: str | None = None


def made_check(check: Check) -> MadeCheck:
    """Return the object of a check's class. Never raises."""
    written, names = dict(check), checks if isinstance(check, NamedCheck) else KINDS
    named = [key for key in written if key in names]
    name = named[0] if len(named) == 1 else ""
    made = MadeCheck(name, f"{name} {written[name]!r:.60}" if name else "unknown check")
    if not name:
        keys = ", ".join(map(repr, written))
        wanted = f"one of the keys {', '.join(KINDS)}, or the name of a registered check's class"
        return made._replace(
            unmade=f"found the keys {keys}; wanted a check, an object with {wanted}"
        )
    try:
        kind = checks.get(name)
    except PluginError as error:
        return made._replace(unmade=str(error))
    if not isinstance(kind, type):
        instead = f'{{"python": {name!r}, "settings": {{...}}}}'
        return made._replace(unmade=f"{name!r} is a function; write {instead}")
    given = {key.replace("-", "_"): copied(value) for key, value in written.items()}
    try:
        thing = kind(**given)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in may raise anything
        this = who(kind, "check", name)
        return made._replace(unmade=f"{this} cannot be made of {written!r:.80}: {words_of(error)}")
    with suppress(Exception):  # its attributes may run code; without them it is graded all the same
        label = getattr(thing, "label", None)
        made = made._replace(label=label if isinstance(label, str) and label else made.label)
        made = made._replace(needs_workspace=bool(getattr(thing, "needs_workspace", False)))
    return made._replace(thing=thing)
