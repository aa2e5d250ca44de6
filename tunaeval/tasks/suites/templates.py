"""Texts with variables, in Jinja's syntax: parsed by Jinja into a tree, and filled by us.

A text may have variables, their parts and the filters below. Nothing else of Jinja's is evaluated,
because a sandbox does not bound `{{ 'a' * 999999999 }}`: no call, loop or arithmetic, and no name
that begins with `_`. No text becomes longer than `MAX_CHARACTERS`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from inspect import signature
from math import isfinite, nan
from typing import NamedTuple, TypeAlias

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.filters import do_round, do_title

from tunaeval.errors import SuiteError, UnknownNameError
from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.json_text import written

MAX_CHARACTERS = 1 << 20
"""The longest text that is made of others."""
_JINJA = Environment(keep_trailing_newline=True)  # noqa: S701 - only parses; no page is made
_AS_IT_IS = "write {% raw %}...{% endraw %} around what is no template"

_Fill: TypeAlias = Callable[[JsonObject], JsonValue]


class Template(NamedTuple):
    """A text with variables: their `names` in order, and the function that fills them with values.

    A text that is one `{{ ... }}` is whole: it becomes the value, which may be no text.
    """

    names: tuple[str, ...]
    fill: _Fill
    is_whole: bool


class _MissingError(SuiteError):
    """A variable, or a part of its value, that does not exist."""


@lru_cache(8)
def read_template(text: str) -> Template:
    """Return a text as a template. Raises `SuiteError`."""
    names, parts = dict[str, None](), list[str | _Fill]()
    for node in _parsed(text):
        if not isinstance(node, nodes.Output):
            raise _refusal(node)
        for part in node.nodes:
            is_text = isinstance(part, nodes.TemplateData)
            parts.append(part.data if is_text else _compiled(part, names))  # type: ignore[attr-defined] # just asked
    if len(parts) == 1 and not isinstance(parts[0], str):
        return Template((*names,), parts[0], is_whole=True)
    return Template((*names,), lambda values: _joined(parts, values), is_whole=False)


def _parsed(text: str) -> list[nodes.Node]:
    # Jinja makes every line end in \n; a character that the text has not stands for each \r.
    kept = next(mark for mark in map(chr, range(0xE000, 0xF900)) if mark not in text)
    try:
        tree = _JINJA.parse(text.replace("\r", kept))
    except (TemplateSyntaxError, ValueError) as error:  # ValueError for a number of many digits
        words = getattr(error, "message", None) or error
        raise SuiteError(f"this is no template of Jinja: {words}; {_AS_IT_IS}") from error
    for one in tree.find_all((nodes.TemplateData, nodes.Const)) if "\r" in text else ():
        for field, value in one.iter_fields(only=("data", "value")):
            if isinstance(value, str):
                setattr(one, field, value.replace(kept, "\r"))
    return tree.body


def _joined(parts: Iterable[str | _Fill], values: JsonObject) -> str:
    texts, size = list[str](), 0
    for part in parts:
        texts.append(part if isinstance(part, str) else written(part(values)))
        size = _bounded(size + len(texts[-1]))
    return "".join(texts)


def _bounded(size: int) -> int:
    if size > MAX_CHARACTERS:
        raise SuiteError(f"becomes longer than {MAX_CHARACTERS:,} characters; make it shorter")
    return size


def _compiled(node: nodes.Node, names: dict[str, None]) -> _Fill:
    """Return the function that evaluates an expression, and add its variables to `names`."""
    match node:
        case nodes.Const(value=value):
            return lambda _: value
        case nodes.Neg(node=nodes.Const(value=int() | float() as value)):
            return lambda _: -value
        case nodes.Name(name=name):
            names[_public(name)] = None
            return lambda values: _variable(name, values)
        case nodes.Getattr(attr=str(key)) | nodes.Getitem(arg=nodes.Const(value=str(key))):
            whole, own = _compiled(node.node, names), _public(key)
            return lambda values: _part(whole(values), own)
        case nodes.Getitem(arg=nodes.Const(value=int(index))):
            items = _compiled(node.node, names)
            return lambda values: _part(items(values), index)
        case nodes.Filter(node=nodes.Expr()) if node.dyn_args is node.dyn_kwargs is None:
            return _filtered(node, names)
    raise _refusal(node)


def _public(name: str) -> str:
    if name.startswith("_"):
        raise SuiteError(f"found {name!r}; the name of a variable does not begin with _")
    return name


def _refusal(node: nodes.Node) -> SuiteError:
    words = next(words for words, kinds in _REFUSED.items() if isinstance(node, kinds))
    return SuiteError(
        f"found {words}; a template has only variables, their parts and the filters "
        f"{', '.join(_FILTERS)}; {_AS_IT_IS}"
    )


_REFUSED: Mapping[str, tuple[type[nodes.Node], ...]] = {
    "a call": (nodes.Call,),
    "a loop": (nodes.For,),
    "a condition": (nodes.If, nodes.CondExpr, nodes.Test, nodes.And, nodes.Or, nodes.Not),
    "arithmetic": (nodes.BinExpr, nodes.UnaryExpr, nodes.Concat),
    "another file": (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends),
    "an expression of another kind": (nodes.Expr,),
    "a statement": (nodes.Node,),
}


def _variable(name: str, values: JsonObject) -> JsonValue:
    if name not in values:
        raise _MissingError(str(UnknownNameError("variable", name, values)))
    return values[name]


def _part(whole: JsonValue, key: str | int) -> JsonValue:
    """Return a part of an object or of a list, and never an attribute of Python's."""
    if isinstance(whole, dict) and key in whole:
        return whole[key]
    if isinstance(whole, list) and isinstance(key, int) and key < len(whole):
        return whole[key]
    raise _MissingError(f"{brief(whole)} has no part {key!r}")


