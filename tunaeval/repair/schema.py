"""Values against JSON schemas: bent where nothing is lost, with every change named.

Keywords read: type (one or a list), enum, const, nullable, $ref (local), allOf, anyOf, oneOf,
properties, required, additionalProperties, items, prefixItems, additionalItems. What a schema says
beyond that is not checked. Schemas come from anybody: whatever they hold, nothing here raises.

A value meets a schema at most once (`_branch`), so the work is linear in the value, whatever
alternatives are nested in each other and shared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tunaeval.limits import MAX_SCHEMA_DEPTH, SHOWN_NAME
from tunaeval.types import JsonObject, JsonValue, Level, Repair, Span

from .fitted import TYPE_REPAIRS, Fault, Fitted, bending, type_repair
from .kinds import UNBENT, bent, choices_of, is_of, kind_of, kinds_named, shown
from .references import Nowhere, Schema, alternatives_of, parts_of


def fit(
    value: JsonValue,
    schema: object,
    *,
    span: Span | None = None,
    root: object = None,
    level: Level = "standard",
) -> Fitted:
    """Bend `value` to `schema` as little as possible.

    Only changes that lose nothing are made ("3" to 3, "true" to True, one plain text to a list of
    one where a list of texts is asked for); each is listed in `repairs`. At level "lenient" any
    lone item becomes a list of one, and "None" becomes None. What cannot be bent is left alone
    and listed in `faults`. References lead into `root`, which is `schema` itself unless it is
    given.
    """
    repairs: list[Repair] = []
    faults: list[Fault] = []
    try:
        fitting = _Fitting(schema if root is None else root, guesses=level == "lenient")
        outcome = fitting.fit(value, schema, 0)
        if not outcome.told:
            return Fitted(outcome.value)
        for path, code, message in _told(outcome, "$", set()):
            if code in TYPE_REPAIRS:
                repairs.append(type_repair(path, message, span, code))
            else:
                faults.append(Fault(code, path, message))
    except RecursionError:  # a caller deep in its own stack
        deep = Fault("too-deep", "$", "nested too deeply to be compared with its schema")
        return Fitted(value, (), (deep,))
    return Fitted(outcome.value, tuple(repairs), tuple(faults))


@dataclass(slots=True)
class _Outcome:
    """A value as it came out, and what is to be told of it (a code and a message) and inside it
    (a step and what came out there). Never changed once it has been handed on.
    """

    value: JsonValue
    told: list[tuple[str, str | _Outcome]] = field(default_factory=list)
    fits: bool = True
    wrong: bool = False
    """It is not even of the type that was asked for."""

    def repair(self, value: JsonValue, message: str, code: str = "type") -> None:
        self.value = value
        self.told.append((code, message))

    def fault(self, code: str, message: str) -> None:
        self.fits = False
        self.wrong = self.wrong or code == "wrong-type"
        self.told.append((code, message))

    def adopt(self, other: _Outcome) -> None:
        """What came out of another schema for the same value."""
        self.value = other.value
        self.wrong = self.wrong or other.wrong
        self.inside("", other)

    def inside(self, step: str, inner: _Outcome) -> None:
        if inner.told:
            self.told.append((step, inner))
            self.fits = self.fits and inner.fits


class _Fitting:
    """One walk down a value and its schema."""

    def __init__(self, root: object, *, guesses: bool) -> None:
        self._root = root
        self._guesses = guesses
        self._met: dict[tuple[int, int], tuple[JsonValue, object, _Outcome | None]] = {}

    def fit(self, value: JsonValue, schema: object, depth: int) -> _Outcome:
        outcome = _Outcome(value)
        if not isinstance(schema, (dict, Mapping)):  # dict first: the abstract class is slow to ask
            if schema is False:
                outcome.fault("not-allowed", "nothing is allowed here")
            return outcome
        if depth > MAX_SCHEMA_DEPTH:
            outcome.fault("too-deep", f"more than {MAX_SCHEMA_DEPTH} steps into its schema")
            return outcome
        if value is None and schema.get("nullable") is True:
            return outcome
        if not _is_of_type_asked(value, schema):
            self._typed(outcome, schema, depth)
        if not (outcome.wrong or _COMBINING.isdisjoint(schema)):
            self._combined(outcome, schema, depth)
            self._contradicted(outcome, schema)
        if isinstance(outcome.value, dict):
            self._object(outcome, outcome.value, schema, depth)
        elif isinstance(outcome.value, list):
            self._array(outcome, outcome.value, schema, depth)
        if not (outcome.wrong or _CHOOSING.isdisjoint(schema)):
            _choose(outcome, choices_of(schema))
        return outcome

    def _combined(self, outcome: _Outcome, schema: Schema, depth: int) -> None:
        for part in parts_of(schema, self._root):
            if isinstance(part, Nowhere):
                outcome.fault("unresolved-ref", part.message)
            else:
                outcome.adopt(self._branch(outcome.value, part, depth))
        for options in alternatives_of(schema) if not outcome.wrong else ():
            self._any_of(outcome, options, depth)

    def _contradicted(self, outcome: _Outcome, schema: Schema) -> None:
        """What other schemas made of a value has to be of this one's own type still."""
        wanted = kinds_named(schema)
        if wanted and not outcome.wrong and not any(is_of(outcome.value, kind) for kind in wanted):
            outcome.fault("wrong-type", f"{shown(outcome.value)} cannot be of all types wanted")

    def _branch(self, value: JsonValue, schema: object, depth: int) -> _Outcome:
        """What comes of one of several schemas: looked at once, and never in a circle."""
        met = (id(value), id(schema))
        if met in self._met:
            outcome = self._met[met][2]
            return outcome or _circle(value)
        self._met[met] = (value, schema, None)  # both are held, so that their ids stay theirs
        outcome = self.fit(value, schema, depth + 1)
        self._met[met] = (value, schema, outcome)
        return outcome

    def _part(self, value: JsonValue, schema: object, depth: int) -> _Outcome:
        """What comes of a value in another one, which several schemas may lead to."""
        if isinstance(value, dict | list):
            return self._branch(value, schema, depth)
        return self.fit(value, schema, depth + 1)

    def _typed(self, outcome: _Outcome, schema: Schema, depth: int) -> None:
        wanted, value = kinds_named(schema), outcome.value
        for kind in wanted:
            if is_of(value, kind):
                return
        for kind in wanted:
            found = bent(value, kind)
            if found is not UNBENT:
                outcome.repair(found, bending(value, kind, found))
                return
        if not wanted:
            return
        if self._guesses and "null" in wanted and _is_none(value):
            outcome.repair(None, f"{shown(value)} read as null", "guessed-type")
            return
        if "array" in wanted and self._is_lone_item(value, schema, depth):
            sure = isinstance(value, str) and "," not in value and not _is_none(value)
            sure = sure and _asks_for_texts(schema)
            if sure or self._guesses:
                code = "type" if sure else "guessed-type"
                outcome.repair([value], f"{shown(value)} read as array {shown([value])}", code)
                return
        names = " or ".join(str(kind)[:SHOWN_NAME] for kind in wanted)
        outcome.fault("wrong-type", f"{shown(value)} is not of type {names}")

    def _is_lone_item(self, value: JsonValue, schema: Schema, depth: int) -> bool:
        """Whether a value could stand in the list that is asked for."""
        if value is None or value == "" or (isinstance(value, str) and value.lstrip()[:1] in "[{"):
            return False
        return self._branch(value, _item_schema(schema, 0), depth).fits

    def _any_of(self, outcome: _Outcome, options: list[object], depth: int) -> None:
        """The first option that fits as it is; else the first that fits when bent; else, for what
        it has to say, the only one that is of the right type at least.
        """
        value = outcome.value
        tried = []
        for option in options:
            found = self._branch(value, option, depth)
            if not found.told:
                return
            tried.append(found)
        near = [found for found in tried if found.fits] or [f for f in tried if not f.wrong]
        if near and (near[0].fits or len(near) == 1):
            outcome.adopt(near[0])
        else:
            many = len(options)
            outcome.fault("wrong-type", f"{shown(value)} fits none of {many} alternatives")

    def _object(self, outcome: _Outcome, value: JsonObject, schema: Schema, depth: int) -> None:
        properties = schema.get("properties")
        properties = properties if isinstance(properties, (dict, Mapping)) else {}
        required = schema.get("required")
        for name in required if isinstance(required, list | tuple) else ():
            if isinstance(name, str) and name not in value:
                outcome.fault("missing-argument", f"{name[:SHOWN_NAME]!r} is required")
        # Patterns are the schema's own, and are not run: what may match one is left alone.
        others = True if schema.get("patternProperties") else schema.get("additionalProperties")
        changed = {}
        for name, inner in value.items():
            if name not in properties and others is False:
                outcome.fault("unknown-argument", f"{_named(name)!r} is no argument")
                continue
            said = properties.get(name, others)
            if _fits_plainly(inner, said):
                continue
            found = self._part(inner, said, depth)
            outcome.inside(f".{_named(name)}", found)
            if found.value is not inner:
                changed[name] = found.value
        if changed:
            outcome.value = {**value, **changed}

    def _array(self, outcome: _Outcome, value: list[JsonValue], schema: Schema, depth: int) -> None:
        if schema.keys().isdisjoint(_ITEM_KEYWORDS):
            return
        changed = {}
        for index, inner in enumerate(value):
            said = _item_schema(schema, index)
            if _fits_plainly(inner, said):
                continue
            found = self._part(inner, said, depth)
            outcome.inside(f"[{index}]", found)
            if found.value is not inner:
                changed[index] = found.value
        if changed:
            outcome.value = [changed.get(index, inner) for index, inner in enumerate(value)]


