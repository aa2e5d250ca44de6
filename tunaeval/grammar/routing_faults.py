"""Why the messages of an envelope could not be told apart; asked when a format is built."""

from __future__ import annotations

import re

from .patterns import pattern_fault
from .words import CallObject, Envelope, Literal, Route, Word


def envelope_fault(words: tuple[Word, ...], envelope: Envelope | None) -> str | None:
    """Why a format with this envelope could never be read, if so."""
    if envelope is None:
        return None
    if not any(route.channel == "call" for route in envelope.routes):
        return "no route of its envelope leads to a call"
    if not all((*envelope.opens.spellings, *envelope.closes.spellings)):
        return "a text that opens or closes a message is empty"
    if shared := {*envelope.opens.spellings} & {*envelope.closes.spellings}:
        return f"{shared.pop()!r} both opens and closes a message"
    for route in envelope.routes:
        if fault := _route_fault(route):
            return fault
    return _call_fault(words, envelope)


def _route_fault(route: Route) -> str | None:
    if not route.body:
        return f"{route!r} has no `body`, so its header never ends"
    if fault := pattern_fault(route.header):
        return fault
    if re.fullmatch(route.header, route.body):
        return f"the header {route.header!r} would swallow {route.body!r}, which ends it"
    return None


def _call_fault(words: tuple[Word, ...], envelope: Envelope) -> str | None:
    """Why a call could not be written and found again."""
    route, first = envelope.call, words[0]
    written = route.text.replace("{name}", "a_tool")
    if not re.fullmatch(route.header, written):
        if not written:
            how = "'to={name}', with {name} where the name goes" if envelope.names else "'HEADER'"
            return (
                f"the Route with the header {route.header!r} has no `text`, which is how that "
                f"header is written; add it, as in text={how}"
            )
        return f"the header {route.header!r} does not read what it writes: {written!r}"
    if not envelope.names or any(isinstance(word, CallObject) for word in words):
        return None
    if not (isinstance(first, Literal) and first.text == route.body):
        return f"the name is in the header, so the first word has to be {route.body!r}"
    if "{name}" not in route.text:
        return f"the name is in the header, but {route.text!r} does not say where: {{name}}"
    return None
