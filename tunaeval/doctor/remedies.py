"""What repairs a fault: the exact flag for the recognised server, and threads that report it.

A remedy is looked up by fault and server. Where several help, they come in this order: a missing
flag, the right parser, a template, a newer version, a workaround. The names of parsers are those of
the server's version that the registry of formats knows as names of the model's format.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from typing import NamedTuple

from tunaeval.grammar.formats import FORMATS, SETS
from tunaeval.grammar.words import THINK, THINKING
from tunaeval.parsing.api import formats

from .values import ServerIdentity


class Offered(NamedTuple):
    """The names that a version of a server takes for its parsers, without deprecated ones.

    `thinkers` are its reasoning parsers, and `better` are names that fit a format better than those
    that the registry would choose.
    """

    version: str
    parsers: tuple[str, ...]
    thinkers: tuple[str, ...]
    better: Mapping[str, str]


_DATA = json.loads(files(__package__).joinpath("remedies.json").read_text("utf-8"))
OFFERED = {
    kind: Offered(
        of["version"], (*of["parsers"].split(),), (*of["thinkers"].split(),), of["better"]
    )
    for kind, of in _DATA["engines"].items()
}
REMEDIES: dict[str, dict[str, str]] = _DATA["remedies"]
"""The advice on each fault by the kind of server, "" for any; words in braces are filled in."""
_DEPRECATED = {"qwen25": "qwen", "glm45": "glm"}
"""Names of tool parsers that SGLang 0.5.23 replaces, with a warning, by others."""
_MARKERS = {
    **{r.open: f.name for f in reversed(FORMATS.values()) for r in f.reasoning},
    **dict.fromkeys((r.open for r in THINKING), None),
    "<|channel|>analysis": "harmony",
    "◁think▷": "kimi",
}
"""The formats, or the parsers, that mark reasoning in a way of their own, by the marker."""


def parser_name(kind: str, form: str | None, thought: str | None = None) -> str | None:
    """Return the name that a server has for the parser of a format, or None if none is known.

    With `thought`, a text with reasoning in it, it is the name of the reasoning parser.
    """
    offered = OFFERED.get(kind)
    if offered is None:
        return None
    what = "parsers"
    if thought is not None:
        what = "thinkers"
        form = next((of for mark, of in _MARKERS.items() if of and mark in thought), form)
    if better := offered.better.get(f"{what} {form}"):
        return better
    known, plain = formats.aliases(), (form or "").translate(_PLAIN)

    def reads(name: str) -> bool:
        of = known.get(name, name)
        named = (of, *(one.name for one in SETS.get(of, ())))
        return form in named or name.translate(_PLAIN) == plain

    def rank(name: str) -> tuple[bool, ...]:
        theirs = name.translate(_PLAIN)
        return plain != theirs, not plain.startswith(theirs), name in known

    usual = "qwen3" if thought and THINK.open in thought else None
    return min(filter(reads, getattr(offered, what)), key=rank, default=usual)


_PLAIN = str.maketrans("", "", "-_.")


def remedy(
    fault: str,
    server: ServerIdentity,
    form: str | None = None,
    *,
    thought: str | None = None,
    parses: bool = False,
) -> str:
    """Return the advice on a fault of this server.

    `form` is the format of the model's calls, `thought` a text with its reasoning. `parses` says
    that the server parses some of the calls. Flags that the server has already are not advised.
    """
    name = parser_name(server.kind, form)
    has = server.parser and _DEPRECATED.get(server.parser, server.parser)
    if fault in ("calls-in-content", "calls-lost") and (parses or has) and has in (None, name):
        fault = "calls-lost" if fault == "calls-lost" and not has else f"{fault}-sometimes"
    if fault == "reasoning-leaks" and server.facts.get("reasoning_parser"):
        fault = "reasoning-leaks-sometimes"
    family = fault.partition("-")[0]
    by_kind = REMEDIES.get(fault) or REMEDIES.get(family) or {"": "{newer}; {parse}"}
    words = by_kind.get(server.kind) or by_kind[""]
    words = _with_plug_in(words, fault, server, form)
    flags = {"flags": _flags(server, form), "thinker": _flags(server, form, thought or "")}
    for name, text in (*_DATA["phrases"].items(), *flags.items()):
        words = words.replace(f"{{{name}}}", text)
    threads = _DATA["threads"].get(server.kind, {})
    numbers = (threads.get(fault) or threads.get(family) or "").split()
    cited = ", ".join(f"{threads['repository']}#{number}" for number in numbers)
    seen = f" (reported in {cited})" if cited else ""
    return words + seen + str(_DATA["behind"].get(server.kind, ""))


def _with_plug_in(words: str, fault: str, server: ServerIdentity, form: str | None) -> str:
    """Return the advice with the parser of tunaeval for this server behind the server's own flags,
    if it reads what the model writes. A client that gets no text cannot parse it.
    """
    is_lost = fault.startswith("calls-lost")
    is_refused = server.kind == "vLLM" and form == "harmony"  # it serves gpt-oss by its own parser
    own, parse, rest = words.partition("; {parse}")
    if server.kind not in OFFERED or is_refused or (server.parser or "").startswith("tunaeval"):
        return own + rest if is_lost else words
    if not (is_lost or (form and (parse or fault.startswith(_OF_READING)))):
        return words
    name = f"tunaeval-{form}" if form else "tunaeval"
    flags = f"{_AUTO.get(server.kind, '')}--tool-call-parser {name}"
    ours = (
        f"; or have tunaeval read the calls in {server.kind}: install it there, start with {flags}"
    )
    return own + ours + ("" if is_lost else parse + rest)


_OF_READING = ("stream-differs", "empty-arguments", "cut-")
"""How the faults of reading begin whose advice is not to parse the text."""

_AUTO = {"vLLM": "--enable-auto-tool-choice "}


def _flags(server: ServerIdentity, form: str | None, thought: str | None = None) -> str:
    """Return the flags that name a parser, or for an unknown server those of each that has some."""
    option = "--tool-call-parser" if thought is None else "--reasoning-parser"
    if server.kind not in OFFERED:
        each = (replace(server, kind=kind, version=None) for kind in OFFERED)
        return "; ".join(f"{one.kind}: {_flags(one, form, thought)}" for one in each)
    auto = _AUTO.get(server.kind, "") if thought is None else ""
    name, of = parser_name(server.kind, form, thought), OFFERED[server.kind].version
    if name is None:
        return f"{auto}{option} P (one for this model; {server.kind} {of} has none that is known)"
    version = server.version or of
    other = "" if version.startswith(of) else f" (so it is called in {server.kind} {of})"
    return f"{auto}{option} {name}{other}"
