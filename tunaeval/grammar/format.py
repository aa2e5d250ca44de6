"""Wire formats (`Format`): how a model writes calls, as a sequence of words or as a pattern.

Each word says what is read at its place in the text of a call, and what is written there.

A pattern is the text of a call with placeholders in ⟨ ⟩. No format has these brackets, so all text
outside of them is fixed. `Format.of` describes the placeholders and white space.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import InitVar, dataclass, field, fields, replace
from typing import Any, TypeVar, get_args

from tunaeval.errors import FormatError, UnknownNameError, UsageError
from tunaeval.limits import MAX_FIXED

from .check import UNSEEN, bound_fault, is_usual, order_fault, shown, word_faults
from .turns import FAMILIES, Turns
from .words import (
    ANY_NAME,
    ANY_SPACE,
    THINKING,
    TYPE_NAME,
    WITH_COLONS,
    Arguments,
    CallObject,
    Channel,
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
    Route,
    Space,
    Trim,
    Value,
    Word,
    flat,
    literal_texts,
    spellings,
)

_FOUND = (
    ("opener", slice(1), Literal),
    ("closer", slice(-1, None), Literal),
    ("call", slice(None), CallObject),
    ("python", slice(None), PythonCalls),
)
"""The derived fields of a format: the first word of a class among those of a slice."""


@dataclass(frozen=True, slots=True)
class Format:
    """A wire format: how a model writes calls as text. Taken wherever a `Parser` is.

    Attributes:
        name: The name of the format for `format=` and `--format`.
        words: The parts of a call, in order; `of` reads them from a pattern.
        marked: True if the opener alone announces a call, so that the text after it is an attempt
            even if it is damaged. A bare object or a code fence announces nothing.
        around: The texts before the first call and after the last call of a reply.
        inner: The text that is written between these two and the calls; by default `separator`.
        envelope: The frame and headers of messages, for models that write every output in messages.
        dropped: Tokens around content that are removed when a text is read, and never written.
        prompted: True if the prompt ends with the opener, so that a text that is read in this
            format alone may begin after the opener.
        whole: True if nothing marks a call, so that a whole reply, or a whole code fence in it,
            has to be calls. `auto` reads such a format only if tools are given.
        by_tool: True if a call is an element named after its tool, so that only the tag of one of
            the given tools begins a call.
        tool: The tool for which `of_tool` made this format.
        also: Formats that are read under this name too, because the same models write them.
        separator: The text that is written between two calls.
        reasoning: The markers of reasoning.
        turns: The families of templates whose markers of turns are known where it is read.
        aliases: Servers' names of the format (`--tool-call-parser`, `--reasoning-parser`).
        models: The models that write calls in this format.
        summary: A description of a call's text in a few words.
        checked: False to skip the check of a new format, as for the built-in ones (tests do that).
        opener: The fixed text that begins a block; None if a block begins with another word.
        closer: The fixed text that ends a block; None if a block ends with another word.
        call: The word for a whole call as a JSON object; None if the format has no such word.
        python: The word for Python calls; None if the format has no such word.

    Examples:
        >>> shape = tunaeval.formats.get("hermes")
        >>> tunaeval.parse('<tool_call>{"name": "ls", "arguments": {}}</tool_call>', shape).outcome
        'calls'
    """

    name: str
    words: tuple[Word, ...]
    marked: bool = True
    around: tuple[Literal, Literal] | None = None
    inner: str | None = None
    envelope: Envelope | None = None
    dropped: tuple[str, ...] = ()
    prompted: bool = False
    whole: bool = False
    by_tool: bool = False
    tool: str = ""
    also: tuple[Format, ...] = ()
    separator: str = "\n"
    reasoning: tuple[Reasoning, ...] = THINKING
    turns: tuple[Turns, ...] = FAMILIES
    aliases: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    summary: str = ""
    checked: InitVar[bool] = True
    # What follows from `words` is asked for with each block, so it is found once.
    opener: Literal | None = field(init=False, repr=False, compare=False)
    closer: Literal | None = field(init=False, repr=False, compare=False)
    call: CallObject | None = field(init=False, repr=False, compare=False)
    python: PythonCalls | None = field(init=False, repr=False, compare=False)
    trusted: bool = field(init=False, repr=False, compare=False)
    """Whether nothing is checked, so that nobody tries whether its calls are read back."""

    def __post_init__(self, checked: bool) -> None:
        words: Any = self.words  # of any type until it is checked
        for name, place, kind in _FOUND:
            among = words[place] if isinstance(words, tuple) else ()
            found = next((word for word in among if isinstance(word, kind)), None)
            object.__setattr__(self, name, found)
        object.__setattr__(self, "trusted", not checked)
        if not checked:
            return
        if fault := next(filter(None, _faults(self)), None):
            raise FormatError(f"format {self.name!r}: {fault}")

    @classmethod
    def of(
        cls,
        name: str,
        pattern: str,
        *,
        around: tuple[str | Literal, str | Literal] | None = None,
        opens: Iterable[tuple[str, ...]] | None = None,
        **options: Any,
    ) -> Format:
        r"""Return the format that `pattern` shows: what a model writes, with placeholders in ⟨ ⟩.

        | placeholder | what is read and written there |
        |---|---|
        | `⟨call⟩`, `⟨[call]⟩` | a call as a JSON object; a list of them |
        | `⟨calls⟩`, `⟨[calls]⟩` | calls as Python writes them, on lines; in a list |
        | `⟨name⟩` | the tool's name |
        | `⟨arguments⟩` | all arguments as one JSON object |
        | `⟨each⟩...⟨/each⟩` | once for each argument, with `⟨key⟩` and `⟨value⟩` in it |
        | `⟨type⟩` | the type of the next value: `string`, `object`, ... |
        | `⟨elements prefix=!⟩!` | all arguments as elements: `!<key>value!</key>` |
        | `⟨maybe⟩...⟨/maybe⟩` | what may be missing; written with `⟨maybe written⟩` |
        | `⟨skip text=1 pattern=[0-9]?⟩` | a text that is read and dropped |
        | `⟨text¦other¦third⟩` | fixed text with other spellings that are read |
        | `⟨⟩`, `⟨ ⟩` | any white space or none; what the brackets contain is written |
        | `⟨=text⟩` | fixed text whose white space is exact: `⟨=\n⟩` |

        All else is fixed text; `⟨|⟩` is where one ends and the next begins. White space that
        touches a placeholder, and any with a newline in it, may be read as any other white space or
        none; other blanks are part of the fixed text.

        Options of a placeholder are the fields of its word: `⟨call name=do arguments=with⟩`,
        `⟨[call] keyed⟩`, `⟨key pattern=[a-z]{1,9}⟩`, `⟨value trim=newline⟩`. A value with a blank
        is between backticks: ``⟨call joined=`; `⟩``. A name may have colons, unless one follows.

        `around` are texts in the same notation. A call without fixed text before it is found where
        it begins as one of the rows `opens`, and is not marked. All other options are fields of the
        format.

        Examples:
            >>> shape = tunaeval.Format.of("mine", "<call>⟨name⟩\n⟨arguments⟩</call>")
            >>> tunaeval.parse('<call>ls {"depth": 1}</call>', shape).calls[0].arguments
            {'depth': 1}
        """
        try:
            words = _bare(_words_of(pattern), opens)
            pair: Any = (*map(_fixed_text, around),) if isinstance(around, tuple) else around
            for option in options.keys() - {*(known := (*cls.__match_args__[2:], "opens"))}:
                raise UnknownNameError("option", option, known)
        except UsageError as fault:
            raise FormatError(f"format {name!r}: {fault}") from None
        marked = bool(words) and isinstance(words[0], Literal)
        return cls(name, words, around=pair, **{"marked": marked, **options})

    def __hash__(self) -> int:
        """Hash the name only, which equal formats share: to hash all words would take 20 µs."""
        return hash(self.name)

    @property
    def several(self) -> bool:
        """Whether one block may have several calls; otherwise each call has a block of its own."""
        return bool(self.python or (self.call and (self.call.array or self.call.joined)))

    @property
    def addressed(self) -> bool:
        """Whether the tool's name is in a message's header, so a call begins only there."""
        return self.envelope is not None and self.envelope.names and self.call is None

    def of_tool(self, name: str) -> Format:
        """Return the format of one tool's element, with the tool's tags as fixed text.

        This is for formats with `by_tool`, which always have the same words: the name is the second
        word and the last but one.
        """
        closers = ("</function>",) if any(isinstance(word, Many) for word in self.words) else ()
        closer = Literal(f"</{name}>", closers)
        words = (Literal(f"<{name}>"), *self.words[3:-3], closer)
        return replace(self, words=words, by_tool=False, tool=name, checked=False)

    def without_reasoning(self) -> Format:
        """Return the format for text whose reasoning was taken out: no marker in it means any."""
        envelope = self.envelope
        if envelope is not None:
            heard = (
                (r, "content" if r.channel == "reasoning" else r.channel) for r in envelope.routes
            )
            routes = tuple(replace(route, channel=channel) for route, channel in heard)
            envelope = replace(envelope, routes=routes)
        return replace(self, reasoning=(), envelope=envelope, checked=False)


def _faults(form: Format) -> Iterator[str | None]:
    yield from _type_faults(form, "", "Format")
    if not re.fullmatch(r"[a-z0-9]+(?:[-._][a-z0-9]+)*", form.name):
        allowed = "lower-case letters and digits, joined by '-', '.' or '_'"
        yield f"name is {form.name!r:.60}; a name is {allowed}"
    if form.whole or form.by_tool:
        yield from _unmarked_faults(form)
    else:
        yield from _envelope_faults(form, form.envelope) if form.envelope else ()
        # If the name is in the message's header, the block has only the arguments.
        is_addressed = form.addressed and not form.python
        yield order_fault(form.words, "addressed" if is_addressed else "block")
        yield from _frame_faults(form)
        yield from _mark_faults(form)
    for word in flat(form.words):
        yield from word_faults(word)
    yield from _beside_faults(form)


_CHOICES = {"Trim": get_args(Trim), "Channel": get_args(Channel)}
_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "str": (str, "{0}"),
    "bool": (bool, "True or False"),
    "Word": (get_args(Word), "Literal({0})"),
    "Literal": (Literal, "Literal({0})"),
    "Reasoning": (Reasoning, "Reasoning({0}, {1})"),
    "Route": (Route, "Route('call', 'HEADER', 'BODY')"),
    "Envelope": (Envelope, "Envelope(Literal({0}), (Route(...), ...), Literal({1}))"),
    "Format": (Format, "tunaeval.formats.get({0})"),
    "Turns": (Turns, "one of tunaeval.grammar.turns.FAMILIES"),
}
"""The types of each field annotation, and an example of a value, in which {0} and {1} are texts."""

_ANY_LENGTH = re.compile(r"(?:name|summary|(?:models|aliases)\[.*)|.*\.(?:pattern|after|header)")
"""The places of strings without a length limit: descriptions, and patterns (bounded elsewhere)."""


def _type_faults(value: Any, place: str, kind: str) -> Iterator[str]:
    """Yield a message for each value, at `place` or inside, whose type is not `kind`.

    `kind` is an annotation as text, as in "tuple[str, ...]"; `place` is a path, as in "words[0]".
    """
    kind = "" if kind.endswith(" | None") and value is None else kind.removesuffix(" | None")
    if kind.startswith("tuple["):
        inner, _, last = kind[6:-1].rpartition(", ")
        if not isinstance(value, tuple) or (last != "..." and len(value) != 2):
            yield f"{place} is {value!r:.60}; write a tuple: {_example(value, kind)}"
            return
        for at, one in enumerate(value):
            yield from _type_faults(one, f"{place}[{at}]", inner)
    elif kind in _CHOICES and value not in _CHOICES[kind]:
        known = ", ".join(map(repr, _CHOICES[kind]))
        yield f"{place} is {value!r:.60}; it is one of {known}"
    elif kind == "Format" and not isinstance(value, Format | str):
        yield f"{place} is {value!r:.60}, and no Format; of a Reader, give those in its `formats`"
    elif kind in _KINDS and not isinstance(value, _KINDS[kind][0]):
        yield f"{place} is {value!r:.60}; write {_example(value, kind)}"
    elif kind == "str" and len(value) > MAX_FIXED and not _ANY_LENGTH.fullmatch(place):
        found = f"{place} has {len(value)} characters"
        yield f"{found}; a fixed text has {MAX_FIXED} at the most, and several may be side by side"
    elif not place or (kind in _KINDS and kind not in ("str", "bool", "Format", "Turns")):
        for field in fields(value):
            yield from _type_faults(
                getattr(value, field.name), f"{place}.{field.name}".lstrip("."), str(field.type)
            )


def _example(value: object, kind: str) -> str:
    """Return an example, as Python code, of a value of the annotation `kind`.

    If `value` is a string, the example contains it, as the author probably meant that.
    """
    text = value if isinstance(value, str) else "hermes" if "Format" in kind else "<call>"
    signs = text[: len(text) - len(text.lstrip("<[{(|"))]
    closer = f"{signs}/{text[len(signs) :]}" if signs else text
    if not kind.startswith("tuple["):
        return _KINDS[kind][1].format(f"{text!r:.60}", f"{closer!r:.60}")
    inner, _, last = kind[6:-1].rpartition(", ")
    second = "" if last == "..." else f" {_example(closer, last)}"
    return f"({_example(text, inner)},{second})"


def _is_known_shape(form: Format) -> bool:
    """Whether a format's words are a sequence that its option, `whole` or `by_tool`, supports."""
    match form.words:
        case (CallObject(inside=(_, *_), listed=True),) | (PythonCalls(loose=True),):
            return form.whole
        case (Name(), Literal(), Arguments(mark="", optional=False)):
            return form.whole
        case (
            Literal("<", ()), Name(), Literal(">", ()), Space(), Arguments(optional=True),
            Elements(""), Space(), Literal("</", ()), Name(), Literal(">", ()),
        ) | (
            Literal("<", ()), Name(), Literal(">", ()), Space(), Many(),
            Literal("</", ()), Name(), Literal(">", ()),
        ):  # fmt: skip
            return not form.whole
    return False


