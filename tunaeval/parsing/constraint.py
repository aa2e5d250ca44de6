"""Grammars for a server: what a model may write at all, made from the words of a format.

The grammar accepts the text that `render` writes, with an optional space after each comma and colon
of JSON.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations
from typing import Any, TypeAlias
from typing import Literal as OneOf

from tunaeval.errors import UsageError
from tunaeval.grammar import (
    Arguments,
    Attribute,
    CallObject,
    Elements,
    Key,
    Literal,
    Many,
    Markup,
    Maybe,
    Name,
    PythonCalls,
    Space,
    Value,
    Word,
    flat,
)
from tunaeval.grammar.format import Format
from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, Tools, ToolSpec
from tunaeval.types.wanted import refusal, wanted_name

from .api import format_named
from .judge import as_json, escaped, trimmed
from .reader import AnyTools, known_tools
from .repair.dialects import BRACE_KEY
from .repair.schema import admitted, choices_of, is_of, kinds_named, resolved
from .rules import Rules, either, quote, whole_numbers
from .write import LINE, as_template, braces, type_word, written_calls

Kind: TypeAlias = OneOf["lark", "gbnf", "structural-tag"]
KINDS: tuple[Kind, ...] = ("lark", "gbnf", "structural-tag")

_Argument: TypeAlias = tuple[str, object]
"""The name of an argument, and its schema."""

MOST_IN_ANY_ORDER = 5
"""Most properties that rules list in any order, as n of them need 2**n rules. More than that are in
any order only in Lark, and in the schema's order in the other kinds."""
_FEW, _BITS = 3, 64
"""Between these numbers of properties Lark has one rule with a parameter, which has 64 bits."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A grammar (`text`, of this `kind`) for a server.

    `omitted` are sentences about what the grammar does not enforce, and where it admits only one
    of several ways to write the same call.

    Examples:
        >>> tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}}]
        >>> grammar = tunaeval.constrain(tools, format="hermes", allow_looser=True)
        >>> grammar.omitted
        ("tool 'f': a value of any type may contain an object, whose keys may repeat",)
    """

    text: str
    kind: Kind
    omitted: tuple[str, ...] = ()

    def as_tag(self) -> str:
        """Return this grammar of kind "gbnf" as a structural tag, in JSON."""
        form = {"type": "grammar", "grammar": self.text}
        return json.dumps({"type": "structural_tag", "format": form}, ensure_ascii=False)


def constrain(
    tools: AnyTools,
    *,
    format: str | Format = "hermes",  # noqa: A002 - as in `parse`
    kind: Kind = "lark",
    parallel: bool = True,
    text: OneOf["before", "none"] = "before",
    reasoning: bool = True,
    allow_looser: bool = False,
) -> Constraint:
    """Return a grammar of all replies that call these tools in this format.

    The calls that the grammar accepts are read strictly, without a diagnosis, and fit the tools'
    schemas; only declared arguments are accepted. `kind` is "lark" (llguidance), "gbnf" (llama.cpp)
    or "structural-tag" (xgrammar). With `parallel` a reply may have several calls. With `text`
    "none" it is calls; with "before" it may begin with prose, in whole lines without backticks (in
    code no call would be read), and may be prose alone. Prose has no marker of the format, and so
    no call of it, but it may have one of another format. With `reasoning` a reply may begin with
    reasoning between the format's markers.

    Raises `UsageError` for a schema, a name or a format that the kind cannot express. With
    `allow_looser` such a part of a schema is left out, and `omitted` says so.

    Examples:
        >>> grammar = tunaeval.constrain([{"name": "ls"}], format="hermes", text="none")
        >>> '"<tool_call>' in grammar.text
        True
    """
    wanted_name(kind, "kind", KINDS)
    wanted_name(text, "text", ("before", "none"))
    for name, value in {"parallel": parallel, "reasoning": reasoning}.items():
        if type(value) is not bool:
            raise refusal(name, value, "True or False")
    form, known = format_named(format), known_tools(tools)
    if not known:
        raise UsageError("there are no tools to call; a constraint needs one or more")
    grammar = _Grammar(form, kind, allow_looser=allow_looser)
    root = grammar.reply(known, parallel=parallel, text=text, reasoning=reasoning)
    written = grammar.lark(root) if kind == "lark" else grammar.gbnf(root)
    made = Constraint(written, kind, (*grammar.omitted,))
    return replace(made, text=made.as_tag()) if kind == "structural-tag" else made