def _filtered(node: nodes.Filter, names: dict[str, None]) -> _Fill:
    name, inner = node.name, _compiled(node.node, names)  # type: ignore[arg-type] # no block's
    if name not in _FILTERS:
        raise SuiteError(str(UnknownNameError("filter of a template", name, _FILTERS)))
    apply, given = _FILTERS[name], [_compiled(one, names) for one in node.args]
    named = {str(one.key): _compiled(one.value, names) for one in node.kwargs}
    try:
        signature(apply).bind(None, *given, **named)
    except TypeError as error:
        raise SuiteError(f"the filter {name!r}: {error}") from error

    def filtered(values: JsonObject) -> JsonValue:
        try:
            value = inner(values)
        except _MissingError:
            if name != "default":
                raise
            value = _NOTHING
        own = [one(values) for one in given]
        try:
            found = apply(value, *own, **{key: one(values) for key, one in named.items()})
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            words = f"the filter {name!r} cannot be used on {brief(value)}: {error}"
            raise SuiteError(words) from error
        _bounded(len(found) if isinstance(found, str) else 0)
        return found

    return filtered


_NOTHING: JsonValue = object()
"""The value of a variable that is missing, for the filter `default` alone."""


def _default(value: JsonValue, default_value: JsonValue = "", boolean: bool = False) -> JsonValue:
    return default_value if value is _NOTHING or (boolean and not value) else value


def _join(value: list[JsonValue], d: str = "") -> str:
    if not isinstance(value, list):
        raise TypeError("it is no list")
    texts = [*map(written, value)]
    _bounded(sum(map(len, texts)) + len(d) * len(texts))
    return d.join(texts)


def _replace(s: JsonValue, old: str, new: str, count: int = -1) -> str:
    text = written(s)
    _bounded(len(text) + text.count(old) * len(new))
    return text.replace(old, new, count)


def _round(value: float, precision: int = 0, method: str = "common") -> float:
    if not -20 <= precision <= 20:  # 10 to that power is computed
        raise ValueError(f"the precision is {precision}; wanted -20 to 20")
    return do_round(value, precision, method)  # type: ignore[arg-type] # it checks the method


def _int(value: JsonValue, default: JsonValue = _NOTHING) -> JsonValue:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        found = _float(value, default)
        return found if found is default else int(found)


def _float(value: JsonValue, default: JsonValue = _NOTHING) -> JsonValue:
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = nan
    if isfinite(found) or default is not _NOTHING:
        return found if isfinite(found) else default
    raise ValueError("it is no finite number")


_FILTERS: Mapping[str, Callable[..., JsonValue]] = {
    "default": _default,
    "join": _join,
    "length": len,
    "lower": lambda s: written(s).lower(),
    "upper": lambda s: written(s).upper(),
    "title": lambda s: do_title(written(s)),
    "trim": lambda value, chars=None: written(value).strip(chars),
    "replace": _replace,
    "round": _round,
    "int": _int,
    "float": _float,
    "tojson": lambda value: json.dumps(value, ensure_ascii=False),
}
"""Jinja's filters that a template may use, with Jinja's names of their arguments."""
