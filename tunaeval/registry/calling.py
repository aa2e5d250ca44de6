"""Plug-ins as they are called: whatever one does, it ends in a result, or in its name.

What is `tunaeval`'s own keeps its promises by tests, and what it raises is a defect of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast, get_args

from tunaeval.errors import PluginError, TunaevalError, UsageError
from tunaeval.plugins import raised, returned, shown, who, words_of
from tunaeval.types import (
    Diagnosis,
    Level,
    Outcome,
    ParseResult,
    Reply,
    Request,
    ToolCall,
    Tools,
    Usage,
)
from tunaeval.types.roles import Client, Parser

from .shapes import instance_of

_PARSER, _CLIENT = "parser", "client"
_IS_CLIENT = instance_of(Client)
_ANSWER = "a ParseResult, whatever the text"
_OUTCOMES = frozenset(get_args(Outcome))


def guarded(parser: Parser) -> Parser:
    """The parser; one of somebody else's raises `PluginError` for whatever it does wrong."""
    is_ours = type(parser).__module__.partition(".")[0] == "tunaeval"
    return parser if is_ours else _Guarded(parser)


class _Guarded:
    """A parser of somebody else's."""

    def __init__(self, parser: Parser) -> None:
        self.name = getattr(parser, "name", type(parser).__name__)
        self._parser = parser

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        try:
            result: object = self._parser.parse(text, tools=tools, level=level)
        except (Exception, SystemExit) as error:
            raise raised(self._parser, _PARSER, error, _ANSWER) from error
        if not isinstance(result, ParseResult):
            raise returned(self._parser, _PARSER, shown(result), _ANSWER)
        for field, wanted, is_one in _FIELDS:
            value = getattr(result, field)
            if not is_one(value):
                what = f"a ParseResult with {field}={shown(value)}"
                raise returned(self._parser, _PARSER, what, wanted)
        return result


def _is_call(value: object) -> bool:
    if not isinstance(value, ToolCall):
        return False
    parts: tuple[object, object] = (value.name, value.arguments)
    return isinstance(parts[0], str) and isinstance(parts[1], dict)


_FIELDS: tuple[tuple[str, str, Callable[[Any], bool]], ...] = (
    ("calls", "a tuple of ToolCalls",
     lambda value: isinstance(value, tuple) and all(map(_is_call, value))),
    ("content", "a text", lambda value: isinstance(value, str)),
    ("reasoning", "a text, or None", lambda value: isinstance(value, str | None)),
    ("diagnoses", "a tuple of Diagnoses",
     lambda value: isinstance(value, tuple) and all(isinstance(one, Diagnosis) for one in value)),
    ("outcome", f"one of {', '.join(sorted(_OUTCOMES))}",
     lambda value: isinstance(value, str) and value in _OUTCOMES),
)  # fmt: skip
"""What the rest relies on in a ParseResult: a field, what it has to be, and whether it is."""


def made_client(maker: Callable[..., object], name: str, settings: Mapping[str, Any]) -> Client:
    """The client that is registered under a name, made with these settings.

    Raises PluginError where there comes no client of it, UsageError where the settings do not fit.
    """
    this = who(maker, _CLIENT, name)
    try:
        made = maker(**settings)
    except TunaevalError:
        raise
    except (Exception, SystemExit) as error:
        kind = UsageError if isinstance(error, TypeError) else PluginError
        given = f" with {', '.join(sorted(settings))}" if settings else ""
        raise kind(f"{this} cannot be made{given}: {words_of(error)}") from error
    if fault := _IS_CLIENT(made):
        raise PluginError(f"{this} made what is no client: {fault}")
    return cast("Client", made)


async def reply_of(client: Client, request: Request) -> Reply:
    """A client's reply. Raises what of ours it raises, TimeoutError, and PluginError for all else
    that it does in place of a reply.
    """
    try:
        reply: object = await client.complete(request)
    except (TunaevalError, TimeoutError):
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(f"{who(client, _CLIENT)} raised {words_of(error)}") from error
    if not (isinstance(reply, Reply) and isinstance(reply.message, dict)):
        given = f"{shown(reply)}, wanted a Reply with a message"
    elif not isinstance(reply.usage, Usage):
        given = f"a Reply with usage={shown(reply.usage)}, wanted a Usage"
    else:
        return reply
    raise PluginError(f"{who(client, _CLIENT)} gave {given}")


async def closed(client: Client) -> str | None:
    """Close a client; returns what went wrong in words, for it changes nothing that was had."""
    try:
        await client.close()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in's, given back by its name
        return f"{who(client, _CLIENT)} raised {words_of(error)} when it was closed"
    return None
