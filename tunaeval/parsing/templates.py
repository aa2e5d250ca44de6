"""Renders chat templates (Jinja), and tells how a model's own template writes calls.

A template is a stranger's program. It runs in jinja2's sandbox, without files, clock or network,
and each of its steps is charged for the time it may take (`MAX_TEMPLATE_WORK`): a turn of a loop, a
call, a filter, a test, an operator, a slice, a value that is written, each with all values that it
works on. All renderings of a check are paid for together. The charge depends on the template and
the values alone, so what is refused on one machine is refused on all. The environment is that of
transformers, so a template writes here what it writes in training.
"""

from __future__ import annotations

import json
import re
from collections.abc import (
    Callable,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    ValuesView,
)
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache, wraps
from itertools import islice, takewhile
from math import prod
from traceback import extract_tb
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias
from typing import Literal as OneOf

from jinja2 import Template, TemplateError, TemplateSyntaxError, nodes, pass_context
from jinja2.ext import Extension, LoopControlExtension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

from tunaeval.errors import UsageError
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import FORMATS
from tunaeval.grammar.turns import FAMILIES, Pair, Turns
from tunaeval.grammar.words import THINKING
from tunaeval.limits import (
    MAX_TEMPLATE_SIZE,
    MAX_TEMPLATE_TOKENS,
    MAX_TEMPLATE_TURN,
    MAX_TEMPLATE_WORK,
    TEMPLATE_STEP,
)
from tunaeval.showing import brief
from tunaeval.types.calls import ToolCall, Tools, ToolSpec, openai_call

from .read_back import misread
from .reader import reader_of
from .sets import auto
from .write import render_calls

ArgumentsKind: TypeAlias = OneOf["object", "text"]

_ASKED = ({"role": "user", "content": "Hello."},)
"""The conversation before a turn where none is given: some templates refuse to begin without."""

_ANSWER = "\N{GREEK CAPITAL LETTER OMEGA}answer"
"""An answer in words that no markup begins like."""

_PROBES = [
    ToolCall(
        "get_weather",
        {
            "place": 'Oslo, "north"\nor east',
            "days": 3,
            "share": 0.5,
            "wind": True,
            "unit": None,
            "hours": [6, {"to": None, "of": "day"}],
            "area": {"y": False, "x": "it"},
        },
    ),
    ToolCall("now", {}),
]
_OPENERS = tuple(text for one in FAMILIES for text in one.openers)
"""What may begin another's turn."""
_PROBED = Tools([
    ToolSpec(call.name, parameters={"type": "object", "properties": {
        key: {"type": kinds} for key, kinds in {
            "place": "string", "days": "integer", "share": "number", "wind": "boolean",
            "unit": ["null", "string"], "hours": "array", "area": "object",
        }.items() if key in call.arguments
    }}) for call in _PROBES
])  # fmt: skip
"""Two calls with every kind of value, and their tools."""


def render_by(
    template: str,
    messages: Sequence[Mapping[str, Any]],
    tools: Tools | None = None,
    *,
    prompt: bool = False,
) -> str:
    """Return the messages as the template writes them; raise `UsageError` where it cannot.

    With `prompt` the text ends with the beginning of the assistant's turn.
    """
    try:
        with _one_budget():
            return _compiled(template).render(
                messages=messages,
                tools=[spec.as_openai() for spec in tools.values()] if tools else None,
                add_generation_prompt=prompt,
                bos_token="",
                eos_token="",
            )
    except UsageError:
        raise
    except TemplateSyntaxError as error:
        raise UsageError(f"line {error.lineno} of the template is no Jinja: {error}") from None
    except Exception as error:  # noqa: BLE001 - whatever a stranger's program raises
        raise UsageError(f"the template cannot be rendered: {_reason(error)}") from None


@lru_cache(maxsize=64)
def wanted_arguments(template: str) -> ArgumentsKind:
    """Return whether the template wants the `arguments` of a call as an object or as JSON text.

    "object" where it writes both alike. Raises `UsageError` if it can render neither.
    """
    with _one_budget():
        return _wanted_kind(template)


def _wanted_kind(template: str) -> ArgumentsKind:
    try:
        text = _with_calls(template, _PROBES[:1], "object", None, _ASKED)
    except UsageError as fault:
        try:
            _with_calls(template, _PROBES[:1], "text", None, _ASKED)
        except UsageError:
            raise fault from None
        return "text"
    return "text" if str(_PROBES[0].arguments) in text else "object"