def _unmarked_faults(form: Format) -> Iterator[str]:
    if not _is_known_shape(form):
        rows = "⟨[call] inside=...⟩, ⟨calls loose⟩, or ⟨name⟩, a fixed text and ⟨arguments⟩"
        element = r"<⟨name⟩>\n⟨arguments optional⟩⟨elements⟩\n</⟨name⟩>"
        yield f"whole=True is for {rows}" if form.whole else f"by_tool=True is for {element}"
    beside = form.envelope or form.around or form.dropped or form.prompted
    if beside or form.marked is form.whole:
        yield "whole wants marked=False, by_tool marked=True, and both nothing around the calls"


def _frame_faults(form: Format) -> Iterator[str]:
    call = form.call or form.python
    if not form.opener and not (call and call.opens):
        first, whole = shown(form.words[0]), "if it is all of a reply, whole=True and marked=False"
        yield f"it begins with {first}, which needs `opens` to be found; or, {whole}"
    if not form.opener and form.marked:
        yield "nothing announces a call without fixed text before it; write marked=False"
    if form.opener and call and call.opens:
        yield "`opens` is for a call without fixed text"
    for text in (*spellings(form.opener), *spellings(form.closer)):
        if not text.strip(UNSEEN):
            yield f"{text!r} is found everywhere; leave it out, or add a character"
    for text in spellings(form.opener):
        if text.strip(UNSEEN) and is_usual(text, opens_calls=True):
            yield f"{text!r} opens a call, and is in any sentence; use a longer text"
    if form.prompted and (not form.opener or form.envelope):
        yield "prompted=True wants fixed text first, which the prompt then ends with"