def takes_prose(form: Format) -> bool:
    """Whether the format has a marker that ends prose before a call."""
    return not (form.whole or form.envelope) and bool(_marks_of_start(form))


def _marks_of_start(form: Format) -> tuple[str, ...]:
    around = form.around[0].spellings if form.around else ()
    first = form.opener.spellings if form.opener else ()
    return tuple(mark for mark in (*around, *first) if len(mark) > 1)


def breach(text: str, form: Format, tools: Tools, *, calls_alone: bool) -> str | None:
    """Return why no grammar of these tools in this format accepts the text, or None.

    No grammar is matched: the calls that one accepts are read strictly, without a diagnosis, and
    nothing comes after the first but calls. Prose without a call may be like one (`_OF_PROSE`).
    """
    read = form.parse(text, tools=tools, level="strict")
    for found in read.diagnoses:
        if read.calls or found.code not in _OF_PROSE:
            return f"{found.code}: {found.message}"
    if not read.calls:
        mark = next((mark for mark in _marks_of_start(form) if mark in read.content), None)
        if mark:  # prose has none
            return f"{mark!r} begins no call that is read strictly"
        return "there is no call" if calls_alone else None
    first = read.calls[0].span
    if first and read.content.strip() not in text[: first.start]:
        return f"there is text after the first call: {brief(read.content.strip())}"
    return None


_OF_PROSE = {"invalid-json", "mention", "missing-opener", "reads-as", "truncated"}
"""What is diagnosed in prose that a grammar accepts: calls in other formats, named tools, and an
end with which an opener begins.
"""


@dataclass(frozen=True, slots=True)
class _Notation:
    """How JSON values are written: in JSON, as Python literals, or in braces with bare keys.

    Keys in braces are sorted where properties are in one order.
    """

    string: str
    """The rule of a string of any length."""
    character: str
    """The rule of a character in a string; empty if strings end at a mark."""
    key: Callable[[str], str]
    write: Callable[[JsonValue], str]
    comma: str = '"," " "?'
    colon: str = '":" " "?'
    words: tuple[str, str, str] = ("true", "false", "null")
    inner: _Notation | None = None
    """The notation of what lists and objects contain, if that is another one."""


_JSON = _Notation(
    "STRING", "CHARACTER", lambda key: as_json(key, key), lambda v: as_json(v, "enum")
)
_PYTHON = _Notation("PYTHON-STRING", "", repr, repr, words=("True", "False", "None"))
_WITH_JSON = replace(_PYTHON, write=as_template, inner=_JSON)


def _in_braces(mark: str) -> _Notation:
    """Return the notation of the formats with bare keys and strings between two marks."""
    write = partial(braces, mark=mark)
    return _Notation(
        "", "", lambda key: key if BRACE_KEY.fullmatch(key) else write(key), write, '","', '":"'
    )


_STRING = {"minLength", "maxLength", "pattern"}
_NUMBER = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
_ARRAY = {"items", "minItems", "maxItems"}
_OBJECT = {"properties", "required", "additionalProperties"}
_ENFORCED = {"string": _STRING, "integer": _NUMBER, "array": _ARRAY, "object": _OBJECT}
"""The keywords that are enforced for each type."""

_OF_TYPE: dict[str, set[str]] = {
    "object": _OBJECT | {"patternProperties", "minProperties", "maxProperties", "propertyNames"},
    "array": _ARRAY | {"uniqueItems", "prefixItems", "contains", "additionalItems"},
    "number": _NUMBER | {"multipleOf"},
    "string": _STRING,
}
_OF_TYPE["integer"] = _OF_TYPE["number"]
"""The keywords that concern only values of a type."""

_ANNOTATIONS = frozenset({
    "title", "description", "default", "example", "examples", "$defs", "definitions", "$schema",
    "$id", "$comment", "deprecated", "readOnly", "writeOnly", "format", "type", "strict",
})  # fmt: skip
"""The keywords that restrict no value, or that are read before others."""


_PLAIN = re.compile(r"[A-Za-z]\w*+", re.ASCII)
"""Names that every format can write."""


