"""Grammars for a server: what a model may write at all, made from the words of a format.

The grammar accepts the text that `render` writes, with an optional space after each comma and colon
of JSON.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, TypeAlias
from typing import Literal as OneOf

from tunaeval.errors import UsageError
from tunaeval.grammar import (
    Arguments,
    Attribute,
    CallObject,
    Elements,
    Literal,
    Many,
    Markup,
    Maybe,
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
from .judge import as_json, trimmed
from .read_back import written_calls
from .reader import AnyTools, known_tools, reader_of
from .repair.dialects import BRACE_KEY
from .repair.schema import (
    ANY,
    CLASSES,
    admitted,
    choices_of,
    is_of,
    kind_of,
    kinds_named,
    resolved,
)
from .repair.values import not_json
from .rules import Rules, either, quote, whole_numbers
from .write import (
    around_objects,
    as_template,
    braces,
    call_object,
    message,
    type_word,
    word_text,
)

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
        ("tool 'f': the keys of an object with undeclared properties may repeat",)
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
    try:
        root = grammar.reply(known, parallel=parallel, text=text, reasoning=reasoning)
    except RecursionError:
        raise grammar.error("its schema is too deep or has too many properties") from None
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
    read = reader_of(form).parse(text, tools=tools, level="strict")
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
    """The rule of a string of any length; empty if strings end at a mark."""
    key: Callable[[str], str]
    write: Callable[[JsonValue], str]
    comma: str = '"," " "?'
    colon: str = '":" " "?'
    inner: _Notation | None = None
    """The notation of what lists and objects contain, if that is another one."""


_JSON = _Notation("STRING", lambda key: as_json(key, key), lambda value: as_json(value, "enum"))
_PYTHON = _Notation("PYTHON-STRING", repr, repr)
_WITH_JSON = replace(_PYTHON, write=as_template, inner=_JSON)


@cache
def _in_braces(mark: str) -> _Notation:
    """Return the notation of the formats with bare keys and strings between two marks."""
    write = partial(braces, mark=mark)
    return _Notation(
        "", lambda key: key if BRACE_KEY.fullmatch(key) else write(key), write, '","', '":"'
    )


_NUMBER = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
_ENFORCED = {
    "string": {"minLength", "maxLength", "pattern"},
    "integer": _NUMBER,
    "array": {"items", "minItems", "maxItems"},
    "object": {"properties", "required", "additionalProperties"},
}
"""The keywords that are enforced for each type."""

_ANNOTATIONS = frozenset({
    "title", "description", "default", "example", "examples", "$defs", "definitions", "$schema",
    "$id", "$comment", "deprecated", "readOnly", "writeOnly", "format", "type", "strict",
})  # fmt: skip
"""The keywords that restrict no value, or that are read before others."""

_KNOWN = _ANNOTATIONS.union(*_ENFORCED.values())

_CLASSES: dict[str, Any] = {
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), int),
    **dict.fromkeys(_NUMBER, int | float),
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "required", "enum"), list | tuple),
    **dict.fromkeys(("items", "additionalProperties"), Mapping | bool | None),
    "properties": Mapping,
    "pattern": str,
}
"""The Python classes of keywords' values; a keyword with another value is left out."""
_INNER: dict[str, Any] = {
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "properties"), Mapping | bool),
    "required": str,
}
"""The Python classes of what is in keywords' values."""

_FEW_VALUES: dict[str, list[JsonValue]] = {"null": [None], "boolean": [True, False]}
_ANYTHING = {"type": ["null", "boolean", "number", "string", "array", "object"]}


_PLAIN = re.compile(r"[A-Za-z]\w*+", re.ASCII)
"""Names that every format can write."""


_ESCAPED = r"\\[dwsDWS.*+?()\[\]{}|/^$\\-]"
_PATTERN = re.compile(
    rf"(\^?)((?:[^\\^$(\[{{]|{_ESCAPED}|\[\^?(?:[^\\\[\]&~-]|{_ESCAPED}|-(?!-))+\]"
    r"|\{\d{1,4}(?:,\d{0,4})?\}|\((?!\?)|\(\?:)*+)(\$?)"
)
"""A regular expression that llguidance and JSON schema read alike, its anchors apart."""