_ITEM_KEYWORDS = ("items", "prefixItems", "additionalItems")
_COMBINING = frozenset({"$ref", "allOf", "anyOf", "oneOf"})
_CHOOSING = frozenset({"enum", "const"})
_ASKING = _COMBINING | _CHOOSING
_CLASSES: dict[str, type] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
}
_LONE = frozenset({str, int, float, bool})


def _is_none(value: JsonValue) -> bool:
    """Whether a text is the word for no value, in Python or in JSON."""
    return isinstance(value, str) and value.strip().lower() in ("none", "null")


def _asks_for_texts(schema: Schema) -> bool:
    """Whether the items of a list may be texts and nothing else."""
    items = _item_schema(schema, 0)
    return isinstance(items, Mapping) and kinds_named(items) == ["string"]


def _is_of_type_asked(value: JsonValue, schema: Schema) -> bool:
    """Whether a value is of the one type that is asked for, as nearly all are."""
    kind = schema.get("type")
    return type(kind) is str and _CLASSES.get(kind) is type(value)


def _fits_plainly(value: JsonValue, schema: object) -> bool:
    """Whether a lone value is of the one type that is asked for, and nothing more is asked."""
    if type(schema) is not dict:
        return schema is None
    if type(value) not in _LONE or not _ASKING.isdisjoint(schema):
        return False
    return _is_of_type_asked(value, schema)