@cache
def _harmless(kind: str) -> frozenset[str]:
    """Return the keywords that need no more rules for a type: enforced, or of other types."""
    of_others = set().union(*_OF_TYPE.values()) - _OF_TYPE.get(kind, set())
    return _ANNOTATIONS | _ENFORCED.get(kind, set()) | of_others


_PATTERN = re.compile(r"(\^?)((?:[^\\^$(/]|\\[dwsDWS.*+?()\[\]{}|/^$\\-]|\((?!\?)|\(\?:)*+)(\$?)")
"""A regular expression that llguidance and JSON schema read alike, its anchors apart."""


class _Grammar(Rules):
    """The rules of the replies in a format, and what is left out of them."""

    def __init__(self, form: Format, kind: Kind, *, allow_looser: bool) -> None:
        super().__init__()
        self.form, self.kind, self.allow_looser = form, kind, allow_looser
        self.omitted: dict[str, None] = {}
        self._marks = tuple(dict.fromkeys(_marks_of(form)))
        self._root: object = {}
        self._where = ""

    def omit(self, what: str) -> None:
        """Leave something out; raise `UsageError` unless a looser grammar is allowed."""
        sentence = f"{self._where}: {what}"
        if not self.allow_looser:
            raise UsageError(f"{sentence}; change the schema, or allow a looser grammar")
        self.omitted[sentence] = None

    def reply(self, tools: Tools, *, parallel: bool, text: str, reasoning: bool) -> str:
        """Return the expression of a whole reply."""
        form = self.form
        self._check_names(tools)
        calls = self._calls(tools, parallel=parallel)
        if text == "before":
            if not takes_prose(form):
                raise UsageError(
                    f"format {form.name!r} has no marker that ends prose before a call; "
                    "constrain with text='none'"
                )
            bare = ("{", "[") if any(not other.marked for other in form.also) else ()
            listed = ("[",) if form.python and not form.marked else ()
            stops = (*_marks_of_start(form), *self._marks, *bare, *listed)
            # In code, which backticks begin, no call would be read.
            prose = self.until("\n", (*stops, "`"))
            calls = f"{self.until('', stops)} | ({prose})* {calls}"
        if reasoning and not form.envelope:
            marker = form.reasoning[0]
            thought = self.until(marker.close, (marker.open, *_marks_of_thought(form)))
            calls = f'({quote(marker.open)} {thought} "\\n"?)? ({calls})'
        return calls

    def _check_names(self, tools: Tools) -> None:
        """Raise `UsageError` for a tool's name, or an argument's, that the format cannot write."""
        calls = [
            ToolCall(name, dict.fromkeys(_properties(self._declared(spec)), "a"))
            for name, spec in tools.items()
        ]
        # To write a call reads it back, so the calls whose names any format can write are left out.
        odd = [one for one in calls if not all(map(_PLAIN.fullmatch, (one.name, *one.arguments)))]
        text = written_calls([calls[0], *odd], self.form)
        if self.form.parse(text, tools=tools, level="strict").outcome != "calls":
            raise UsageError(
                f"format {self.form.name!r} is read only with repairs, so no grammar of it can be "
                "read strictly; name the format that the model was trained on"
            )

    def _calls(self, tools: Tools, *, parallel: bool) -> str:
        form, envelope = self.form, self.form.envelope
        more = "*" if parallel else "{0}"
        if envelope and envelope.one_each:
            each = [self._message(self._framed([[spec]], ""), spec.name) for spec in tools.values()]
            return self._repeated(self.rule(either(each)), form.separator, more)
        several = form.python or (form.call and (form.call.array or form.call.joined))
        text = self._framed([[*tools.values()]] if several else [[t] for t in tools.values()], more)
        return self._message(text, "") if envelope else text

    def _framed(self, groups: Sequence[Sequence[ToolSpec]], more: str) -> str:
        """Return blocks of calls of these groups of tools, between the texts around them."""
        form = self.form
        one = self.rule(either([self._block(specs, more) for specs in groups]))
        if form.python or (form.call and (form.call.array or form.call.joined)):
            more = ""
        if not form.around:
            return self._repeated(one, form.separator, more)
        (opener, closer), between = (mark.text for mark in form.around), quote(form.separator)
        inner = form.separator if form.inner is None else form.inner
        if inner != form.separator:
            many = self._repeated(one, form.separator, more)
            return f"{quote(opener + inner)} {many} {quote(inner + closer)}"
        # A separator and the closer may begin alike, and lexers are greedy: so each block ends
        # with the separator that `render` writes between the last one and the closer.
        again = f"({one} {between})*" if more == "*" else ""
        return f"{quote(opener + inner)} {one} {between} {again} {quote(closer)}"

    def _repeated(self, one: str, separator: str, more: str) -> str:
        return one if more == "{0}" or not more else f"{one} ({quote(separator)} {one}){more}"

    def _message(self, block: str, name: str) -> str:
        """Return a message of calls, as `render` writes it."""
        envelope, form = self.form.envelope, self.form
        assert envelope is not None  # noqa: S101 - callers ask
        header = envelope.opens.text + envelope.call.text.replace("{name}", name)
        body = "" if form.opener and form.opener.text == envelope.call.body else envelope.call.body
        return f"{quote(header + body)} {block} {quote(envelope.closes.text)}"

    def _block(self, specs: Sequence[ToolSpec], more: str) -> str:
        return self.rule(self._row(self.form.words, specs, more))

    def _row(
        self, words: Sequence[Word], specs: Sequence[ToolSpec], more: str, of: _Argument = ("", {})
    ) -> str:
        """Return the expression of words; `of` is the argument that a `Many` around them has."""
        made, (key, schema) = list[str](), of
        for at, word in enumerate(words):
            after = words[at + 1 :]
            match word:
                case Maybe() if word.written:
                    made.append(self._row((*word.words, *after), specs, more, of))
                    break
                case Attribute():
                    made.append(self._typed(word, after, schema))
                    break
                case Value():
                    made.append(self._bare(word, after, schema))
                    break
                case Key():
                    made.append(quote(escaped(key) if word.escaped else key))
                case _:
                    made.append(self._word(word, specs, more))
        return " ".join(one for one in made if one != '""') or '""'

    def _word(self, word: Word, specs: Sequence[ToolSpec], more: str) -> str:
        """Return the expression of a word that no single argument concerns."""
        match word:
            case Literal() | Space() | Markup():
                return quote(word.text)
            case Name():
                return quote(word.before + specs[0].name + word.after_text)
            case CallObject():
                return self._objects(word, specs, more)
            case PythonCalls():
                return self._python(word, specs, more)
            case Arguments() if not word.optional:
                notation = _in_braces(word.mark) if word.mark else _JSON
                return self._arguments(specs[0], notation)
            case Many() | Elements():
                return self._each(word, specs[0])
        return '""'

    def _objects(self, word: CallObject, specs: Sequence[ToolSpec], more: str) -> str:
        one = self.rule(either([self._object(word, spec) for spec in specs]))
        several = self._repeated(one, word.joined or (f",{LINE}" if word.lines else ", "), more)
        if word.inside:
            return f'{quote(f"{{{chr(34)}{word.inside[0]}{chr(34)}: [")} {several} "]}}"'
        if word.joined:
            return several
        if word.lines:
            return f"{quote(f'[{LINE}')} {several} {quote(chr(10) + ']')}"
        if word.listed:
            return f'"[" {several} "]"'
        return f'({one} | "[" {several} "]")' if word.array and more == "*" else one

    def _object(self, word: CallObject, spec: ToolSpec) -> str:
        arguments, name = self._arguments(spec, _JSON), as_json(spec.name, spec.name)
        if word.keyed:
            return f'{quote(f"{{{name}: ")} {arguments} "}}"'
        mark = "" if word.bare_keys else '"'
        start = f"{mark}{word.name}{mark}: {name}, {mark}{word.arguments}{mark}: "
        if word.number:
            number = f"{{{mark}{word.number}{mark}: {mark}"
            return f'{quote(number)} [0-9]{{1,4}} {quote(f"{mark}, {start}")} {arguments} "}}"'
        return f'{quote("{" + start)} {arguments} "}}"'

    def _declared(self, spec: ToolSpec) -> JsonObject:
        """Return the schema of a tool's arguments, and begin to speak of this tool."""
        self._root, self._where = spec.parameters, f"tool {spec.name!r}"
        leaf, *others = self._leaves({"type": "object", **spec.parameters})
        if others or "$ref" in leaf:
            raise UsageError(f"{self._where} has several schemas for its arguments; split the tool")
        self._check_keywords(leaf, "object")
        if leaf.get("additionalProperties") not in (None, False):
            self.omitted[f"{self._where}: only declared arguments are written"] = None
        return leaf

    def _arguments(self, spec: ToolSpec, notation: _Notation) -> str:
        return self._object_of(self._declared(spec) | {"additionalProperties": False}, notation)

    def _python(self, word: PythonCalls, specs: Sequence[ToolSpec], more: str) -> str:
        calls, notation = [], _WITH_JSON if word.json else _PYTHON
        for spec in specs:
            schema = self._declared(spec)
            for key in _properties(schema):
                if not (key.isidentifier() and key.isascii()) or keyword.iskeyword(key):
                    raise UsageError(f"{self._where}: {key!r} is no name in Python; rename it")
            items = {
                key: f"{quote(f'{key}=')} {self._value(inner, notation)}"
                for key, inner in _properties(schema).items()
            }
            inside = self._members(items, schema, '", "')
            calls.append(f'{quote(f"{spec.name}(")} {inside} ")"')
        one = self.rule(either(calls))
        if word.listed:
            return f'"[" {self._repeated(one, ", ", more)} "]"'
        return self._repeated(one, "\n", more)

    def _each(self, word: Many | Elements, spec: ToolSpec) -> str:
        """Return the expression of all arguments, each in markup of its own."""
        schema = self._declared(spec)
        declared = _properties(schema).items()
        if isinstance(word, Many):
            items = {one[0]: self._row(word.words, [spec], "", one) for one in declared}
            return self._members(items, schema, "")
        items = {key: self._element(word, key, inner) for key, inner in declared}
        return self._members(items, schema, quote("" if word.prefix else "\n"))

    def _members(
        self, items: Mapping[str, str], schema: Mapping[str, Any], comma: str, *, least: int = 0
    ) -> str:
        """Return the expression of members in any order: each once, and all that are required.

        `least` is 1 if there has to be a member.
        """
        required = {key for key in schema.get("required", ()) if key in items}
        ordered = len(items) > MOST_IN_ANY_ORDER
        names = {key: self.rule(expression) for key, expression in items.items()}
        if self.kind == "lark" and _FEW < len(items) <= _BITS:
            return self._members_as_bits(names, required, comma, least)
        if ordered:
            self.omitted[f"{self._where}: {len(items)} properties come in the schema's order"] = (
                None
            )

        @cache
        def rest(left: tuple[str, ...], between: str) -> str:
            options = []
            for at, key in enumerate(left):
                after = left[at + 1 :] if ordered else left[:at] + left[at + 1 :]
                options.append(f"{between} {names[key]} {rest(after, comma)}".strip())
                if ordered and key in required:
                    break
            if not required.intersection(left) and len(left) + least <= len(items):
                options.append('""')
            return self.rule(" | ".join(options)) if left else ""

        return rest(tuple(items), "") or '""'

    def _members_as_bits(
        self, names: Mapping[str, str], required: set[str], comma: str, least: int
    ) -> str:
        """Return the same for many members: llguidance's rules may count which ones are there."""
        bits = sorted(names, key=lambda key: key not in required)
        every = f"%if is_ones([0:{len(required)}])" if required else ""
        rest = self.rule("", ("bits", *names.items(), *bits, comma))
        options = [
            f"{comma} {names[key]} {rest}::set_bit({bit}) %if bit_clear({bit})"
            for bit, key in enumerate(bits)
        ]
        self.rules[f"{rest}::_"] = " | ".join([*options, f'"" {every}'])
        self.rules.pop(rest, None)
        first = [f"{names[key]} {rest}::{1 << bit}" for bit, key in enumerate(bits)]
        return self.rule(either([*first, '""'] if not (required or least) else first))

    def _value(self, schema: object, notation: _Notation) -> str:
        """Return the expression of all values that fit a schema."""
        leaves = self._leaves(schema)
        if not leaves:
            raise UsageError(f"{self._where}: no value fits {brief(schema, 100)}")
        return self.rule(either([self._leaf(leaf, notation) for leaf in leaves]))

    def _leaves(self, schema: object, seen: tuple[str, ...] = ()) -> list[JsonObject]:
        """Return the schemas of one type each, or of choices, of which a value fits one."""
        if schema is False:
            raise UsageError(f"{self._where}: a schema is false, which no value fits")
        one: JsonObject = dict(schema) if isinstance(schema, Mapping) else {}
        if "$ref" in one:
            return self._referred(str(one["$ref"]), seen)
        if "allOf" in one:
            parts = [part for part in one.pop("allOf") if isinstance(part, Mapping)]
            merged = {key: value for part in (*parts, one) for key, value in part.items()}
            if any(merged[key] != value for part in parts for key, value in part.items()):
                self.omit("of allOf with the same keyword twice, only the last is enforced")
            return self._leaves(merged, seen)
        for word in ("anyOf", "oneOf"):
            if word in one:
                options = one.pop(word)
                if set(one) - _ANNOTATIONS:
                    self.omit(f"{word} beside other keywords is not enforced")
                    continue
                if word == "oneOf" and self._overlap(options):
                    self.omit("oneOf admits a value that fits several of its schemas")
                return [leaf for option in options for leaf in self._leaves(option, seen)]
        null: list[JsonObject] = [{"type": "null"}] if one.pop("nullable", False) is True else []
        return [*_of_types(one), *null]

    def _referred(self, reference: str, seen: tuple[str, ...]) -> list[JsonObject]:
        """Return the leaves of a definition; one that contains itself stays a reference."""
        found = resolved(reference, self._root)
        if isinstance(found, LookupError):
            raise UsageError(f"{self._where}: {found}")
        if reference in seen:
            raise UsageError(f"{self._where}: $ref {reference!r} leads only to itself")
        if not seen and self._is_recursive(reference):
            return [{"$ref": reference}]
        return self._leaves(found, (*seen, reference))

    def _is_recursive(self, reference: str) -> bool:
        """Whether a definition refers to itself, so that it needs a rule of its own."""
        waiting, seen = [reference], set()
        while waiting:
            found = resolved(waiting.pop(), self._root)
            for name in re.findall(r'"\$ref": "([^"]+)"', json.dumps(found, default=str)):
                if name == reference:
                    return True
                if name not in seen:
                    seen.add(name)
                    waiting.append(name)
        return False

    def _is_finite(self, leaf: JsonObject, within: tuple[str, ...] = ()) -> bool:
        """Whether a value that ends fits a leaf: its required parts do not lead back to it."""
        if "$ref" in leaf:
            name = leaf["$ref"]
            leaves = self._leaves(resolved(name, self._root), (name,)) if name not in within else ()
            return any(self._is_finite(one, (*within, name)) for one in leaves)
        parts = [_properties(leaf)[key] for key in leaf.get("required") or ()]
        parts += [leaf.get("items", {})] if leaf.get("minItems") else []
        return all(any(self._is_finite(one, within) for one in self._leaves(p)) for p in parts)

    def _overlap(self, options: Sequence[object]) -> bool:
        kinds = [admitted(option, self._root) for option in options]
        return any(one & other for one, other in combinations(kinds, 2))

    def _leaf(self, schema: JsonObject, notation: _Notation) -> str:
        """Return the expression of the values that fit a schema of one type."""
        if "$ref" in schema:
            of = notation.string, notation.words, notation.inner is None
            key = ("ref", schema["$ref"], id(self._root), *of)
            if key not in self.names:
                if not self._is_finite(schema):
                    raise UsageError(
                        f"{self._where}: {schema['$ref']!r} requires itself, so no value that ends "
                        "fits it; make a property in it optional"
                    )
                name = self.rule("", key)
                leaves = self._leaves(resolved(schema["$ref"], self._root), (schema["$ref"],))
                self.rules[name] = either([self._leaf(leaf, notation) for leaf in leaves])
            return self.names[key]
        if "enum" in schema:
            return either([quote(notation.write(value)) for value in schema["enum"]])
        kind = schema["type"]
        self._check_keywords(schema, kind)
        inside = {"string": self._string, "array": self._array, "object": self._object_of}
        if kind in inside:
            within = kind != "string" and notation.inner
            return inside[kind](schema, within or notation)
        true, false, null = map(quote, notation.words)
        plain = {"number": "NUMBER", "null": null, "boolean": f"({true} | {false})"}
        if kind in plain:
            return plain[kind]
        if kind == "integer":
            try:
                return whole_numbers(schema)
            except UsageError:
                shown = brief(schema, 100)
                raise UsageError(f"{self._where}: no value fits {shown}") from None
        self.omit("a value of any type may contain an object, whose keys may repeat")
        return self._anything(notation)

    def _check_keywords(self, schema: JsonObject, kind: str) -> None:
        for word in sorted(schema.keys() - _harmless(kind)):
            if schema[word] not in (None, False, {}, []):
                of = "a value of any type" if kind == "any" else kind
                self.omit(f"{word} of {of} is not enforced")

    def _string(self, schema: JsonObject, notation: _Notation) -> str:
        if "format" in schema:
            self.omitted[f"{self._where}: format {schema['format']!r:.40} is not enforced"] = None
        length = f"{{{schema.get('minLength', 0)},{schema.get('maxLength', '')}}}"
        pattern = schema.get("pattern")
        found = _PATTERN.fullmatch(str(pattern))
        if length == "{0,}" and pattern is None:
            return self._any_string(notation)
        if not notation.character or (pattern is not None and (self.kind != "lark" or not found)):
            what = "length" if pattern is None else f"the pattern {pattern!r}"
            self.omit(f"{what} of a string is not enforced, as this kind or format cannot say it")
            return self._any_string(notation)
        if pattern is None or not found:
            return f'"\\"" {notation.character}{length} "\\""'
        self.omitted[f"{self._where}: strings with a pattern have no escapes"] = None
        before, inside, after = found.groups()
        parts = ("" if before else "(?s:.*)", f"(?:{inside})", "" if after else "(?s:.*)")
        regex = "".join(parts).replace("/", "\\/")
        plain = r'/[^"\\\x00-\x1f\x7f]' + f"{length}/"
        return self.terminal(f'"\\"" (/{regex}/ & {plain}) "\\""')

    def _any_string(self, notation: _Notation) -> str:
        if notation.string:
            return notation.string
        mark = notation.write("")[: len(notation.write("")) // 2]
        return f"{quote(mark)} {self.until(mark, self._marks)}"

    def _array(self, schema: JsonObject, notation: _Notation) -> str:
        item = self._value(schema.get("items", {}), notation)
        least, most = schema.get("minItems", 0), schema.get("maxItems")
        if most == 0:
            return '"[" "]"'
        times = f"{{{max(0, least - 1)},{'' if most is None else most - 1}}}"
        inside = f"{item} ({notation.comma} {item}){'*' if times == '{0,}' else times}"
        return f'"[" ({inside}){"?" if least == 0 else ""} "]"'

    def _object_of(self, schema: JsonObject, notation: _Notation) -> str:
        others, properties = schema.get("additionalProperties"), _properties(schema)
        if not notation.string:
            properties = dict(sorted(properties.items(), key=lambda member: member[0].lower()))
        if (others not in (None, False)) or not (properties or others is False):
            self.omit("the keys of an object with undeclared properties may repeat")
            if not properties:
                inner = others if isinstance(others, Mapping) else {"type": "any"}
                return self._open(self._value(inner, notation), notation)
        items = {
            key: f"{quote(notation.key(key))} {notation.colon} {self._value(inner, notation)}"
            for key, inner in properties.items()
        }
        return f'"{{" {self._members(items, schema, notation.comma)} "}}"'

    def _open(self, value: str, notation: _Notation) -> str:
        key = self._any_string(notation)
        member = self.rule(f"{key} {notation.colon} {value}")
        return f'"{{" ({member} ({notation.comma} {member})*)? "}}"'

    def _anything(self, notation: _Notation) -> str:
        key = ("any", notation.string, notation.words, notation.inner is None)
        if key not in self.names:
            name = self.rule("", key)
            words = either(map(quote, notation.words))
            inside = self._anything(notation.inner) if notation.inner else name
            listed = f'"[" ({inside} ({notation.comma} {inside})*)? "]"'
            string = self._any_string(notation)
            objects = self._open(inside, notation.inner or notation)
            self.rules[name] = f"{words} | NUMBER | {string} | {listed} | {objects}"
        return self.names[key]

    def _typed(self, word: Attribute, after: Sequence[Word], schema: object) -> str:
        """Return the type of a value and the value after it."""
        options = []
        value = next(one for one in flat(after) if isinstance(one, Value))
        for leaf in self._leaves(schema):
            sample = leaf["enum"][0] if "enum" in leaf else _SAMPLES.get(leaf.get("type", ""))
            name = word.text[0] if isinstance(sample, str) else type_word(sample, word)
            at = [*after].index(value)
            between = "".join(one.text for one in after[:at] if isinstance(one, Literal))
            options.append(f"{quote(name + between)} {self._bare(value, after[at + 1 :], leaf)}")
        return either(options)

    def _bare(self, word: Value, after: Sequence[Word], schema: object) -> str:
        """Return a bare value and all text after it; strings end at that text."""
        end = "".join(one.text for one in after if isinstance(one, Literal | Space | Markup))
        line = "\n" if word.trim == "newline" else ""
        closer = next(one for one in after if isinstance(one, Literal))
        without = (*self._marks, *closer.spellings)
        options = []
        for leaf in self._leaves(schema):
            if leaf.get("type") in ("string", "any"):
                for key in {"minLength", "maxLength", "pattern"} & leaf.keys():
                    self.omit(f"{key} of a string is not enforced in a format with bare values")
                if leaf["type"] == "any":
                    self.omit("a bare value without a type may be anything")
                options.append(f"{quote(line)} {self.until(line + end, without)}")
            elif "enum" in leaf:
                (choice,) = leaf["enum"]
                text = choice if isinstance(choice, str) else as_json(choice, "enum")
                whole = f"{line}{text}{line}"
                if trimmed(whole, word) != text or any(mark in text for mark in without):
                    raise UsageError(f"{self._where}: {text!r} is lost where values are bare text")
                options.append(quote(whole + end))
            else:
                value = self._leaf(leaf, _JSON)
                options.append(f"{quote(line)} ({value}) {quote(line + end)}")
        return either(options)

    def _element(self, word: Elements, key: str, schema: object) -> str:
        """Return an element; an object or a list in it is nested elements, or JSON."""
        closer = f"{word.prefix}</{key}>"
        options = [self._bare(Value(), (Literal(closer),), schema)]
        for leaf in self._leaves(schema) if word.prefix else ():
            inner = _properties(leaf)
            if leaf.get("type") == "object" and inner and word.item not in inner:
                items = {name: self._element(word, name, one) for name, one in inner.items()}
                nested = self._members(items, leaf, "", least=1)
                options.append(f"{nested} {quote(closer)}")
            elif leaf.get("type") == "array" and leaf.get("maxItems") != 0:
                item = self.rule(self._element(word, word.item, leaf.get("items", {})))
                times = f"{{{max(1, leaf.get('minItems', 0))},{leaf.get('maxItems', '')}}}"
                options.append(f"({item}){times} {quote(closer)}")
        return f"{quote(f'{word.prefix}<{key}>')} {either(options)}"


_SAMPLES: dict[str, JsonValue] = {
    "string": "", "boolean": True, "integer": 1, "number": 1, "object": {}, "array": [],
}  # fmt: skip


def _properties(schema: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Return the schemas of the declared arguments; those that are only required have none."""
    declared = schema.get("properties") or {}
    return declared | {key: {} for key in schema.get("required") or () if key not in declared}


def _of_types(schema: JsonObject) -> list[JsonObject]:
    """Return a schema for each of the types that a schema names, or one of its choices."""
    kinds = [str(kind) for kind in kinds_named(schema)]
    choices = choices_of(schema)
    if choices is not None:
        fits = [v for v in choices if not kinds or any(is_of(v, kind) for kind in kinds)]
        return [{"enum": [choice]} for choice in fits]
    if not kinds:
        kinds = [kind for kind, words in _OF_TYPE.items() if words & set(schema)][:1] or ["any"]
    return [{**schema, "type": kind} for kind in kinds]


def _marks_of(form: Format) -> Iterable[str]:
    """Yield the fixed texts of a format, which no bare value may contain."""
    envelope = form.envelope
    frame = (*(form.around or ()), *((envelope.opens, envelope.closes) if envelope else ()))
    for word in (*flat(form.words), *frame):
        if isinstance(word, Literal):
            yield from (text for text in word.spellings if len(text.strip()) > 2)
        elif isinstance(word, Elements) and word.prefix:
            yield word.prefix
    yield from _marks_of_thought(form)


def _marks_of_thought(form: Format) -> tuple[str, ...]:
    marks = (text for one in form.reasoning for text in (one.open, one.close))
    return (*marks, *form.dropped)