def _as_regex(pattern: str) -> str:
    """Return the regular expression of whole texts that have a pattern, for between slashes.

    It is empty if llguidance cannot read the pattern, or reads it differently.
    """
    found = _PATTERN.fullmatch(pattern)
    with suppress(re.error, OverflowError):
        if found:
            re.compile(pattern)
            before, inside, after = found.groups()
            parts = "" if before else "(?s:.*)", f"(?:{inside})", "" if after else "(?s:.*)"
            return re.sub(r"\\.|/", lambda one: "\\/" if one[0] == "/" else one[0], "".join(parts))
    return ""


class _Grammar(Rules):
    """The rules of the replies in a format, and what is left out of them."""

    def __init__(self, form: Format, kind: Kind, *, allow_looser: bool) -> None:
        super().__init__()
        self.form, self.kind, self.allow_looser = form, kind, allow_looser
        self.omitted: dict[str, None] = {}
        self._marks = tuple(dict.fromkeys(_marks_of(form)))
        self._root: object = {}
        self._where = ""
        self._made: dict[Hashable, tuple[object, str]] = {}
        """What was made of the schemas of a tool, and the schemas, by their ids, which last so."""

    def omit(self, what: str) -> None:
        """Leave something out; raise `UsageError` unless a looser grammar is allowed."""
        sentence = f"{self._where}: {what}"
        if not self.allow_looser:
            raise UsageError(f"{sentence}; change the schema, or allow a looser grammar")
        self.note(what)

    def note(self, what: str) -> None:
        self.omitted[f"{self._where}: {what}"] = None

    def error(self, what: str) -> UsageError:
        return UsageError(f"{self._where}: {what}")

    def reply(self, tools: Tools, *, parallel: bool, text: str, reasoning: bool) -> str:
        """Return the expression of a whole reply."""
        form = self.form
        self._check_names(tools)
        calls = self._calls(tools, parallel=parallel)
        if text == "before":
            if not takes_prose(form):
                raise UsageError(
                    f"format {form.name!r} has no marker that ends prose before a call; "
                    "constrain with text='none' (--text none)"
                )
            bare = ("{", "[") if any(not other.marked for other in form.also) else ()
            listed = ("[",) if form.python and not form.marked else ()
            stops = (*_marks_of_start(form), *self._marks, *bare, *listed)
            # In code no call would be read: backticks begin it, and a list is code behind a comma,
            # "=" or "(", even on a line of its own.
            ends = (".\n", ":\n", "!\n", "?\n") if listed else ("\n",)
            prose = either(self.until(end, (*stops, "`")) for end in ends)
            blank = quote("\n") + "*" if listed else ""
            calls = f"{self.until('', stops)} | ({prose} {blank})* {calls}"
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
        if reader_of(self.form).parse(text, tools=tools, level="strict").outcome != "calls":
            raise UsageError(
                f"format {self.form.name!r} is read only with repairs, so no grammar of it can be "
                "read strictly; name the format that the model was trained on"
            )

    def _calls(self, tools: Tools, *, parallel: bool) -> str:
        form, envelope = self.form, self.form.envelope
        more = "*" if parallel else "{0}"
        if envelope and envelope.one_each:
            each = [
                self._message(self._framed([[spec]], "{0}"), spec.name) for spec in tools.values()
            ]
            return self._repeated(self.rule(either(each)), form.separator, more)
        specs = [*tools.values()]
        text = self._framed([specs] if form.several else [[one] for one in specs], more)
        return self._message(text, "") if envelope else text

    def _framed(self, groups: Sequence[Sequence[ToolSpec]], more: str) -> str:
        """Return blocks of calls of these groups of tools, between the texts around them."""
        form = self.form
        one = self.rule(either(self.rule(self._row(form.words, one, more)) for one in groups))
        if form.several:
            more = "{0}"
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
        return one if more == "{0}" else f"{one} ({quote(separator)} {one}){more}"

    def _message(self, block: str, name: str) -> str:
        """Return a message of calls, as `render` writes it."""
        assert self.form.envelope is not None  # noqa: S101 - callers ask
        return _filled(message(self.form.envelope, self.form, _HOLE, name), block)

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
                case CallObject():
                    made.append(self._objects(word, specs, more))
                case PythonCalls():
                    made.append(self._python(word, specs, more))
                case Arguments() if not word.optional:
                    notation = _in_braces(word.mark) if word.mark else _JSON
                    made.append(self._arguments(specs[0], notation))
                case Many() | Elements():
                    made.append(self._each(word, specs[0]))
                case _:
                    made.append(quote(word_text(word, [ToolCall(specs[0].name, {})], (key, ""))))
        return " ".join(one for one in made if one != '""') or '""'

    def _objects(self, word: CallObject, specs: Sequence[ToolSpec], more: str) -> str:
        one = self.rule(either([self._object(word, spec) for spec in specs]))
        alone, several = (around_objects(word, number) for number in (1, 2))
        if several != alone and not (word.array and more == "*"):
            return one
        opener, between, closer = several
        text = f"{quote(opener)} {self._repeated(one, between, more)} {quote(closer)}"
        return text if several == alone else f"({one} | {text})"

    def _object(self, word: CallObject, spec: ToolSpec) -> str:
        number = ["[0-9]{1,4}"] if word.number else []
        arguments = self._arguments(spec, _JSON)
        return _filled(call_object(word, spec.name, _HOLE, _HOLE), *number, arguments)

    def _declared(self, spec: ToolSpec) -> JsonObject:
        """Return the schema of a tool's arguments, and begin to speak of this tool."""
        self._root, self._where, self._made = spec.parameters, f"tool {spec.name!r}", {}
        leaves = self._leaves({"type": "object", **spec.parameters})
        if len(leaves) != 1:
            what = "several schemas" if leaves else "a schema that nothing fits"
            raise self.error(f"it has {what} for its arguments; split or correct the tool")
        (leaf,) = leaves
        self._check_keywords(leaf, "object")
        if leaf.get("additionalProperties") not in (None, False):
            self.note("only declared arguments are written")
        return leaf

    def _arguments(self, spec: ToolSpec, notation: _Notation) -> str:
        return self._object_of(self._declared(spec) | {"additionalProperties": False}, notation)

    def _python(self, word: PythonCalls, specs: Sequence[ToolSpec], more: str) -> str:
        calls, notation = [], _WITH_JSON if word.json else _PYTHON
        for spec in specs:
            schema = self._declared(spec)
            for key in _properties(schema):
                if not (key.isidentifier() and key.isascii()) or keyword.iskeyword(key):
                    raise self.error(f"{key!r} is no name in Python; rename it")
            inside = self._members(
                schema, '", "', lambda key, one: f"{quote(f'{key}=')} {self._value(one, notation)}"
            )
            calls.append(f'{quote(f"{spec.name}(")} {inside} ")"')
        one = self.rule(either(calls))
        if word.listed:
            return f'"[" {self._repeated(one, ", ", more)} "]"'
        return self._repeated(one, "\n", more)

    def _each(self, word: Many | Elements, spec: ToolSpec) -> str:
        """Return the expression of all arguments, each in markup of its own."""
        schema = self._declared(spec)
        if isinstance(word, Elements):
            between = quote("" if word.prefix else "\n")
            return self._members(schema, between, partial(self._element, word))
        return self._members(schema, "", lambda *one: self._row(word.words, [spec], "", one))

    def _members(
        self,
        schema: JsonObject,
        comma: str,
        write: Callable[[str, object], str],
        *,
        least: int = 0,
    ) -> str:
        """Return the expression of members in any order: each once, and all that are required.

        `write` returns the expression of one. `least` is 1 if there has to be a member.
        """
        items = _properties(schema)
        names = {key: self.rule(write(key, inner)) for key, inner in items.items()}
        required = {key for key in schema.get("required", ()) if key in items}
        if self.kind == "lark" and _FEW < len(items) <= _BITS:
            return self._members_as_bits(names, required, comma, least)
        ordered = len(items) > MOST_IN_ANY_ORDER
        if ordered:
            self.note(f"{len(items)} properties come in the schema's order")

        @cache
        def rest(left: tuple[str, ...], between: str | None) -> str:
            """Return what may follow, of the members that are left; `between` is None at first."""
            options = []
            for at, key in enumerate(left[:1] if ordered else left):
                after = rest(left[:at] + left[at + 1 :], comma)
                options.append(f"{between or ''} {names[key]} {after}".strip())
            if ordered and left and left[0] not in required:
                options.append(rest(left[1:], between))
            elif not required.intersection(left) and (between is not None or not least):
                options.append('""')
            return self.rule(either(filter(None, options))) if left else "".join(options)

        return rest(tuple(items), None)

    def _members_as_bits(
        self, names: Mapping[str, str], required: set[str], comma: str, least: int
    ) -> str:
        """Return the same for many members: llguidance's rules may count which ones are there."""
        bits = sorted(names, key=lambda key: key not in required)
        every = f"%if is_ones([0:{len(required)}])" if required else ""
        rest = self.named(("bits", *names.items(), *bits, comma))
        options = [
            f"{comma} {names[key]} {rest}::set_bit({bit}) %if bit_clear({bit})"
            for bit, key in enumerate(bits)
        ]
        self.rules[f"{rest}::_"] = " | ".join([*options, f'"" {every}'])
        first = [f"{names[key]} {rest}::{1 << bit}" for bit, key in enumerate(bits)]
        return self.rule(either([*first, '""'] if not (required or least) else first))

    def _value(self, schema: object, notation: _Notation) -> str:
        """Return the expression of all values that fit a schema."""
        return self._once(
            schema,
            (notation,),
            lambda leaves: either([self._leaf(leaf, notation) for leaf in leaves]),
        )

    def _once(self, schema: object, of: Hashable, make: Callable[[list[JsonObject]], str]) -> str:
        """Return the rule of the values that fit a schema, which is made once.

        A schema that contains itself, as some with `$ref` do, gets a rule that does.
        """
        reference = schema.get("$ref") if isinstance(schema, Mapping) and len(schema) == 1 else None
        key = id(schema) if reference is None else str(reference), of
        if key not in self._made:
            self._made[key] = schema, ""
            leaves = self._leaves(schema)
            if not leaves:
                raise self.error(f"no value fits {brief(schema, 100)}")
            expression, name = make(leaves), self._made[key][1]
            if name and not self._ends(schema, {}):
                raise self.error(
                    f"{brief(schema, 100)} requires itself, so no value that ends fits it; make a "
                    "property in it optional"
                )
            if name:
                self.rules[name] = expression
            self._made[key] = schema, name or self.rule(expression)
        elif not self._made[key][1]:
            self._made[key] = schema, self.named(object())
            self.rules[self._made[key][1]] = ""  # it comes before the rules in it
        return self._made[key][1]

    def _ends(self, schema: object, known: dict[int, bool]) -> bool:
        """Whether a value that ends fits a schema: its required parts do not lead back to it."""
        if id(schema) not in known:
            known[id(schema)] = False
            known[id(schema)] = any(
                all(self._ends(_properties(leaf)[key], known) for key in leaf.get("required") or ())
                and (not leaf.get("minItems") or self._ends(leaf.get("items", {}), known))
                for leaf in self._leaves(schema)
            )
        return known[id(schema)]

    def _leaves(self, schema: object, seen: tuple[str, ...] = ()) -> list[JsonObject]:
        """Return the schemas of one type each, or of choices, of which a value fits one."""
        if schema is False:
            raise self.error("a schema is false, which no value fits")
        one = self._sound(schema) if isinstance(schema, Mapping) else {}
        if "$ref" in one:
            reference = str(one.pop("$ref"))
            found = resolved(reference, self._root)
            if isinstance(found, LookupError):
                raise self.error(str(found))
            if reference in seen:
                raise self.error(f"$ref {reference!r} leads only to itself")
            one, seen = {"allOf": [found, one]}, (*seen, reference)
        if "allOf" in one:
            return self._leaves(self._merged(one), seen)
        for word in ("anyOf", "oneOf"):
            if word in one:
                options = one.pop(word)
                if set(one) - _ANNOTATIONS:
                    self.omit(f"{word} beside other keywords is not enforced")
                    continue
                kinds = [admitted(option, self._root) for option in options]
                if word == "oneOf" and sum(map(len, kinds)) > len(frozenset().union(*kinds)):
                    self.omit("oneOf admits a value that fits several of its schemas")
                return [leaf for option in options for leaf in self._leaves(option, seen)]
        null: list[JsonObject] = [{"type": "null"}] if one.pop("nullable", False) is True else []
        return [*_of_types(one), *null]

    def _sound(self, schema: Mapping[str, JsonValue]) -> JsonObject:
        """Return a schema without the keywords whose values are none of theirs."""
        wrong = {word: value for word, value in schema.items() if _is_odd(word, value)}
        if not ANY.issuperset(kinds_named(schema)):
            wrong["type"] = schema["type"]
        for word, value in wrong.items():
            self.omit(f"{word} is {brief(value, 60)}, which is not enforced")
        return {key: value for key, value in schema.items() if key not in wrong}

    def _merged(self, schema: JsonObject) -> JsonObject:
        """Return one schema in place of those in `allOf` and the one around them."""
        parts = [part for part in schema.pop("allOf") if isinstance(part, Mapping)] + [schema]
        merged = {key: value for part in parts for key, value in part.items()}
        rules = merged.keys() - (_ANNOTATIONS - {"type"})
        if any(merged[key] != part[key] for part in parts for key in rules & part.keys()):
            self.omit("of allOf with the same keyword twice, only the last is enforced")
        return merged

    def _leaf(self, schema: JsonObject, notation: _Notation) -> str:
        """Return the expression of the values that fit a schema of one type."""
        kind = schema.get("type", "")
        if choices := schema.get("enum") or _FEW_VALUES.get(kind):
            return either([quote(notation.write(value)) for value in choices])
        self._check_keywords(schema, kind)
        inside = notation.inner or notation
        match kind:
            case "string":
                return self._string(schema, notation)
            case "array":
                return self._array(schema, inside)
            case "object":
                return self._object_of(schema, inside)
            case "number":
                return "NUMBER"
            case "integer" if numbers := whole_numbers(schema):
                return numbers
            case "integer":
                raise self.error(f"no value fits {brief(schema, 100)}")
        return self._value(_ANYTHING, notation)

    def _check_keywords(self, schema: JsonObject, kind: str) -> None:
        for word in sorted(schema.keys() - (_KNOWN - _NUMBER if kind == "number" else _KNOWN)):
            if schema[word] not in (None, False, {}, []):
                of = "a value of any type" if kind == "any" else kind
                self.omit(f"{word} of {of} is not enforced")

    def _string(self, schema: JsonObject, notation: _Notation) -> str:
        if "format" in schema:
            self.note(f"format {schema['format']!r:.40} is not enforced")
        length = self._times(schema, "minLength", "maxLength")
        pattern = schema.get("pattern")
        if pattern is None and length == "{0,}":
            return self._any_string(notation)
        if pattern is None and notation is _JSON:
            return f'"\\"" CHARACTER{length} "\\""'
        regex = _as_regex(pattern or "") if notation is _JSON and self.kind == "lark" else ""
        if not regex:
            what = "length" if pattern is None else f"the pattern {pattern!r}"
            self.omit(f"{what} of a string is not enforced, as this kind or format cannot say it")
            return self._any_string(notation)
        self.note("strings with a pattern have no escapes")
        plain = r'/[^"\\\x00-\x1f\x7f]' + f"{length}/"
        return self.terminal(f'"\\"" (/{regex}/ & {plain}) "\\""')

    def _any_string(self, notation: _Notation) -> str:
        if notation.string:
            return notation.string
        mark = notation.write("")[: len(notation.write("")) // 2]
        return f"{quote(mark)} {self.until(mark, self._marks)}"

    def _array(self, schema: JsonObject, notation: _Notation) -> str:
        item = self._value(schema.get("items", {}), notation)
        times = self._times(schema, "minItems", "maxItems", first=1)
        if schema.get("maxItems") == 0:
            return '"[" "]"'
        inside = f"{item} ({notation.comma} {item}){times}"
        return f'"[" ({inside}){"" if schema.get("minItems") else "?"} "]"'

    def _times(self, schema: JsonObject, least: str, most: str, *, first: int = 0) -> str:
        """Return how often something comes, after the `first` ones, by two keywords of a schema."""
        low, high = schema.get(least, 0), schema.get(most)
        if high is not None and high < low:
            raise self.error(f"no value fits {brief(schema, 100)}")
        return f"{{{max(0, low - first)},{'' if high is None else max(0, high - first)}}}"

    def _object_of(self, schema: JsonObject, notation: _Notation) -> str:
        others, properties = schema.get("additionalProperties"), _properties(schema)
        if properties and others not in (None, False):
            self.note("only declared properties of an object are written")
        if not (properties or others is False):
            self.omit("the keys of an object with undeclared properties may repeat")
            inner = self._value(others if isinstance(others, Mapping) else {}, notation)
            key = notation.string or "[a-zA-Z_] [a-zA-Z0-9_]*"
            member = self.rule(f"{key} {notation.colon} {inner}")
            return f'"{{" ({member} ({notation.comma} {member})*)? "}}"'
        if not notation.string:
            properties = dict(sorted(properties.items(), key=lambda member: member[0].lower()))
        members = self._members(
            {**schema, "properties": properties},
            notation.comma,
            lambda key, one: (
                f"{quote(notation.key(key))} {notation.colon} {self._value(one, notation)}"
            ),
        )
        return f'"{{" {members} "}}"'

    def _typed(self, word: Attribute, after: Sequence[Word], schema: object) -> str:
        """Return the type of a value and the value after it."""
        options = []
        value = next(one for one in flat(after) if isinstance(one, Value))
        for leaf in self._leaves(schema):
            kind = CLASSES.get(leaf.get("type"), CLASSES["null"])[0]
            sample = leaf["enum"][0] if "enum" in leaf else kind()
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
                    raise self.error(f"{text!r} is lost where values are bare text")
                options.append(quote(whole + end))
            else:
                value = self._leaf(leaf, _JSON)
                options.append(f"{quote(line)} ({value}) {quote(line + end)}")
        return either(options)

    def _element(self, word: Elements, key: str, schema: object) -> str:
        """Return an element; an object or a list in it is nested elements, or JSON."""
        return self._once(schema, (word, key), partial(self._element_of, word, key))

    def _element_of(self, word: Elements, key: str, leaves: list[JsonObject]) -> str:
        closer = f"{word.prefix}</{key}>"
        options = [self._bare(Value(), (Literal(closer),), leaf) for leaf in leaves]
        for leaf in leaves if word.prefix else ():
            inner = _properties(leaf)
            if leaf.get("type") == "object" and inner and word.item not in inner:
                nested = self._members(leaf, "", partial(self._element, word), least=1)
                options.append(f"{nested} {quote(closer)}")
            elif leaf.get("type") == "array" and leaf.get("maxItems") != 0:
                item = self.rule(self._element(word, word.item, leaf.get("items", {})))
                times = f"{{{max(1, leaf.get('minItems', 0))},{leaf.get('maxItems', '')}}}"
                options.append(f"({item}){times} {quote(closer)}")
        return f"{quote(f'{word.prefix}<{key}>')} {either(options)}"


_HOLE = "\0"
"""Stands in a text for what an expression says; `quote` refuses it in all other texts."""


def _filled(text: str, *inside: str) -> str:
    """Return the expression of a text in which expressions come in place of the holes."""
    before, *after = map(quote, text.split(_HOLE))
    return " ".join([before, *(f"{one} {rest}" for one, rest in zip(inside, after, strict=True))])


def _is_odd(word: str, value: JsonValue) -> bool:
    """Whether a keyword of a schema has a value that is none of its own."""
    if not isinstance(value, _CLASSES.get(word, object)):
        return True
    if word in _INNER:
        inside = value.values() if isinstance(value, Mapping) else value
        return not all(isinstance(one, _INNER[word]) for one in inside)
    if word in _NUMBER:
        return value != value or type(value) is bool  # noqa: PLR0124 - NaN alone differs from itself
    choices = {"enum": value, "const": [value]}.get(word, ())
    return not_json(choices) is not None or not all(map(kind_of, choices))


def _properties(schema: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """Return the schemas of the declared arguments; those that are only required have none."""
    declared = schema.get("properties") or {}
    return declared | {key: {} for key in schema.get("required") or () if key not in declared}


def _of_types(schema: JsonObject) -> list[JsonObject]:
    """Return a schema for each of the types that a schema names, or one of its choices."""
    kinds = kinds_named(schema)
    choices = choices_of(schema)
    if choices is not None:
        fits = [v for v in choices if not kinds or any(is_of(v, kind) for kind in kinds)]
        return [{"enum": [choice]} for choice in fits]
    if not kinds:
        kinds = [kind for kind, words in _ENFORCED.items() if words & schema.keys()][:1] or ["any"]
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
