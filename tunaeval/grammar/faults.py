"""Why a row of words could never be read; asked when a format is built."""

from __future__ import annotations

import re

from .argument_faults import arguments_fault, name_fault, place_fault
from .following import beginnings, following_fault, shown
from .patterns import row_fault
from .routing_faults import envelope_fault
from .words import (
    ANY_SPACE,
    SPACES,
    Arguments,
    CallObject,
    Elements,
    Envelope,
    Key,
    Literal,
    Many,
    Markup,
    Maybe,
    Name,
    PythonCalls,
    Reasoning,
    Space,
    Word,
)

NAME = re.compile(r"[a-z0-9]+(?:[-._][a-z0-9]+)*")
"""What a format may be called: kebab-case."""


def fault_of(
    name: str,
    words: tuple[Word, ...],
    reasoning: tuple[Reasoning, ...],
    envelope: Envelope | None = None,
    around: tuple[Literal, ...] = (),
    *,
    dropped: tuple[str, ...] = (),
    separator: str = "\n",
    marked: bool = True,
    prompted: bool = False,
    whole: bool = False,
    by_tool: bool = False,
) -> str | None:
    """Why a format could never be read, if so; its fields are of their kinds (`shapes`)."""
    if not NAME.fullmatch(name):
        allowed = "lower-case letters and digits, joined by '-', '.' or '_'"
        return f"name is {name!r:.60}; a name is {allowed}"
    if whole:
        plain = not (envelope or around or dropped or marked or prompted)
        return _whole_fault(words, plain=plain) or _reasoning_fault(words, reasoning)
    if by_tool:
        plain = marked and not (envelope or around or dropped or prompted)
        return _by_tool_fault(words, plain=plain) or _reasoning_fault(words, reasoning)
    if fault := envelope_fault(words, envelope):
        return fault
    flat = _flat(words)
    addressed = envelope is not None and envelope.names
    call = next((word for word in words if isinstance(word, CallObject | PythonCalls)), None)
    if fault := place_fault(words) or _caller_fault(flat, addressed=addressed):
        return fault
    bare = marked and isinstance(words[0], CallObject | PythonCalls)
    return (
        _frame_fault(words, call, addressed=addressed)
        or _markup_fault(flat)
        or _mark_fault(flat)
        or (_object_fault(words, call) if isinstance(call, CallObject) else None)
        or (_python_fault(words, call) if isinstance(call, PythonCalls) else None)
        or (arguments_fault(words, addressed=addressed) if call is None else None)
        or (f"nothing announces a bare {shown(words[0])}; write marked=False" if bare else None)
        or (_prompted_fault(words, envelope) if prompted else None)
        or _reasoning_fault(flat, reasoning)
        or _around_fault(words, around)
        or _dropped_fault(flat, around, dropped)
        or _following_fault(words, around, separator)
    )


def _by_tool_fault(words: tuple[Word, ...], *, plain: bool) -> str | None:
    """Why no element could be named after a tool: one row of words is known to read it."""
    match words:
        case (
            Literal(text="<"), Name(), Literal(text=">"), Space(), Arguments(optional=True),
            Elements(prefix=""), Space(), Literal(text="</"), Name(), Literal(text=">"),
        ):  # fmt: skip
            known = plain
        case _:
            known = False
    if known:
        return None
    return (
        "by_tool is True, which is for `<`, Name(), `>`, Space(), Arguments(optional=True), "
        "Elements(''), Space(), `</`, Name() and `>`, marked and with nothing around the calls"
    )


def _whole_fault(words: tuple[Word, ...], *, plain: bool) -> str | None:
    """Why a format could not be all of a reply: three shapes can be known without a marker."""
    match words:
        case (CallObject(inside=(_, *_)),) | (PythonCalls(loose=True),):
            known = True
        case (Name(), Literal(), Arguments(mark="", optional=False)):
            known = True
        case _:
            known = False
    if not known:
        return (
            "whole is True, which is for one of CallObject(inside=...), PythonCalls(loose=True), "
            "and Name() with a Literal and Arguments() behind it"
        )
    if not plain:
        return "whole is True, which goes with marked=False and with nothing around the calls"
    return None