def _named(name: object) -> str:
    """A name as it is shown; objects that were never JSON may have any key."""
    return str(name)[:SHOWN_NAME]


def _item_schema(schema: Schema, index: int) -> object:
    """What a schema says of the item at `index`. `items` as a list is what older drafts wrote."""
    first, rest = schema.get("prefixItems"), schema.get("items")
    if isinstance(rest, list | tuple):
        first, rest = rest, schema.get("additionalItems")
    return first[index] if isinstance(first, list | tuple) and index < len(first) else rest


def _choose(outcome: _Outcome, choices: list[object] | None) -> None:
    """Hold the value against `enum` or `const`; one that only differs in type is bent to it."""
    value = outcome.value
    if choices is None or any(_same(value, choice) for choice in choices):
        return
    for example in {type(choice): choice for choice in choices}.values():
        found = bent(value, kind_of(example))
        if found is not UNBENT and any(_same(found, choice) for choice in choices):
            outcome.repair(found, f"{shown(value)} read as {shown(found)}")
            return
    outcome.fault("not-allowed", f"{shown(value)} is none of {shown(choices)}")


def _same(value: JsonValue, choice: object) -> bool:
    return type(choice) is type(value) and bool(choice == value)


def _circle(value: JsonValue) -> _Outcome:
    outcome = _Outcome(value)
    outcome.fault("unresolved-ref", "the schema leads back to itself and asks for nothing")
    return outcome


def _told(outcome: _Outcome, path: str, seen: set[tuple[str, int]]) -> list[tuple[str, str, str]]:
    """Path, code and message of all there is to report; what several schemas say comes once."""
    if (path, id(outcome)) in seen:
        return []
    seen.add((path, id(outcome)))
    found: list[tuple[str, str, str]] = []
    for what, more in outcome.told:
        if isinstance(more, _Outcome):
            found += _told(more, path + what, seen)
        else:
            found.append((path, what, more))
    return found