def _mark_faults(form: Format) -> Iterator[str]:
    texts = [*literal_texts(form.words)]
    keys = (form.call.name, form.call.arguments) if form.call else ()
    if keys and len({key for key in keys if key and not re.search(r"[\"',\\]", key)}) < len(keys):
        yield f"⟨call⟩ has the keys {keys}; write two different ones, without quotes or commas"
    for mark in [word.mark for word in flat(form.words) if isinstance(word, Arguments)]:
        repeats = any(mark.startswith(mark[at:]) for at in range(1, len(mark)))
        begins = any(mark.startswith(text) or text.startswith(mark) for text in texts)
        if mark and (re.match(r"[\w\s:,={}\[\]\"'+.-]", mark) or repeats or begins):
            yield f"the mark {mark!r} may be in a value, a text or another mark; use other signs"


def _beside_faults(form: Format) -> Iterator[str]:
    calls = [*literal_texts(form.words)]
    around = [*filter(None, literal_texts(form.around or ()))]
    for name, text in {"separator": form.separator, "inner": form.inner or ""}.items():
        if text.strip():
            yield f"the {name} {text!r} would be content; write white space, or nothing"
    for markers in form.reasoning:
        if markers.open == markers.close or "" in (markers.open, markers.close):
            yield f"{markers!r} cannot be distinguished; give two different texts"
        if markers.close in calls:
            yield f"{markers!r} close the calls too"
    for place, texts, others in (
        ("around", around, (*spellings(form.opener), *spellings(form.closer))),
        ("dropped", form.dropped, (*calls, *around)),
        ("reasoning", [markers.open for markers in form.reasoning], calls),
    ):
        for text in texts:
            if is_usual(text):
                yield f"`{place}` has {text!r}, found everywhere; it needs three characters"
            if text in others:
                yield f"`{place}` has {text!r}, which is fixed text of the calls; leave it out"


