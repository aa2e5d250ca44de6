"""Calls parsers, clients and agents of others: what they do wrong becomes a PluginError."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, cast, get_args

from tunaeval.errors import (
    ClientSetupError,
    PluginError,
    TransportFailure,
    TunaevalError,
    UsageError,
)
from tunaeval.registry import raised, returned, who, words_of, words_with_place
from tunaeval.showing import brief

from .calls import STRUCTURED, ToolCall, Tools
from .copies import copied
from .exchange import AgentRun, Reply, Request, fault_of
from .parsing import Diagnosis, Level, Outcome, ParseResult
from .roles import Agent, Client, Parser
from .shapes import either_of, instance_of

_PARSER, _CLIENT = "parser", "client"
_no_client = either_of(instance_of(Client), instance_of(Agent))
_ANSWER = "a ParseResult, whatever the text"
_OUTCOMES = frozenset(get_args(Outcome))


def guarded(parser: Parser) -> Parser:
    """Return the parser; a third party's is wrapped so that its faults raise PluginError."""
    return parser if is_ours(parser) else _Guarded(parser)


def is_ours(thing: object) -> bool:
    """Whether its class is one of this package, so that it changes nothing that it is given."""
    return type(thing).__module__.partition(".")[0] == "tunaeval"


_UNNAMED = ("", STRUCTURED)


class _Guarded:
    """A third party's parser, which gets a copy of the tools, and whose errors and wrong results
    become PluginError.
    """

    def __init__(self, parser: Parser) -> None:
        self.name = getattr(parser, "name", type(parser).__name__)
        self._parser = parser
        self._tools: tuple[Tools | None, Tools | None] = (None, None)

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        given = self._tools
        if given[0] is not tools:
            given = self._tools = tools, copied(tools)
        try:
            result: object = self._parser.parse(text, tools=given[1], level=level)
        except (Exception, SystemExit) as error:
            raise raised(self._parser, _PARSER, error, _ANSWER) from error
        if not isinstance(result, ParseResult):
            raise returned(self._parser, _PARSER, brief(result), _ANSWER)
        for field, wanted, is_one in _FIELDS:
            value = getattr(result, field)
            if not is_one(value):
                what = f"a ParseResult with {field}={brief(value)}"
                raise returned(self._parser, _PARSER, what, wanted)
        if all(call.format not in _UNNAMED for call in result.calls):
            return result
        return replace(result, calls=tuple(map(self._named, result.calls)))

    def _named(self, call: ToolCall) -> ToolCall:
        """Return the call with a format: the parser's name, as it was read from a text by it."""
        return replace(call, format=self.name) if call.format in _UNNAMED else call


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
"""The fields of a ParseResult that callers rely on: name, what it must be in words, and a test."""


def made_client(maker: Callable[..., object], name: str, settings: Mapping[str, Any]) -> Client:
    """Make the client that is registered as `name` with these settings. Raises PluginError if
    `maker` fails or returns no client, UsageError if the settings do not fit.
    """
    this = who(maker, _CLIENT, name)
    try:
        made = maker(**settings)
    except TunaevalError:
        raise
    except (Exception, SystemExit) as error:
        kind = UsageError if isinstance(error, TypeError) else PluginError
        given = f" with {', '.join(sorted(settings))}" if settings else ""
        raise kind(f"{this} cannot be made{given}: {words_with_place(error)}") from error
    if fault := _no_client(made):
        raise PluginError(f"{this} made something that is no client: {fault}")
    return cast("Client", made)


async def reply_of(client: Client, request: Request) -> Reply:
    """Return a client's reply to the request. Raise PluginError for a wrong reply, and in place of
    any exception but TunaevalError and TimeoutError. The client gets a copy of the request, and
    what it does to its reply later has no effect. Raise ClientSetupError if the client is an agent,
    which does tasks and answers no single request.
    """
    if isinstance(client, Agent) and not hasattr(client, "complete"):
        raise ClientSetupError(
            f"scenario {request.scenario!r} is a single question, but a whole agent needs tasks of "
            "many turns; use a suite such as 'repair-tasks', or ask a model"
        )
    try:
        reply: object = copied(await client.complete(copied(request)))
    except (TunaevalError, TimeoutError):
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(f"{who(client, _CLIENT)} raised {words_with_place(error)}") from error
    if not isinstance(reply, Reply):
        given = f"{brief(reply)}, wanted a Reply with a message"
    elif fault := fault_of(reply):
        given = f"a Reply with {fault}"
    else:
        return reply
    raise PluginError(f"{who(client, _CLIENT)} gave {given}")


async def closed(client: Client) -> str | None:
    """Close a client. If that raises, return what went wrong, in words: no result is lost."""
    try:
        await client.close()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in may raise anything
        return f"{who(client, _CLIENT)} raised {words_with_place(error)} when it was closed"
    return None


async def in_time(
    agent: object, work: Callable[[], Awaitable[AgentRun]], seconds: float, *, grace: float = 0.0
) -> AgentRun:
    """Return the agent's run; an exception becomes its error, and a hanging agent is abandoned."""
    import asyncio  # noqa: PLC0415 - a parser that is checked needs none

    try:
        async with asyncio.timeout(seconds + grace):
            ran: Any = await work()
    except TimeoutError:
        return AgentRun("", ended="seconds", words=f"it took over {seconds:g} s")
    except TransportFailure:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - an agent may raise anything
        return AgentRun("", ended="error", words=f"{who(agent, 'agent')} raised {words_of(error)}")
    fault = f"{brief(ran)}, wanted an AgentRun with texts and a tuple of Replies"
    if (
        isinstance(ran, AgentRun)
        and all(map(isinstance, (ran.answer, ran.words, ran.replies), (str, str, tuple)))
        and all(isinstance(one, Reply) for one in ran.replies)
    ):
        found = next(filter(None, map(fault_of, ran.replies)), None)
        if found is None:
            return ran
        fault = f"a Reply with {found}"
    raise TransportFailure(f"{who(agent, 'agent')} gave {fault}", kind="body")