def _prompted_fault(words: tuple[Word, ...], envelope: Envelope | None) -> str | None:
    """Why no prompt can end with the opener of such a format."""
    if not isinstance(words[0], Literal) or envelope is not None:
        return (
            "a prompt cannot end with an opener that is none; prompted=True wants a Literal first"
        )
    behind = [gap + text for gap, text in beginnings(words[1:])]
    if any(text.startswith(words[0].spellings) for text in behind):
        return (
            f"behind {shown(words[0])} comes the same text, so nothing says whether a prompt ended "
            "with it; begin the two differently, or leave prompted=True out"
        )
    return None


def _caller_fault(flat: tuple[Word, ...], *, addressed: bool) -> str | None:
    """Why nothing says which tool is called, or several words do."""
    callers = [word for word in flat if isinstance(word, CallObject | PythonCalls | Name)]
    named = addressed and not any(isinstance(word, CallObject | PythonCalls) for word in callers)
    if len(callers) + named == 1:
        return None
    if not callers:
        return (
            "nothing in it says which tool is called; it needs CallObject(), PythonCalls(), or "
            "Name() and arguments"
        )
    found = ", ".join([*map(shown, callers), *["the name in the header"] * named])
    return f"it has {found}; a block needs one of them, and only one"


def _object_fault(words: tuple[Word, ...], call: CallObject) -> str | None:
    """Why a call object could not be found, or could not be written and read back."""
    for row in call.opens:
        text = "".join(part for part in row if part != ANY_SPACE)
        if not row or row[0] == ANY_SPACE or text[:1] not in ("{", "["):
            return f"`opens` has the row {row!r}; a call begins with '{{' or '['"
    for key in (call.name, call.arguments):
        if not (re.fullmatch(r"\w+", key) if call.bare_keys else re.fullmatch(r'[^"\\\n]+', key)):
            return f"the key {key!r} cannot be written as it is"
    if call.name == call.arguments:
        return f"the name and the arguments have one key, {call.name!r}"
    return _row_fault(call) or _beside_fault(words, call)


def _row_fault(call: CallObject) -> str | None:
    """Why several calls could not be written side by side and read back."""
    if call.listed and (not call.array or call.joined):
        return "CallObject(listed=True) writes a list, so it needs array=True, and no `joined`"
    if call.joined.strip() not in ("", ",", ";"):
        return (
            f"`joined` is {call.joined!r}; between calls ',', ';' and white space are passed over"
        )
    if call.joined and call.opens:
        return "`joined` is for calls between markers; a bare object ends by itself"
    return None


def _beside_fault(words: tuple[Word, ...], call: CallObject) -> str | None:
    """Why what is around a call object could not be read."""
    at = words.index(call)
    for word in words[:at]:
        if not isinstance(word, Literal | Space | Markup):
            return (
                f"{shown(word)} is before CallObject(); only Literal, Space and Markup may. "
                "What may be missing is another spelling of the Literal before it: "
                "Literal('<call>', also=('<call>json',))"
            )
    for word in words[at + 1 :]:
        if not isinstance(word, Literal | Space):
            return (
                f"{shown(word)} is behind CallObject(); only Literal and Space may. What may "
                "be missing is another spelling of the closer: Literal('</call>', also=(...))"
            )
        spaced = isinstance(word, Literal) and any(t.startswith(SPACES) for t in word.spellings)
        if spaced:
            return (
                f"white space behind CallObject() is passed over, so {shown(word)} is never read; "
                "put Space() before it, and begin it behind the white space"
            )
    return None


