"""Says what a thing lacks to be what a protocol asks for, in words for whoever wrote the thing."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from typing import SupportsFloat

from tunaeval.registry import Check

_KINDS: dict[str, type] = {"str": str, "float": SupportsFloat}
"""The class that an attribute's value must have, by the annotation in the protocol."""


def instance_of(role: type, either: Collection[str] = ()) -> Check:
    """Return a check that a thing has a protocol's attributes and methods; those of `either` may be
    coroutine functions or not.
    """

    def check(thing: object) -> str | None:
        if isinstance(thing, type):
            return f"it is the class {thing.__name__}; wanted an instance of it"
        missing = [name for name in _attributes(role) if not hasattr(thing, name)]
        if missing:
            return f"{_called(thing)} has no {' and no '.join(missing)}; wanted {_outline(role)}"
        return _attribute_fault(thing, role) or _method_fault(thing, role, either, bound=True)

    return check


def maker_of(role: type) -> Check:
    """Return a check that a thing is a class with the protocol's methods, or any other callable."""

    def check(thing: object) -> str | None:
        if not callable(thing):
            return f"{_called(thing)} cannot be called; wanted what makes {_outline(role)}"
        return _method_fault(thing, role, (), bound=False) if isinstance(thing, type) else None

    return check


def either_of(one: Check, other: Check) -> Check:
    """Return a check that a thing is one of two; of what is neither it says what `one` says."""
    return lambda thing: one(thing) and other(thing) and one(thing)


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
            return f"its {name} is {found!r:.60}; wanted a {wanted}"
    return None


def _method_fault(thing: object, role: type, either: Collection[str], *, bound: bool) -> str | None:
    for name, wanted in _methods(role).items():
        found = getattr(thing, name, None)
        if not callable(found):
            return f"{_called(thing)} has no method {name}; wanted {head(name, wanted)}"
        kind = None if name in either else is_async(wanted)
        fault = _signature_fault(
            found, wanted, kind, has_self=not bound and inspect.isfunction(found)
        )
        if fault:
            return f"{fault}: {head(name, found)}; wanted {head(name, wanted)}"
    return None


def _signature_fault(
    found: Callable[..., object],
    wanted: Callable[..., object],
    awaited: bool | None,
    *,
    has_self: bool,
) -> str | None:
    """Return why `found` cannot be called as the protocol's method `wanted` is, else None."""
    if awaited is not None and awaited != is_async(found):
        return "it is not async" if awaited else "it is async"
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
    name = type(thing).__name__
    return thing.__name__ if isinstance(thing, type) else f"a{'n' * (name[0] in 'aeiou')} {name}"