def _envelope_faults(form: Format, envelope: Envelope) -> Iterator[str | None]:
    opens, closes = envelope.opens.spellings, envelope.closes.spellings
    if all(route.channel != "call" for route in envelope.routes):
        yield "no route of its envelope leads to a call"
    if not all((*opens, *closes)):
        yield "a text that opens or closes a message is empty"
    if both := {*opens} & {*closes}:
        yield f"{both} both opens and closes a message"
    for route in envelope.routes:
        yield bound_fault(route.header)
        if not route.body:
            yield f"{route!r} has no `body`, so its header never ends"
        if re.fullmatch(route.header, route.body):
            yield f"the header {route.header!r} would swallow {route.body!r}, which ends it"
    if not envelope.call.text and not re.fullmatch(envelope.call.header, ""):
        header, text = envelope.call.header, "text='to={name}'"
        yield f"the header {header!r} cannot be written: its Route has no `text`, as in {text}"
    if form.addressed and spellings(form.opener)[:1] != (envelope.call.body,):
        yield f"the name is in the header, so the first word has to be {envelope.call.body!r}"


_W = TypeVar("_W", bound=Word)

PLACEHOLDERS: dict[str, Word] = {
    "call": CallObject(), "[call]": CallObject(array=True, listed=True),
    "calls": PythonCalls(listed=False), "[calls]": PythonCalls(), "name": Name(WITH_COLONS),
    "arguments": Arguments(), "key": Key(), "value": Value(), "type": TYPE_NAME,
    "elements": Elements(""), "skip": Markup("", ""),
}  # fmt: skip
"""The word of each placeholder; options of a placeholder change fields of the word."""

