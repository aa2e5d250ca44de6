"""How a function is shown to a model, and how a call's arguments are validated by its signature.

A model gives arguments by name; docs/how-to/describe-tools.md has the table of what it is shown.

A docstring is read in Google, NumPy and Sphinx style:

    Args:                         Parameters                    :param path: Where it is,
        path (str): Where it is,  ----------                        on disk.
            on disk.              path : str                    :param int limit: How many.
        limit: How many.              Where it is,              :returns: the text.
                                      on disk.
                                  limit : int, optional
                                      How many.

The description is the text before the first section. The style is recognized line by line. Any
text is accepted without an error, and each line is read once.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from inspect import cleandoc
from types import SimpleNamespace
from typing import (
    Any,
    NamedTuple,
    NotRequired,
    Required,
    TypeAlias,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import PydanticUserError, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind
from pydantic_core import ArgsKwargs

from tunaeval.files.plain_files import table_of
from tunaeval.types.calls import JsonObject

from .wrapper import FUNCTIONS, AnyFunction, layers_of

_UNNAMED: dict[object, str] = {
    inspect.Parameter.POSITIONAL_ONLY: "can only be given by position",
    inspect.Parameter.VAR_POSITIONAL: "takes any number of values by position",
}
_KNOWN = table_of(__package__, "signatures.toml")
_INJECTED = frozenset(
    (package, name) for package, names in _KNOWN["injected"].items() for name in names
)
"""Types that a framework fills in: package and name."""
_INJECTED_NAMES = frozenset(name for _, name in _INJECTED)
_LEFT_OUT = object()
_UNDESCRIBABLE = (PydanticUserError, PydanticSchemaGenerationError, NameError)
_MOST_FAULTS = 5


@dataclass(frozen=True, slots=True)
class Signature:
    """A function as a model sees it: its docstring, and its arguments, all given by name."""

    name: str
    docstring: Docstring
    arguments: tuple[inspect.Parameter, ...]
    injected: tuple[inspect.Parameter, ...]


def read_signature(function: AnyFunction, name: str | None = None) -> Signature:
    """Read a function's signature and docstring; `name` replaces the function's own.

    Raises ValueError if the function cannot be shown to a model, with the reason and a remedy.
    """
    *_, inner = layers_of(function)  # which has the name, and the module of the types
    own_name = getattr(inner, "__name__", "")
    if not (name or own_name.isidentifier()):
        raise ValueError("it has no name a model could call; write a def around it")
    bound = _bound_by_name(function)
    arguments: list[inspect.Parameter] = []
    injected: list[inspect.Parameter] = []
    for index, parameter in enumerate(inspect.signature(function).parameters.values()):
        if parameter.name in bound:
            continue
        hint = _hint(parameter, inner)
        if _is_injected(hint) or (index == 0 and parameter.name in {"self", "cls"}):
            injected.append(parameter)
            continue
        if how := _UNNAMED.get(parameter.kind):
            raise ValueError(
                f"the parameter {parameter.name!r} {how}, but a model gives arguments by name"
            )
        arguments += _by_name(parameter.replace(annotation=hint))
    docstring = read_docstring(_docstring_of(function, inner))
    return Signature(name or own_name, docstring, tuple(arguments), tuple(injected))


def _by_name(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    """Yield the parameter as keyword-only; for `**more: Unpack[Keys]`, one for each key."""
    if parameter.kind is not inspect.Parameter.VAR_KEYWORD:
        yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
    elif getattr(get_origin(parameter.annotation), "_name", "") == "Unpack":  # also the backport's
        (keys,) = get_args(parameter.annotation)
        for name, hint in get_type_hints(keys, include_extras=True).items():
            mark = get_origin(hint)  # unknown to __required_keys__ if hints are strings
            required = mark is Required or (
                mark is not NotRequired and name in keys.__required_keys__
            )
            yield inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=get_args(hint)[0] if mark in {Required, NotRequired} else hint,
                default=inspect.Parameter.empty if required else _LEFT_OUT,
            )
    else:
        yield parameter


def schema_of(signature: Signature) -> JsonObject:
    """Return the JSON schema of the arguments, described by the docstring unless a `Field` does.

    Raises ValueError naming the parameter whose type has no schema.
    """
    schema = _schema(signature.arguments)
    for name, argument in schema.get("properties", {}).items():
        argument.pop("title", None)  # pydantic titles arguments without asking `_Untitled`
        if words := signature.docstring.arguments.get(name):
            argument.setdefault("description", words)
    return {"type": "object", "properties": {}, **schema}


def taker_of(signature: Signature) -> Callable[[JsonObject], dict[str, Any]]:
    """Return a function that converts a call's arguments to the signature's types: "src" to a Path,
    an object to a dataclass. It accepts what pydantic accepts ("3" for 3) and raises ValueError
    listing the faults. Defaults are left to the function, except those in a `Field`.
    """
    parameters = [
        parameter
        if parameter.default is inspect.Parameter.empty or isinstance(parameter.default, FieldInfo)
        else parameter.replace(default=_LEFT_OUT)
        for parameter in signature.arguments
    ]
    try:
        adapter = _adapter(parameters)
    except _UNDESCRIBABLE as error:
        raise _unfit(parameters, error) from error

    def take(arguments: JsonObject) -> dict[str, Any]:
        try:
            taken = cast("dict[str, Any]", adapter.validate_python(ArgsKwargs((), arguments)))
        except ValidationError as error:
            raise ValueError(_fault_words(error)) from error
        return {name: value for name, value in taken.items() if value is not _LEFT_OUT}

    return take


def _fault_words(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    shown = [
        f"{'.'.join(map(str, fault['loc'])) or 'arguments'}: {fault['msg']}" for fault in faults
    ]
    more = [f"and {len(shown) - _MOST_FAULTS} more"] if len(shown) > _MOST_FAULTS else []
    return "; ".join(shown[:_MOST_FAULTS] + more)


class _Untitled(GenerateJsonSchema):
    """Makes schemas without titles, which only repeat names: a model pays for every token. A
    default that JSON cannot express is left out; its argument stays optional.
    """

    ignored_warning_kinds: set[JsonSchemaWarningKind] = {  # noqa: RUF012 - as pydantic declares it
        "non-serializable-default",
        "skipped-choice",
    }

    def field_title_should_be_set(self, schema: object) -> bool:
        del schema
        return False


def _schema(arguments: Sequence[inspect.Parameter]) -> JsonObject:
    try:
        return _adapter(arguments).json_schema(schema_generator=_Untitled)
    except _UNDESCRIBABLE as error:
        raise _unfit(arguments, error) from error


def _unfit(arguments: Sequence[inspect.Parameter], error: Exception) -> ValueError:
    """Return an error that names the argument at fault, or all if it is not a single one."""
    for argument in arguments if len(arguments) > 1 else ():
        try:
            _schema([argument])
        except ValueError as its_own:
            return its_own
    reason = str(error).partition("\n")[0]
    names = " and ".join(repr(argument.name) for argument in arguments)
    return ValueError(
        f"the type of {names} has no JSON schema ({reason}); "
        "annotate it with JSON types, or describe the tool with a dict"
    )


def _adapter(arguments: Sequence[inspect.Parameter]) -> TypeAdapter[Any]:
    """Return pydantic's adapter for a function that takes these arguments and returns them."""

    def taken(**by_name: object) -> dict[str, object]:
        return by_name

    vars(taken)["__signature__"] = inspect.Signature(arguments)
    taken.__annotations__ = {
        argument.name: argument.annotation
        for argument in arguments
        if argument.annotation is not inspect.Parameter.empty
    }
    # pydantic accepts functions here; its annotation allows types alone
    return TypeAdapter(cast("type[Any]", taken))