def turn_by(
    template: str,
    calls: Sequence[ToolCall],
    tools: Tools | None = None,
    messages: Sequence[Mapping[str, Any]] = (),
    fields: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return the assistant's turn with these calls as the template writes it.

    It begins where the prompt ends that asks for a turn, and ends before what ends every turn or
    begins that of a tool. `fields` are other fields of the message: `content`, `reasoning_content`.
    A template that leaves out a call raises `UsageError`.
    """
    kind = wanted_arguments(template)
    with _one_budget():
        return _turn_of(template, calls, kind, tools, messages or _ASKED, fields)


def _turn_of(  # noqa: PLR0917 - a rendering is made of so much
    template: str,
    calls: Sequence[ToolCall],
    kind: ArgumentsKind,
    tools: Tools | None = None,
    before: Sequence[Mapping[str, Any]] = _ASKED,
    fields: Mapping[str, str] = MappingProxyType({}),
) -> str:
    text = _with_calls(template, calls, kind, tools, before, fields)
    answer = {"role": "assistant", "content": _ANSWER}
    start, _, end = render_by(template, [*before, answer], tools).rpartition(_ANSWER)
    if len(end) > MAX_TEMPLATE_TURN:
        raise UsageError(f"the template writes {len(end):,} characters after a turn; repair it")
    asked = render_by(template, before, tools, prompt=True)
    same = takewhile(lambda row: len({*row}) == 1, zip(text, asked, start + _ANSWER, strict=False))
    begins = len(asked) if text.startswith(asked) else sum(1 for _ in same)
    ends = (end[at:] for at, char in enumerate(end) if not at or char == "<")
    turn = text[begins:].removesuffix(next(filter(text.endswith, ends), ""))
    turn = turn.removesuffix(next(filter(turn.endswith, _OPENERS), ""))
    for name in {call.name for call in calls}:
        wanted, found = sum(call.name == name for call in calls), turn.count(name)
        if found < wanted:
            raise UsageError(
                f"the template writes {found} of {wanted} calls of {brief(name)}; it may have no "
                "calls at all, or one call a turn"
            )
    return turn


@lru_cache(maxsize=64)
def turns_by(template: str) -> Turns:
    """Return what begins and ends turns in what a template writes.

    Raises `UsageError` if it leaves out messages, or writes nothing where the model's turn begins.
    """
    roles = ("user", "assistant") * 2
    talk = [{"role": role, "content": f"{_ANSWER}{at}"} for at, role in enumerate(roles)]
    text, words = render_by(template, talk), [one["content"] for one in talk]
    if not all(word in text for word in words):
        raise UsageError("it writes nothing of some messages; wanted a chat template")
    before, _, rest = text.partition(words[0])
    to_model, to_user = (_between(rest, *words[at - 1 : at + 1]) for at in (3, 2))
    at, alike = _apart(to_model, to_user), zip(before[::-1], to_user[::-1], strict=False)
    start = len(to_user) - len([*takewhile(lambda row: row[0] == row[1], alike)])
    at = start if 0 < start < at else at
    own, user = _header(to_model[at:]), _header(to_user[max(at, start) :])
    if not re.search(r"[^\w\s]", own):
        raise UsageError("it writes nothing where the model's turn begins")
    others, pairs, end = [user], tuple[Pair, ...](), to_user[:at].strip()
    with suppress(UsageError, ValueError):  # it may refuse a system's turn, or a tool's
        written = render_by(template, [{"role": "system", "content": _ANSWER}, *talk])
        front = written[: written.index(_ANSWER)]
        tags = [*re.finditer(_TAG, front)]
        last = front[tags[-1].start() if tags else front.strip().rfind("\n") + 1 :].strip()
        system = _header(last)
        is_head = not tags or user.startswith(tags[-1][0]) or tags[-1][0] not in to_model
        others += [system] if is_head and not re.search(r"\w", last[len(system) :]) else []
    with suppress(UsageError, ValueError):
        opener, closer = _around_result(template, talk[:1], own)
        others += [] if closer else [_header(opener)]
        pairs = ((opener, closer),) if closer else ()
    is_mark = re.compile(r"[^\w\s]").search  # a role alone is a word
    found = dict.fromkeys(one for one in others if is_mark(one) and one not in to_model)
    return Turns("template", ("",), (*found,), (own,), ends=(end,) * bool(end), pairs=pairs)


_TAG = r"(?:<[^<>\s]{1,64}>|\[[^\[\]\s]{1,64}\])"
_HEADER = re.compile(rf"\s*+((?:{_TAG}|\s)*+[^\w\n<>\[\]]{{0,8}}+[\w.]{{0,64}}+:?)").match
_BEGUN = re.compile(rf"(?:{_TAG}|[<\[][^<>\[\]\s]{{0,64}}|(?<=\n)[^\n<>\[\]]{{1,64}})\Z").search


def _header(text: str) -> str:
    """Return the part of a header that is the same in each turn: tokens, and a role."""
    for stop in (*(one.open for one in THINKING), _PROBES[0].name):
        text = text.partition(stop)[0]
    found = _HEADER(text)
    return found[1].rstrip() if found else ""


def _between(text: str, first: str, second: str) -> str:
    return text.partition(first)[2].partition(second)[0]


def _apart(one: str, other: str) -> int:
    """Return where the token or the line begins in which two texts begin to differ."""
    same = [*takewhile(lambda row: row[0] == row[1], zip(one, other, strict=False))]
    begun = _BEGUN(one[: len(same)])
    return begun.start() if begun else len(same)


def _around_result(template: str, asked: Sequence[Mapping[str, Any]], own: str) -> Pair:
    """Return what is before and behind a tool's result; nothing if the model's header ends it."""
    kind, word, texts = wanted_arguments(template), f"{_ANSWER}9", list[str]()
    for role in ("user", "tool"):
        reply = {"role": role, "name": _PROBES[0].name, "content": word}
        behind = [reply, {"role": "assistant", "content": _ANSWER}]
        texts.append(_with_calls(template, _PROBES[:1], kind, None, asked, behind=behind))
    if not all(word in text for text in texts):
        raise UsageError("it writes no tool's result")
    user, tool = (text.partition(word)[0] for text in texts)
    opener, behind_it = tool[_apart(tool, user) :], _between(texts[1], word, _ANSWER)
    tags = [re.findall(_TAG, text) for text in (opener, behind_it)]
    if own in behind_it or not all(tags):
        return opener, ""
    return tags[0][0], tags[1][-1]


@dataclass(frozen=True, slots=True)
class TemplateCheck:
    """What a chat template writes for calls, and whether that is read back.

    Attributes:
        arguments: Whether the template wants `arguments` as an "object" or as "text".
        format: The format that reads its calls strictly; None if there is none.
        equal: Whether `render` writes the same calls in this format to the letter.
        text: The turn of the assistant with two calls, or one if it writes no more.
        fault: Why the calls are not read back; empty if they are.
        notes: What the template leaves out or refuses: several calls a turn, words beside calls.
        turns: The family of templates that begin turns alike; None if none is known, so that only
            with `template=` nothing is read in others' turns.
    """

    arguments: ArgumentsKind
    format: str | None = None
    equal: bool = False
    text: str = ""
    fault: str = ""
    notes: tuple[str, ...] = ()
    turns: str | None = None


@lru_cache(maxsize=64)
def check_template(template: str) -> TemplateCheck:
    """Find the format that a template writes; raise `UsageError` if it cannot be rendered.

    Examples:
        >>> check_template("{% for m in messages %}{{ m.content }}{% endfor %}").format is None
        True
    """
    if not re.search(r"{[{%]", template):
        raise UsageError("it has no {{ and no {%, so it is no template; wanted Jinja")
    with _one_budget():
        kind, calls, notes = _wanted_kind(template), _PROBES, tuple[str, ...]()
        turns = _family_of(template)
        if turns is None:
            notes = (
                "no family of templates is known whose turns begin so; give it as `template=`",
            )
        try:
            try:
                text = _turn_of(template, calls, kind, _PROBED)
            except UsageError as error:
                text = _turn_of(template, calls := calls[:1], kind, _PROBED)
                notes += (f"of two calls in one turn only the first is read back: {error}",)
            both = _turn_of(template, calls, kind, _PROBED, fields={"content": _ANSWER})
        except UsageError as error:
            return TemplateCheck(kind, fault=str(error), notes=notes, turns=turns)
    if _ANSWER not in both:
        notes += ("words beside calls are left out",)
    if len(text) > MAX_TEMPLATE_TURN:
        fault = f"the turn has {len(text):,} characters, and {MAX_TEMPLATE_TURN:,} are read at most"
        return TemplateCheck(kind, fault=fault, notes=notes, turns=turns)
    written = {form: render_calls(calls, form) for form in FORMATS.values()}
    equal = [form for form in written if writes_alike(text, written[form], form)]
    first = auto.parse(text, tools=_PROBED, level="strict")
    found = [FORMATS[call.format] for call in first.calls if call.format in FORMATS]
    for form in (*sorted(equal, key=lambda form: -len(written[form])), *found, *written):
        back = reader_of(form).parse(text, tools=_PROBED, level="strict")
        if misread(back, calls) is None:
            return TemplateCheck(kind, form.name, form in equal, text, "", notes, turns)
    return TemplateCheck(
        kind, text=text, fault=misread(first, calls) or "", notes=notes, turns=turns
    )


def _family_of(template: str) -> str | None:
    """Return the name of the family that knows all texts with which a template begins turns."""
    try:
        made = turns_by(template)
    except UsageError:  # it writes nothing that could be known
        return None
    openers = [*made.others, *(opener for opener, _ in made.pairs)]
    known = {text: one.name for one in reversed(FAMILIES) for text in one.openers}
    named = [
        next((known[text] for text in known if text in opener or opener in text), None)
        for opener in openers
    ]
    return named[0] if all(named) else None


def writes_alike(text: str, written: str, form: Format) -> bool:
    """Whether what `render` has written is in a template's turn, to the letter.

    The template may have written the beginning of the first message in the prompt, and the end of
    the last one may be left to what ends a turn.
    """
    if form.envelope:
        written = written.removesuffix(form.envelope.closes.text)
        text = text.removesuffix(form.envelope.closes.text)
    return written in text or written.endswith(text.strip())


def _with_calls(  # noqa: PLR0917 - a rendering is made of so much
    template: str,
    calls: Sequence[ToolCall],
    kind: ArgumentsKind,
    tools: Tools | None,
    before: Sequence[Mapping[str, Any]],
    fields: Mapping[str, str] = MappingProxyType({}),
    behind: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Return the conversation with these calls, and what is behind them, as the template writes."""
    text = ""
    # Mistral's templates refuse ids of other lengths; Kimi's write the id in place of the name.
    for id_ in ("call{number:05}", "functions.{name}:{number}"):
        written = [
            openai_call(call, call.id or id_.format(name=call.name, number=number), kind)
            for number, call in enumerate(calls)
        ]
        turn = {"role": "assistant", "content": "", **fields, "tool_calls": written}
        results = ({**one, "tool_call_id": written[0]["id"]} for one in behind)
        text = render_by(template, [*before, turn, *results], tools)
        if all(call.name in text for call in calls):
            break
    return text


# --- the sandbox ---------------------------------------------------------------------------------

_SPENT: ContextVar[list[int]] = ContextVar("_SPENT")
"""What the renderings that are under way were charged so far."""


@contextmanager
def _one_budget() -> Iterator[None]:
    """Pay for all renderings in the block together, and with those of a block around it."""
    token = None if _SPENT.get(None) else _SPENT.set([0])
    try:
        yield
    finally:
        if token is not None:
            _SPENT.reset(token)


_FORMATS = frozenset({"%", "format", "format_map"})
_GROWING = _FORMATS | {
    "*", "batch", "center", "expandtabs", "indent", "join", "ljust", "replace", "rjust", "slice",
    "to_bytes", "tojson", "translate", "wordwrap", "zfill",
}  # fmt: skip
"""Operators, filters and methods whose result may be as long as the product of what they get."""

_WIDTH = re.compile(r"\d{4,4000}")
"""A number in a format that may be a width."""

_NODE = 100
"""The size of a value without its characters, in characters."""

_INSTANT = frozenset({"length", "count", "first", "last", "default", "d"})
"""Filters that take no more time for more."""
_COMPARING = (
    "in", "==", "eq", "equalto", "!=", "ne", "<", "lt", "lessthan", "<=", "le", ">", "gt",
    "greaterthan", ">=", "ge", "lower", "upper",
)  # fmt: skip
"""Tests that look through what they are given; the others take no more time for more."""
_QUICK = _INSTANT.union(_COMPARING, (
    "string", "tojson", "trim", "replace", "upper", "lower", "capitalize", "safe", "escape", "e",
    "forceescape", "indent", "center", "truncate", "format", "int", "float", "items",
))  # fmt: skip
_SLOW = 256
"""How much more the other filters cost per character, or per number of a range: some go through
them one by one, and `wordwrap`, `title` and `urlize` take microseconds for each."""


def _charge(*values: object) -> None:
    """Charge for a step with these values; raise `UsageError` if that is more than is allowed."""
    sizes = [_size(one) // (1 if isinstance(one, str) else 4) for one in values]
    spent = _SPENT.get()
    spent[0] += TEMPLATE_STEP + sum(sizes)
    if spent[0] > MAX_TEMPLATE_WORK:
        raise UsageError(
            f"the template takes more than {MAX_TEMPLATE_WORK // TEMPLATE_STEP:,} steps; it may "
            "loop for ever: repair it"
        )


def _refuse(size: int) -> None:
    if size > MAX_TEMPLATE_SIZE:
        raise UsageError(
            f"the template makes a value of more than {MAX_TEMPLATE_SIZE:,} characters; repair it"
        )


def _size(value: object) -> int:
    """Return about how many characters a value has as text; counts no further than the limit.

    The digits of a number count squared, as the time does that it takes to write them.
    """
    size, rest = 0, [value]
    while rest and size <= MAX_TEMPLATE_SIZE:
        match rest.pop():
            case str() | bytes() as text:
                size += len(text)
            case int() as number:
                size += number.bit_length() ** 2 // 64
            case dict() as members:
                rest.extend(members)
                rest.extend(members.values())
            case list() | tuple() | set() as items:
                rest.extend(items)
            case KeysView() | ValuesView() | ItemsView() as items:
                rest.extend(items)
        size += _NODE
    return size


def _refuse_growth(name: str, values: Iterable[object]) -> None:
    """Refuse what may make a value that is too long, before it is made."""
    values = [one for row in values for one in (row if isinstance(row, tuple) else (row,))]
    texts = [one for one in values if isinstance(one, str)]
    sizes = [
        len(one) if isinstance(one, str | bytes) else _size(one)
        for one in values
        if not isinstance(one, int)
    ]
    # The first of them is what is filtered or has the method.
    numbers = [abs(one) for one in values[name != "*" :] if isinstance(one, int)]
    if name in _FORMATS:
        if not any("*" in text or (name != "%" and "{" in text) for text in texts):
            numbers = []
        numbers += [int(width) for text in texts for width in _WIDTH.findall(text)]
    if name not in {"*", "%"} or sizes:
        _refuse(prod(max(1, size) for size in (*sizes, *numbers)))


class _Names(Namespace):
    """A namespace whose text is short, as namespaces can hold each other many times over."""

    def __repr__(self) -> str:
        return "<namespace>"


class _Guards(NodeTransformer):
    """Has charged filters see what jinja2 compiles to plain Python: loops, macros and values."""

    def visit_For(self, node: nodes.For | nodes.Macro) -> nodes.Node:  # noqa: N802 - jinja2's name
        self.generic_visit(node)
        written = sum(len(text.data) for text in node.find_all(nodes.TemplateData))
        turn = _through("_turn", nodes.Const(written, lineno=node.lineno))
        node.body.insert(0, nodes.ExprStmt(turn, lineno=node.lineno))
        return node

    visit_Macro = visit_For  # noqa: N815 - jinja2's name

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802 - jinja2's name
        self.generic_visit(node)
        node.nodes = [_through("string", one) for one in node.nodes]
        return _through("string", node)

    def visit_List(self, node: nodes.Expr) -> nodes.Node:  # noqa: N802 - jinja2's name
        self.generic_visit(node)
        return node if getattr(node, "ctx", "load") == "store" else _through("_made", node)

    visit_Tuple = visit_Dict = visit_List  # noqa: N815 - jinja2's name

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:  # noqa: N802 - jinja2's name
        self.generic_visit(node)
        return _through("_sliced", node) if isinstance(node.arg, nodes.Slice) else node

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:  # noqa: N802 - jinja2's name
        self.generic_visit(node)
        node.expr = _through("_compared", node.expr)
        for one in node.ops:
            name = "_searched" if one.op in {"in", "notin"} else "_compared"
            one.expr = _through(name, one.expr)
        return node


def _through(name: str, node: nodes.Expr) -> nodes.Expr:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


class _Generation(Extension):
    """`{% generation %}`, with which templates for training mark what the assistant writes."""

    tags = {"generation"}  # noqa: RUF012 - jinja2's name and type

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.Scope(body, lineno=line)


class _Sandbox(ImmutableSandboxedEnvironment):
    """transformers' environment for chat templates, with every step charged."""

    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%", "**"})

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[_Generation, LoopControlExtension],
            finalize=_written,
            optimized=False,  # it takes the square of the time for what is nested
        )
        self.globals |= {
            "raise_exception": _refused_by_template,
            "strftime_now": lambda _: "2026-01-01",  # the same text on every day
            "namespace": _Names,
        }
        del self.globals["lipsum"]
        self.filters |= {"tojson": _as_json}
        self.filters = {name: _charged(name, one) for name, one in self.filters.items()}
        self.filters |= {"_turn": _turn, "_made": _made, "_compared": _compared}
        self.filters |= {"_searched": _searched, "_sliced": _sliced}
        tests: dict[str, Any] = self.tests
        self.tests |= {name: _charged(name, tests[name]) for name in _COMPARING}

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree: nodes.Template = _Guards().visit(super()._parse(source, name, filename))
        return tree

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        _charge(left, right)
        if operator in _GROWING:
            _refuse_growth(operator, (left, right))
        elif operator == "**" and isinstance(left, int) and isinstance(right, int):
            _refuse((left.bit_length() * abs(right)) ** 2 // 64)
        return _made(super().call_binop(context, operator, left, right))

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805, PYI063 - jinja2's
        method = getattr(__obj, "__wrapped__", __obj)
        given = (getattr(method, "__self__", ""), *args, *kwargs.values())
        _charge(*given)
        if (name := getattr(method, "__name__", "")) in _GROWING:
            _refuse_growth(name, given)
        return _made(super().call(__context, __obj, *args, **kwargs))


def _made(value: Any) -> Any:
    """Return a value that the template made, once it is charged for."""
    _refuse(_size(value))
    _charge(value)
    return value


def _compared(value: Any) -> Any:
    """Return one side of a comparison, once it is charged for."""
    _charge(value)
    return value


def _searched(value: Any) -> Any:
    """Return what is searched, once it is charged for; a key of an object is found at once."""
    _charge(*(() if isinstance(value, Mapping) else (value,)))
    return value


def _sliced(value: Any) -> Any:
    """Return a part of a text or a list, once it is charged for."""
    _charge()
    _SPENT.get()[0] += len(value) if hasattr(value, "__len__") else 0
    return value


def _written(value: Any) -> Any:
    """Return a value that is written; what is written is kept until the end, so it costs more."""
    _made(value)
    _SPENT.get()[0] += 8 * _size(value)
    return value


@pass_context  # a filter with a context is never called while a template is compiled
def _turn(_: object, written: int) -> None:
    """Charge for one turn of a loop or call of a macro, which has `written` fixed characters."""
    _charge()
    _SPENT.get()[0] += 8 * written


def _charged(name: str, filter_: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(filter_)
    def charged(*args: Any, **kwargs: Any) -> Any:
        given = (*args, *kwargs.values())
        _charge(*(() if name in _INSTANT else given))
        if name not in _QUICK:
            walked = sum(len(one) for one in given if isinstance(one, str | range))
            _SPENT.get()[0] += _SLOW * walked
        if name in _GROWING:
            _refuse_growth(name, given)
        return _made(filter_(*args, **kwargs))

    return charged


def _as_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """Do what `tojson` does in transformers, which escapes no HTML."""
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def _refused_by_template(message: object) -> NoReturn:
    raise TemplateError(f"it says {str(message)!r:.300}")


@lru_cache(maxsize=64)
def _compiled(template: str) -> Template:
    if len(template) > MAX_TEMPLATE_SIZE:
        raise UsageError(f"the template has more than {MAX_TEMPLATE_SIZE:,} characters")
    if next(islice(_ENVIRONMENT.lex(template), MAX_TEMPLATE_TOKENS, None), None):
        raise UsageError(f"the template has more than {MAX_TEMPLATE_TOKENS:,} words and signs")
    return _ENVIRONMENT.from_string(template)


_ENVIRONMENT = _Sandbox()


def _reason(error: Exception) -> str:
    """Return why a template failed, in a few words."""
    if isinstance(error, RecursionError):
        return "it calls itself without end"
    if isinstance(error, TypeError) and "no loader" in str(error):
        return "it includes another file, and a template has none; put the text into it"
    lines = [one.lineno for one in extract_tb(error.__traceback__) if one.filename == "<template>"]
    missing = "there is no " if isinstance(error, KeyError) else ""
    return f"{missing}{error!s:.300}" + f" (line {lines[-1]})" * bool(lines)