_MARKS: dict[str, Many | Maybe] = {"each": Many(()), "maybe": Maybe(())}
"""The placeholders in pairs, as `⟨each⟩...⟨/each⟩`, and the word that gets what is between."""

_TOKEN = re.compile("⟨([^⟨⟩]*)⟩|([^⟨⟩]+)|.")
_EXACT = re.compile("⟨=([^⟨⟩¦]*)⟩")
_GAP = re.compile(r"(\A[ \t\r\n]+|[ \t\r]*\n[ \t\r\n]*|[ \t\r\n]+\Z)")
_OPTION = re.compile(r"\s+(\w+)(?:=(?:`([^`]*)`|(\S*)))?(?=\s|\Z)")
_LOST = re.compile(r"[ \t\r\n]+(?:\Z|⟨(?![=|]|[^⟨⟩]*¦))")

_KEPT = {ord(char): 0xE000 + ord(char) for char in " \t\r\n"}
_BACK = {kept: char for char, kept in _KEPT.items()}
"""Replacements that protect exact white space while a pattern is split at other white space."""


def _words_of(pattern: object) -> tuple[Word, ...]:
    """Return the words of a pattern; raise `FormatError` about what is wrong in the pattern."""
    if not isinstance(pattern, str) or _LOST.match(pattern):
        wanted = "a text that begins with a placeholder or fixed text, as white space marks nothing"
        raise FormatError(f"the pattern is {pattern!r:.60}, and has to be {wanted}")
    exact = _EXACT.sub(lambda found: found[1].translate(_KEPT), pattern.strip(" \t\r\n"))
    rows: list[tuple[str, list[Word]]] = [("", [])]  # the open pairs, each with its words
    for token in _TOKEN.finditer(exact):
        inside, text = token.groups()
        if text is not None:
            for at, piece in enumerate(_GAP.split(text)):
                if piece:
                    word = Space(piece) if at % 2 else Literal(piece.translate(_BACK))
                    rows[-1][1].append(word)
        elif inside is None:
            at = pattern.rfind(token[0])
            excerpt = pattern[max(0, at - 20) : at + 20]
            raise FormatError(f"{token[0]} at {excerpt!r} has no other bracket")
        elif inside != "|" and not _is_mark(inside, rows):
            rows[-1][1].append(_word(inside))
    if opened := rows[-1][0].partition(" ")[0]:
        raise FormatError(f"⟨{opened}⟩ has no ⟨/{opened}⟩ behind it")
    return _finished(rows[0][1])