def _hint(parameter: inspect.Parameter, function: AnyFunction) -> object:
    """Return a parameter's annotation, with strings in it resolved in the function's module."""
    code = function if inspect.isroutine(function) else type(function).__call__
    names = getattr(code, "__globals__", None)
    holder = SimpleNamespace(__annotations__={parameter.name: parameter.annotation})
    try:
        return get_type_hints(holder, names, include_extras=True)[parameter.name]
    except (NameError, SyntaxError, AttributeError, TypeError) as error:
        if _is_injected(parameter.annotation):
            return parameter.annotation
        raise ValueError(
            f"the annotation of {parameter.name!r} cannot be resolved ({error}); "
            "import or define what it names in the function's module"
        ) from error


def _is_injected(hint: object) -> bool:
    if isinstance(hint, str):
        return hint.partition("[")[0].rpartition(".")[2].strip() in _INJECTED_NAMES
    parts = [hint, *get_args(hint), *getattr(hint, "__metadata__", ())]
    return any(_is_listed(get_origin(part) or part) for part in parts)


def _is_listed(part: object) -> bool:
    kind = part if isinstance(part, type) else type(part)
    return any(
        (layer.__module__.partition(".")[0], layer.__name__) in _INJECTED for layer in kind.__mro__
    )


def _bound_by_name(function: AnyFunction) -> frozenset[str]:
    bound: frozenset[str] = frozenset()
    while isinstance(function, partial):
        bound |= function.keywords.keys()
        function = function.func
    return bound


def _docstring_of(function: AnyFunction, inner: AnyFunction) -> str | None:
    """Return the docstring of the outermost layer that has its own, else the innermost one's.

    `functools.wraps` copies the docstring of the wrapped function, and so does a recorder, so a
    layer has its own only if it differs. For an object such as a partial, `__doc__` is its class's,
    so only one that was set on the object itself counts.
    """
    innermost = inspect.getdoc(inner)
    for layer in layers_of(function):
        attributes: dict[str, object] = getattr(layer, "__dict__", {})
        own = layer.__doc__ if isinstance(layer, FUNCTIONS) else attributes.get("__doc__")
        if layer is not inner and isinstance(own, str) and own.strip():
            words = inspect.cleandoc(own)
            if words != innermost:
                return words
    return innermost