def _python_fault(words: tuple[Word, ...], calls: PythonCalls) -> str | None:
    """Why calls as Python writes them could not be distinguished from what is around them."""
    for row in calls.opens:
        if row[:1] != ("[",):
            return f"`opens` has the row {row!r}; a list of calls begins with '['"
    inner = words[1:-1] if isinstance(words[-1], Literal) else words[1:]
    beside = [word for word in inner if not isinstance(word, Space | PythonCalls)]
    if beside:
        return f"{shown(beside[0])} is between the markers and PythonCalls(); only Space() may"
    closer = words[-1]
    if not isinstance(closer, Literal):
        return None if calls.listed else "calls that are on lines never end; use a Literal"
    for text in closer.spellings:
        if re.match(r"[\w(.=*+\[\]{},\"'-]", text):
            return f"the closer {text!r} could be part of the calls before it"
    return None


def _mark_fault(words: tuple[Word, ...]) -> str | None:
    """Why a text between two marks could not be distinguished from what is around it."""
    texts = [text for word in words if isinstance(word, Literal) for text in word.spellings]
    for mark in [word.mark for word in words if isinstance(word, Arguments) and word.mark]:
        if re.match(r"[\w\s:,={}\[\]\"'+.-]", mark):
            return f"the mark {mark!r} could be part of a value"
        if any(mark.startswith(mark[at:]) for at in range(1, len(mark))):
            return f"the mark {mark!r} ends as it begins, so two could overlap"
        if any(mark.startswith(text) or text.startswith(mark) for text in texts):
            return f"the mark {mark!r} is in a Literal too"
    return None


def _reasoning_fault(words: tuple[Word, ...], reasoning: tuple[Reasoning, ...]) -> str | None:
    own = [word for word in words if isinstance(word, Literal)]
    texts = {text for word in own for text in word.spellings}
    for markers in reasoning:
        if not markers.open or not markers.close or markers.open == markers.close:
            return f"{markers!r} cannot be distinguished; give two different texts"
        if _is_usual(markers.open):
            return f"{markers!r} begin everywhere; what opens needs three characters"
        if texts & {markers.open, markers.close}:
            return f"{markers!r} are markers of the calls too"
    return None