def _fixed_text(pattern: str | Literal) -> Literal:
    """Return the fixed text that is all of a pattern; raise `FormatError` for another pattern."""
    words = _words_of(pattern) or (Literal(""),) if isinstance(pattern, str) else (pattern,)
    if len(words) == 1 and isinstance(words[0], Literal):
        return words[0]
    raise FormatError(f"{pattern!r} has more than one fixed text")


def _bare(words: tuple[Word, ...], opens: Any) -> tuple[Word, ...]:
    """Return the words; if the only one is a call, its `opens` are set, to a default if None."""
    match words:
        case (CallObject(inside=(), array=array) as word,):
            rows = [("{", ANY_SPACE, '"'), ("[", ANY_SPACE, "{", ANY_SPACE, '"')][: 1 + array]
        case (PythonCalls(loose=False) as word,):
            rows = [("[", ANY_SPACE, ANY_NAME, "(")]
        case _ if opens and words and isinstance(words[0], Literal):
            raise FormatError("`opens` is for a call without fixed text before it; leave it out")
        case _:
            return words
    return (replace(word, opens=(*opens,) if isinstance(opens, Iterable) else opens or (*rows,)),)


def _is_mark(inside: str, rows: list[tuple[str, list[Word]]]) -> bool:
    """Open or close a pair, as `⟨each⟩...⟨/each⟩`, in `rows`; False if `inside` is no such mark."""
    kind = inside.removeprefix("/").partition(" ")[0]
    if "¦" in inside or not (inside.startswith("/") or kind in _MARKS):
        return False
    if not inside.startswith("/"):
        rows.append((inside, []))
        return True
    opened, row = rows[-1]
    if kind != opened.partition(" ")[0]:
        raise FormatError(f"⟨{inside}⟩ has no ⟨{kind}⟩ before it")
    rows.pop()
    rows[-1][1].append(replace(_with_options(_MARKS[kind], opened, kind), words=_finished(row)))
    return True


