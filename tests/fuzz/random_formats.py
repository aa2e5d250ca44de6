"""Formats that nobody thought of: rows of words, of which `Format` refuses those it cannot read.

    from tests.fuzz.random_formats import random_format

Made from a tape of bytes, as calls are (`tunaeval.testing.tape`): most are sensible, and many have
something odd about them, because the odd ones have to be refused or to work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from hypothesis import strategies as st

from tunaeval.errors import FormatError
from tunaeval.grammar import (
    ANY_SPACE,
    TYPE_NAME,
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
    Reasoning,
    Space,
    Value,
    Word,
)
from tunaeval.grammar.format import Format
from tunaeval.parsing.api import parser_for
from tunaeval.testing.strategies import taped
from tunaeval.testing.tape import Tape

_Words: TypeAlias = list[Word]

_OPENERS = (
    "<call>", "<call:", "[[call]]", "[call ", "{call}", "```tool\n", "@@ ", "CALL ", "::", "<<",
    "|", "do:\n", "<a", "<ab", "\n--\n", "<c>\n",
)  # fmt: skip
_CLOSERS = (
    "</call>", "[[/call]]", "[/call]", "{/call}", "```", "@@", "END", "::", ">>", "|", "\nend",
    "end\n", ";", "</c>", "]", "<call>", "(", ":", "true", "-1", ",", '"',
)  # fmt: skip
_FIXED = (
    "<x>", "</x>", "=", ": ", ">", "\n", "  ", "- ", "|", "[", "]]", '"', "'", "::", "a", "<a", "(",
    "/", ")\n", "{", ",", "\t",
)  # fmt: skip
_GAPS = ("", "\n", " ", "\n  ", "\t")
_NAMES = (
    r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}", r"[a-z_]{1,40}", r"[^<>\"'\s]{1,99}", r"\w{1,40}",
    r"[^\n]{1,40}", r"[a-z]{2,9}", r"[a-z_:|]{1,40}",
)  # fmt: skip
_MARKUP = (
    ("", r"[0-9]{0,6}"), ("7:", r"[0-9]{0,3}:?"), ("json", r"[a-z]{0,9}"), ("", r"(?:json)?"),
    ("-", r"-{0,3}"), ("1", r"[^ ]{0,9}"),
)  # fmt: skip
_REASONING = ((), (Reasoning("<think>", "</think>"),), (Reasoning("[t]", "[/t]"),))
_AROUND = (
    None, None, None, (Literal("<calls>"), Literal("</calls>")), (Literal("[["), Literal("]]")),
    (Literal("begin\n"), Literal("\nend")), (Literal("<call>"), Literal("</call>")),
)  # fmt: skip


def random_format(tape: Tape) -> Format | FormatError:
    """A format, or why it was refused."""
    words = tape.pick(
        (_objects, _objects, _named_json, _pairs, _pairs, _pairs, _elements, _python)
    )(tape)
    for _ in range(max(0, tape.below(6) - 3)):
        words = _changed(tape, words)
    try:
        made = Format(
            "random",
            tuple(words),
            marked=tape.below(6) != 5,
            around=tape.pick(_AROUND),
            separator=tape.pick(("\n", "", " ", "\n\n")),
            reasoning=tape.pick(_REASONING),
            prompted=tape.below(6) == 5,
        )
        parser_for(made)
    except FormatError as refused:
        return refused
    return made


def random_formats() -> st.SearchStrategy[Format]:
    """Formats that were accepted."""
    return taped(random_format, 64).filter(lambda made: isinstance(made, Format))  # type: ignore[return-value]  # what is left are formats


# --- sensible rows -------------------------------------------------------------------------------


def _objects(tape: Tape) -> _Words:
    """A call object between markers, or a bare one."""
    array = tape.below(2) == 1
    word = CallObject(
        name=tape.pick(("name", "fn", "tool name")),
        arguments=tape.pick(("arguments", "args")),
        array=array,
        listed=array and tape.below(2) == 1,
        joined=tape.pick(("", "", "; ", "\n", " | ")),
        keyed=tape.below(5) == 4,
        bare_keys=tape.below(6) == 5,
    )
    if tape.below(8) == 7:
        rows = (("{", ANY_SPACE, '"'), ("[", ANY_SPACE, "{"))
        return [CallObject(word.name, word.arguments, array=array, opens=rows[: 1 + array])]
    before = [_markup(tape)] if tape.below(4) == 3 else []
    closer = [_space(tape), _closer(tape)] if tape.below(4) else []
    return [_opener(tape), *before, _space(tape), word, *closer]


def _named_json(tape: Tape) -> _Words:
    mark = tape.pick(("", "", "", "<|q|>", "%%"))
    closer = [_space(tape), _closer(tape)] if tape.below(4) else []
    between = tape.row(_small, 2)
    return [_opener(tape), *_spaced(tape), _name(tape), *between, Arguments(mark=mark), *closer]


def _pairs(tape: Tape) -> _Words:
    before = [Arguments(optional=True)] if tape.below(8) == 7 else []
    return [
        _opener(tape), *_spaced(tape), _name(tape), *tape.row(_small, 2), *before, _many(tape),
        *_spaced(tape), _closer(tape),
    ]  # fmt: skip


def _many(tape: Tape) -> Many:
    key = Key(tape.pick(_NAMES), escaped=tape.below(6) == 5)
    kind = TYPE_NAME if tape.below(2) else Attribute(("true",), ("false",))
    told: _Words = []
    if tape.below(4) > 1:
        first = _fixed(tape)
        told = [Maybe((first, kind), written=True)] if tape.below(2) else [first, kind]
    quotes = ("", "") if tape.below(6) else ("<![", "]]>")
    value = Value(tape.pick(("no", "no", "newline", "space")), quotes)
    return Many(
        (
            _fixed(tape), *tape.row(_small, 1), key, *told, _fixed(tape), *_spaced(tape), value,
            _fixed(tape), *_spaced(tape),
        )
    )  # fmt: skip


def _elements(tape: Tape) -> _Words:
    prefix = tape.pick(("~", "<|", "]<]x[>[", "<"))
    closer = Literal(prefix + tape.pick(("</call>", "end", "")))
    return [_opener(tape), _name(tape), _fixed(tape), Elements(prefix), closer]


def _python(tape: Tape) -> _Words:
    listed = tape.below(2) == 0
    closer = [] if listed and tape.below(4) == 3 else [_space(tape), _closer(tape)]
    return [_opener(tape), _space(tape), PythonCalls(listed), *closer]


# --- words ---------------------------------------------------------------------------------------


def _opener(tape: Tape) -> Word:
    return _literal(tape, _OPENERS)


def _closer(tape: Tape) -> Word:
    return _literal(tape, _CLOSERS)


def _fixed(tape: Tape) -> Word:
    return _literal(tape, _FIXED)


def _literal(tape: Tape, texts: tuple[str, ...]) -> Literal:
    also = tuple(tape.row(lambda tape: tape.pick(texts), 2)) if tape.below(5) == 4 else ()
    return Literal(tape.pick(texts), also)


def _space(tape: Tape) -> Word:
    return Space(tape.pick(_GAPS))


def _spaced(tape: Tape) -> _Words:
    return [_space(tape)] if tape.below(2) else []


def _name(tape: Tape) -> Word:
    if tape.below(6) < 5:
        return Name(tape.pick(_NAMES))
    return Name(before="fn.", after=r":?[0-9]{0,3}", after_text=tape.pick((":0", "", "7")))


def _markup(tape: Tape) -> Word:
    return Markup(*tape.pick(_MARKUP))


def _small(tape: Tape) -> Word:
    """A word between two others."""
    return tape.pick(_SMALL)(tape)


_SMALL: tuple[Callable[[Tape], Word], ...] = (
    _fixed,
    _fixed,
    _space,
    _markup,
    lambda tape: Maybe((_fixed(tape), *_spaced(tape)), written=tape.below(2) == 1),
)


def _changed(tape: Tape, words: _Words) -> _Words:
    """One word left out, put in, or twice."""
    at, kind = tape.below(len(words)), tape.below(4)
    if kind == 0:
        return [*words[:at], *words[at + 1 :]] or words
    if kind == 1:
        return [*words[: at + 1], *words[at:]]
    return [*words[:at], tape.pick(_ANY)(tape), *words[at:]]


_ANY: tuple[Callable[[Tape], Word], ...] = (_small, _small, _name, _many, lambda _: Arguments())