_FirstLine: TypeAlias = Callable[[str], "tuple[Sequence[str], str] | None"]
_End: TypeAlias = Callable[[Sequence[str], int], int]
_Entries: TypeAlias = Callable[[Sequence[str]], Iterable[tuple[str, str]]]

_LEADING_NAME = re.compile(r"^[*\\]*+(\w*+)")
"""A name at the start of a line, without the stars of `**kw`."""


@dataclass(frozen=True, slots=True)
class Docstring:
    """A function's description, and the description of each argument by its name."""

    description: str = ""
    arguments: dict[str, str] = field(default_factory=dict)


def read_docstring(text: str | None) -> Docstring:
    """Read `text`, a `__doc__`. If an argument is described twice, the first description counts."""
    lines = cleandoc(text or "").split("\n")
    first = at = next((at for at in range(len(lines)) if _section(lines, at)), len(lines))
    arguments: dict[str, str] = {}
    while at < len(lines):
        section = _section(lines, at)
        end = section.end(lines, at + 1) if section else at + 1
        for name, words in section.read(lines[at:end]) if section else ():
            arguments.setdefault(name, words)
        at = end
    return Docstring("\n".join(lines[:first]).strip(), arguments)


class _Section(NamedTuple):
    """How to find the end of a section, and how to read (argument, description) pairs from it."""

    end: _End
    read: _Entries


def _section(lines: Sequence[str], at: int) -> _Section | None:
    """Return the section that begins at line `at`, or None; reads that line and the next."""
    line = lines[at]
    if line.startswith(":"):
        return _FIELD.get(line[1:].partition(":")[0].partition(" ")[0])
    if line[:1].isspace():
        return None  # sections have the indent of the docstring
    following = lines[at + 1] if at + 1 < len(lines) else ""
    heading = line.rstrip().lower()
    if heading.endswith(":") and following[:1].isspace():
        return _GOOGLE.get(heading[:-1])
    underlined = len(following.rstrip()) >= 3 and not following.rstrip().strip("-")
    return _NUMPY.get(heading) if underlined else None


def _while_indented(lines: Sequence[str], at: int) -> int:
    while at < len(lines) and (not lines[at].strip() or lines[at][0].isspace()):
        at += 1
    return at


def _until_next(lines: Sequence[str], at: int) -> int:
    while at < len(lines) and _section(lines, at) is None:
        at += 1
    return at


def _google(line: str) -> tuple[Sequence[str], str] | None:
    """Read `limit (int, optional): How many.` as the name and the text after the colon."""
    _, word, rest = _LEADING_NAME.split(line, maxsplit=1)
    name, rest = word if word.isidentifier() else "", rest.lstrip()
    if rest.startswith("("):
        _, closed, rest = rest.partition("):")
        return ((name,), rest) if name and closed else None
    return ((name,), rest[1:]) if name and rest.startswith(":") else None


def _numpy(line: str) -> tuple[Sequence[str], str] | None:
    """Read `first, second : int, optional` as its names; the text is in the lines below."""
    names = [name.strip().lstrip("*") for name in line.partition(":")[0].split(",")]
    return (names, "") if all(name.isidentifier() for name in names) else None


def _sphinx(lines: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Read `:param int limit: How many.`; the words between `param` and the name are a type."""
    field_, _, text = lines[0][1:].partition(":")
    name = field_.split()[-1].lstrip("*\\")
    if name.isidentifier() and len(field_.split()) > 1:
        yield name, _paragraph(text, lines[1:])


def _sections(kind: str, end: _End, read: _Entries) -> dict[str, _Section]:
    """Return the sections or fields by name; those that describe no argument have no entries."""
    others = dict.fromkeys(_KNOWN[kind]["others"], _Section(end, lambda _lines: ()))
    return others | dict.fromkeys(_KNOWN[kind]["arguments"], _Section(end, read))


_FIELD = _sections("fields", _while_indented, _sphinx)
_GOOGLE = _sections("sections", _while_indented, lambda lines: _entries(lines[1:], _google))
_NUMPY = _sections("sections", _until_next, lambda lines: _entries(lines[2:], _numpy))


def _entries(lines: Sequence[str], first: _FirstLine) -> Iterator[tuple[str, str]]:
    """Yield argument and description of each entry at the indent of the first line."""
    indent = next((_indent(line) for line in lines if line.strip()), 0)
    starts = [
        (at, entry)
        for at, line in enumerate(lines)
        if line.strip() and _indent(line) == indent and (entry := first(line[indent:])) is not None
    ]
    ends = [*(at for at, _ in starts), len(lines)][1:]
    for (at, (names, text)), end in zip(starts, ends, strict=True):
        words = _paragraph(text, lines[at + 1 : end])
        for name in names:
            yield name, words


def _paragraph(text: str, below: Sequence[str]) -> str:
    return cleandoc("\n".join([text.strip(), *below])).strip()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
