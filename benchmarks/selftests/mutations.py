"""Calls damaged in known ways, so that what becomes of them in a repair can be checked.

Each sample is the JSON of one realistic call, hurt once or twice by a kind of damage that models
do or that a broken transport does; what was meant is kept beside it. The same seed gives the same
samples.

Some damage cannot be seen: a comma lost inside a string leaves a sound text that means something
else. It is recognised by itself: an edit that, made alone, leaves JSON that the standard library
reads as another value. Such samples are left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple, TypeAlias

from .sample_calls import Call, sample_call

Edit: TypeAlias = tuple[int, int, str]
"""Characters `start` to `end` of a text become another text."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """A damaged text, the call that was meant, and the kinds of damage; `cut`: its end is lost."""

    text: str
    meant: Call
    kinds: tuple[str, ...]
    cut: bool = False


class _Token(NamedTuple):
    """A token of sound JSON: its first character tells what it is, except that keys are "k"."""

    kind: str
    start: int
    end: int


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]:,]|[^\s{}\[\]:,"]++')
_STRUCTURE = '{}[]",:'


def damaged_calls(count: int = 14_469, seed: int = 0) -> Iterator[Damaged]:
    """So many calls, each hurt once or (a third of them) twice; the kinds take turns."""
    random = Random(seed)
    kinds = list(KINDS)
    made = 0
    while made < count:
        call = sample_call(random)
        text = json.dumps(call, ensure_ascii=random.random() < 0.5)
        for kind in kinds:
            pair = (kind, random.choice(kinds)) if random.random() < 1 / 3 else (kind,)
            sample = _damaged(text, call, pair, random)
            if sample is not None and made < count:
                made += 1
                yield sample


def cut_calls(count: int = 2_000, seed: int = 0) -> Iterator[Damaged]:
    """Calls that end at some place before their last bracket; half of them hurt once before it."""
    random = Random(seed)
    kinds = list(KINDS)
    made = 0
    while made < count:
        call = sample_call(random)
        text = json.dumps(call)
        sample = Damaged(text, call, ())
        if random.random() < 0.5:
            sample = _damaged(text, call, (random.choice(kinds),), random) or sample
        last = sample.text.rstrip("` \n").rfind("}")
        end = random.randrange(2, max(3, last))
        made += 1
        yield Damaged(sample.text[:end], call, (*sample.kinds, "cut"), cut=True)


def _damaged(text: str, call: Call, kinds: tuple[str, ...], random: Random) -> Damaged | None:
    """`text` hurt in these ways; None if one finds nothing to hurt, or cannot be seen."""
    tokens = _tokens(text)
    edits: list[Edit] = []
    done: list[str] = []
    for kind in kinds:
        made = KINDS[kind](text, tokens, random)
        if _apart(made, edits):
            if kind not in _HARMLESS and _is_another(_edited(text, made), call):
                return None
            edits += made
            done.append(kind)
    hurt = _edited(text, edits)
    if not done or hurt == text or (not _HARMLESS & {*done} and _is_sound(hurt)):
        return None
    return Damaged(hurt, call, tuple(done))


def _apart(made: list[Edit], edits: list[Edit]) -> bool:
    """Whether there are edits at all, and none touches one made before."""
    return bool(made) and not any(
        start <= other_end and other_start <= end
        for start, end, _ in made
        for other_start, other_end, _ in edits
    )


def _edited(text: str, edits: list[Edit]) -> str:
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _is_sound(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _is_another(text: str, call: Call) -> bool:
    """Whether the damage left sound JSON that means something else: nobody can see it."""
    try:
        return bool(json.loads(text) != call)
    except ValueError:
        return False


def _tokens(text: str) -> list[_Token]:
    found = [_Token(m.group()[0], m.start(), m.end()) for m in _TOKEN.finditer(text)]
    after = [*found[1:], _Token("", len(text), len(text))]
    return [
        token._replace(kind="k") if token.kind == '"' and behind.kind == ":" else token
        for token, behind in zip(found, after, strict=True)
    ]


# --- the kinds of damage -------------------------------------------------------------------------


def _lose(kinds: str) -> _Kind:
    """One token of these kinds is lost."""

    def edits(_: str, tokens: list[_Token], random: Random) -> list[Edit]:
        found = [token for token in tokens if token.kind in kinds]
        return [(t.start, t.end, "") for t in _one(found, random)]

    return edits


def _lose_quote(_: str, tokens: list[_Token], random: Random) -> list[Edit]:
    ends = [at for t in tokens if t.kind in '"k' for at in (t.start, t.end - 1)]
    return [(at, at + 1, "") for at in _one(ends, random)]


def _lose_any(text: str, _: list[_Token], random: Random) -> list[Edit]:
    """A structural character is lost, in a string or not."""
    found = [at for at, char in enumerate(text) if char in _STRUCTURE]
    return [(at, at + 1, "") for at in _one(found, random)]


def _insert(text: str, _: list[_Token], random: Random) -> list[Edit]:
    at = random.randrange(1, len(text))
    return [(at, at, random.choice(_STRUCTURE))]


def _swap(text: str, _: list[_Token], random: Random) -> list[Edit]:
    found = [
        at
        for at in range(1, len(text) - 1)
        if text[at] != text[at + 1] and (text[at] in _STRUCTURE or text[at + 1] in _STRUCTURE)
    ]
    return [(at, at + 2, text[at + 1] + text[at]) for at in _one(found, random)]


def _double_closer(_: str, tokens: list[_Token], random: Random) -> list[Edit]:
    found = [t for t in tokens if t.kind in "}]"]
    return [(t.end, t.end, t.kind) for t in _one(found, random)]


def _double_comma(_: str, tokens: list[_Token], random: Random) -> list[Edit]:
    return [(t.end, t.end, ",") for t in _one([t for t in tokens if t.kind == ","], random)]


def _trailing_comma(_: str, tokens: list[_Token], random: Random) -> list[Edit]:
    return [(t.start, t.start, ",") for t in _one([t for t in tokens if t.kind in "}]"], random)]


def _unescape(text: str, tokens: list[_Token], random: Random) -> list[Edit]:
    """Quotes inside one string lose their backslashes."""
    found = [t for t in tokens if t.kind == '"' and '\\"' in text[t.start : t.end]]
    return [
        (t.start + m.start(), t.start + m.end(), '"')
        for t in _one(found, random)
        for m in re.finditer(r'(?<!\\)\\"', text[t.start : t.end])
    ]


def _raw_control(text: str, tokens: list[_Token], random: Random) -> list[Edit]:
    found = [t for t in tokens if t.kind == '"' and re.search(r"\\[nt]", text[t.start : t.end])]
    return [
        (t.start + m.start(1), t.start + m.end(1), "\n" if m.group(1) == "\\n" else "\t")
        for t in _one(found, random)
        for m in re.finditer(r"(?<!\\)(?:\\\\)*+(\\[nt])", text[t.start : t.end])
    ]


def _invalid_escape(text: str, tokens: list[_Token], random: Random) -> list[Edit]:
    r"""A regular expression or a Windows path written with single backslashes: \w, \i."""
    found = [
        t.start + m.start()
        for t in tokens
        if t.kind == '"'
        for m in re.finditer(r"(?<!\\)\\\\(?=[a-zA-Z(.])(?![bfnrtu])", text[t.start : t.end])
    ]
    return [(at, at + 2, "\\") for at in _one(found, random)]


def _single_quotes(text: str, tokens: list[_Token], _: Random) -> list[Edit]:
    """As Python writes a dict of strings, in its simplest form."""
    return [(t.start, t.end, _requoted(text[t.start : t.end])) for t in tokens if t.kind in '"k']


def _single_quote(text: str, tokens: list[_Token], random: Random) -> list[Edit]:
    found = [t for t in tokens if t.kind in '"k']
    return [(t.start, t.end, _requoted(text[t.start : t.end])) for t in _one(found, random)]


def _requoted(string: str) -> str:
    inner = re.sub(r"\\(.)", lambda m: '"' if m.group(1) == '"' else m.group(), string[1:-1])
    return "'" + inner.replace("'", "\\'") + "'"


def _smart_quotes(text: str, tokens: list[_Token], random: Random) -> list[Edit]:
    """One string or all, where none contains such quotes itself."""
    strings = [t for t in tokens if t.kind in '"k']
    found = [t for t in strings if not re.search("[“”\\\\]", text[t.start : t.end])]
    chosen = found if len(found) == len(strings) else _one(found, random)
    return [edit for t in chosen for edit in ((t.start, t.start + 1, "“"), (t.end - 1, t.end, "”"))]


def _python_literals(text: str, tokens: list[_Token], _: Random) -> list[Edit]:
    words = {"true": "True", "false": "False", "null": "None"}
    found = [(t, words.get(text[t.start : t.end])) for t in tokens if t.kind in "tfn"]
    return [(t.start, t.end, word) for t, word in found if word]


def _bare_keys(text: str, tokens: list[_Token], _: Random) -> list[Edit]:
    keys = [t for t in tokens if t.kind == "k" and text[t.start + 1 : t.end - 1].isidentifier()]
    return [(t.start, t.end, text[t.start + 1 : t.end - 1]) for t in keys]


def _comment(_: str, tokens: list[_Token], random: Random) -> list[Edit]:
    comment = random.choice(('/* a, "b": c */', "// it's {this}\n", "# note: [1]\n"))
    inner = [t for t in tokens if t.kind in ",{["]
    return [(t.end, t.end, f" {comment}") for t in _one(inner, random)]


def _fence(text: str, _: list[_Token], __: Random) -> list[Edit]:
    return [(0, 0, "```json\n"), (len(text), len(text), "\n```")]


def _encode(text: str, _: list[_Token], __: Random) -> list[Edit]:
    """The arguments as JSON inside of a string."""
    start = text.index('"arguments": ') + len('"arguments": ')
    return [(start, len(text) - 1, json.dumps(text[start:-1]))]


def _one(found: list[Any], random: Random) -> list[Any]:
    """One of them, if there is any."""
    return [random.choice(found)] if found else []


_Kind: TypeAlias = Callable[[str, list[_Token], Random], list[Edit]]

KINDS: dict[str, _Kind] = {
    "lost-quote": _lose_quote,
    "lost-comma": _lose(","),
    "lost-colon": _lose(":"),
    "lost-opener": _lose("{["),
    "lost-closer": _lose("}]"),
    "lost-structure": _lose_any,
    "inserted": _insert,
    "swapped": _swap,
    "doubled-closer": _double_closer,
    "doubled-comma": _double_comma,
    "trailing-comma": _trailing_comma,
    "unescaped-quotes": _unescape,
    "raw-control": _raw_control,
    "invalid-escape": _invalid_escape,
    "single-quotes": _single_quotes,
    "one-single-quoted": _single_quote,
    "smart-quotes": _smart_quotes,
    "python-literals": _python_literals,
    "bare-keys": _bare_keys,
    "comment": _comment,
    "fence": _fence,
    "encoded": _encode,
}
"""What each kind does to a sound text."""

_HARMLESS = frozenset({"fence", "encoded"})
"""Kinds that leave a text, or a part of it, sound: another layer, and no damage to what is said."""