def _flat(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """All words, those inside `Maybe` and `Many` too."""
    inner = (_flat(word.words) if isinstance(word, Maybe | Many) else (word,) for word in words)
    return tuple(word for some in inner for word in some)


def _frame_fault(
    words: tuple[Word, ...], call: CallObject | PythonCalls | None, *, addressed: bool
) -> str | None:
    first, last = words[0], words[-1]
    if isinstance(first, CallObject | PythonCalls):
        if not first.opens:
            return f"it begins with {shown(first)}, which then has to say what it `opens` with"
        if words[1:]:
            return f"{shown(words[1])} follows a bare {shown(first)}, which ends by itself"
        return None
    if not isinstance(first, Literal):
        return f"{shown(first)} comes first, so the format would begin everywhere; use a Literal"
    if call and call.opens:
        return "`opens` is for a CallObject() without an opening Literal"
    if isinstance(last, Many) and addressed:
        return _marks_fault(words, first)  # its message ends it
    if not isinstance(last, Literal | CallObject | PythonCalls | Arguments):
        return f"it ends with {shown(last)}, so a block never knows where it ends; use a Literal"
    return _marks_fault(words, first)


def _marks_fault(words: tuple[Word, ...], first: Literal) -> str | None:
    """Why the fixed texts of a block could not be found, or not be distinguished."""
    literals = [word for word in _flat(words) if isinstance(word, Literal)]
    if not all(text for word in literals for text in word.spellings):
        return "a Literal is empty, so it would be found everywhere"
    last = words[-1] if isinstance(words[-1], Literal) else first
    for text in (*first.spellings, *last.spellings):
        if not text.strip():
            advice = _blank_advice(words, text)
            return f"{text!r} opens or closes a call, and is found everywhere; {advice}"
    if usual := next((text for text in first.spellings if _in_words(text.strip())), None):
        return f"{usual!r} opens a call, and is in any sentence; use a longer text"
    if last is first:
        return None
    both = [text for text in last.spellings if text in first.spellings]
    unclear = next((text for text in both if len(text) < 3 or first.text != last.text), None)
    return f"{unclear!r} both opens and closes" if unclear else None


def _blank_advice(words: tuple[Word, ...], text: str) -> str:
    """What to do about an opener or a closer that is white space."""
    last, rest = words[-1], words[:-1]
    if not (isinstance(last, Literal) and text in last.spellings and len(words) > 2):
        return "add a character"
    if isinstance(rest[-1], Space):
        last, rest = rest[-1], rest[:-1]
    ends = isinstance(rest[-1], CallObject | Arguments | PythonCalls | Literal)
    on_lines = isinstance(rest[-1], PythonCalls) and not rest[-1].listed
    if on_lines or not ends:
        return "add a character"
    also = " and the Space() before it" if isinstance(last, Space) else ""
    return f"leave it out{also}, for {shown(rest[-1])} is where the call ends"


def _markup_fault(words: tuple[Word, ...]) -> str | None:
    for word in words:
        if isinstance(word, Space) and word.text.strip():
            return f"{word!r} writes more than white space"
        for pattern in _patterns(word):
            if fault := row_fault(pattern):
                return fault
        if isinstance(word, Name | Key) and (fault := name_fault(word)):
            return fault
        if isinstance(word, Name) and not re.fullmatch(word.after, word.after_text):
            return f"Name() has `after` {word.after!r}, which does not read {word.after_text!r}"
        if isinstance(word, Markup) and not re.fullmatch(word.pattern, word.text):
            return f"Markup({word.pattern!r}) does not read what it writes: {word.text!r}"
    return None


def _patterns(word: Word) -> tuple[str, ...]:
    if isinstance(word, Name):
        return (word.pattern, word.after)
    return (word.pattern,) if isinstance(word, Markup | Key) else ()


def _around_fault(words: tuple[Word, ...], around: tuple[Literal, ...]) -> str | None:
    """Why what is around all calls could not be distinguished from what is around one."""
    own = {text for word in (words[0], words[-1]) if isinstance(word, Literal)
           for text in word.spellings}  # fmt: skip
    for word in around:
        if shared := own & {*word.spellings}:
            return f"{shared.pop()!r} is around one call and around all of them"
        if usual := next(filter(_is_usual, filter(None, word.spellings)), None):
            return f"`around` has {usual!r}, which is found everywhere; it needs three characters"
    return None


def _dropped_fault(
    words: tuple[Word, ...], around: tuple[Literal, ...], dropped: tuple[str, ...]
) -> str | None:
    """Why what is dropped would be found everywhere, or is part of a call."""
    own = [word for word in (*words, *around) if isinstance(word, Literal)]
    texts = {text for word in own for text in word.spellings}
    for text in dropped:
        if _is_usual(text):
            return f"`dropped` has {text!r}, which is found everywhere; leave it out"
        if text in texts:
            return f"`dropped` has {text!r}, which is a Literal of the calls; leave it out"
    return None


_in_words = re.compile(r"[\w.,;:!?'\"()/-]").fullmatch
"""A character that every sentence may have."""


def _is_usual(text: str) -> bool:
    """Whether any prose has the text: white space, a sign or a letter, or two with a letter."""
    bare = text.strip()
    return not bare or bool(re.fullmatch(r"[!-~\w]|\w.|.\w", bare, re.DOTALL))


def _following_fault(
    words: tuple[Word, ...], around: tuple[Literal, ...], separator: str
) -> str | None:
    """Why a word would swallow what follows it, in the block or behind that."""
    if separator.strip():
        return f"the separator {separator!r} would be content; it may be white space, or nothing"
    gap, last = Space(separator), words[-1]
    if isinstance(last, Literal):
        return following_fault(words)
    behind = [word for word in (words[0], *around[1:]) if isinstance(word, Literal)]
    faults = (following_fault(words, (gap, word)) for word in behind)
    return next(filter(None, faults), None)
