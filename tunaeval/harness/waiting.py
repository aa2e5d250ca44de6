"""The only place where an episode meets a client: its answer, or why there is none in time."""

from __future__ import annotations

from dataclasses import replace

from tunaeval.errors import PluginError, TransportFailure
from tunaeval.registry import reply_of
from tunaeval.types import Deadline, Reply, Request
from tunaeval.types.roles import Client
from tunaeval.waits import Limited

HOPELESS = frozenset({"connect", "refused"})
"""Kinds of failures that every request would meet where the address or the key is wrong."""


async def answer_of(
    client: Client, request: Request, deadline: Deadline
) -> Reply | TransportFailure:
    """The client's answer. It knows how long it is waited for, so that it can say in time what
    a server answered instead; only one that keeps silent is cut off.

    The client may stop the deadline while it keeps a pause that concerns every request.
    """
    request = replace(request, within_seconds=max(0.0, deadline.left), deadline=deadline)
    late = TransportFailure(f"the scenario took over {deadline.seconds:g} s", kind="timeout")
    try:
        with Limited(deadline, grace=_grace(deadline.seconds)):
            return await reply_of(client, request)
    except TimeoutError:
        return late
    except TransportFailure as failure:
        return late if failure.kind == "timeout" and deadline.left <= 0 else failure
    except PluginError as error:  # a plug-in's failure ends no run
        return TransportFailure(str(error), kind="body")


def _grace(seconds: float) -> float:
    """How long after the deadline a client may still say what has happened."""
    return min(0.5, max(0.05, 0.1 * seconds))