def _word(inside: str) -> Word:
    inside = inside.translate(_BACK)
    if "¦" in inside:
        text, *also = inside.split("¦")
        return Literal(text, (*also,))
    if not inside.strip(" \t\r\n"):
        return Space(inside)
    kind = inside.partition(" ")[0]
    if kind not in PLACEHOLDERS:
        others = "text¦other spelling", "=exact text", "", " ", "|"
        known = ", ".join(f"⟨{name}⟩" for name in (*PLACEHOLDERS, *_MARKS, *others))
        near = UnknownNameError("", kind.lower(), (*PLACEHOLDERS, *_MARKS)).near
        meant = f"; did you mean ⟨{'⟩ or ⟨'.join(near)}⟩?" if near else ""
        raise FormatError(f"⟨{inside}⟩ is no placeholder; there are {known}{meant}")
    return _with_options(PLACEHOLDERS[kind], inside, kind)


def _with_options(word: _W, inside: str, kind: str) -> _W:
    """Return the word with the fields changed by the options after `kind` in `inside`."""
    changes: dict[str, Any] = {}
    at, end = len(kind), len(inside)
    known = [field.name for field in fields(word) if field.name not in ("words", "opens")]
    while at < end:
        found = _OPTION.match(inside, at)
        if found is None or found[1] not in known:
            options = f"{', '.join(known)}, as in ⟨{kind} {known[0]}=`a b`⟩" if known else "none"
            given = inside[at:].strip()
            raise FormatError(f"⟨{inside}⟩ has the option {given!r}; ⟨{kind}⟩ has {options}")
        if found[1] in changes:
            raise FormatError(f"⟨{inside}⟩ has the option {found[1]} twice")
        usual, at = getattr(word, found[1]), found.end()
        value = found[2] if found[2] is not None else found[3]
        if (value is None) != isinstance(usual, bool):
            what = "is written without a value" if value is not None else "needs a value"
            raise FormatError(f"⟨{inside}⟩: the option {found[1]} {what}")
        if isinstance(usual, tuple):
            value = (*value.split(","),)
        changes[found[1]] = True if value is None else value
    return replace(word, **changes)


def _finished(row: list[Word]) -> tuple[Word, ...]:
    """Return the words with adjacent `Space`s joined; a name before a colon may have no colons.

    A key before white space, which models leave out, may not have the sign that is to come next.
    """
    done: list[Word] = []
    for at, (word, after) in enumerate(zip(row, (*row[1:], None), strict=False)):
        if isinstance(word, Name) and word.pattern == WITH_COLONS:
            first = after.words[0] if isinstance(after, Many | Maybe) and after.words else after
            texts = first.spellings if isinstance(first, Literal) else ()
            if ":" in word.after or any(text.startswith(":") for text in texts):
                word = replace(word, pattern=Name().pattern)  # noqa: PLW2901 - the same word
        elif word == Key() and isinstance(after, Space):
            sign = next((one.text[:1] for one in row[at:] if isinstance(one, Literal)), "")
            if re.fullmatch(r"[^\w\s]", sign):
                pattern = rf"[^<>\"'\s{re.escape(sign)}]{{1,200}}"
                word = Key(pattern)  # noqa: PLW2901 - the same word
        elif isinstance(word, Space) and done and isinstance(before := done[-1], Space):
            done[-1] = Space(before.text + word.text)
            continue
        done.append(word)
    return (*done,)
