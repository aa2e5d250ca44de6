"""A client by name that cannot be made, or cannot be closed: named, and no result is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tunaeval
from tunaeval.errors import ClientSetupError, PluginError, UsageError
from tunaeval.plugins import registries
from tunaeval.types.exchange import Reply, Request


class Sound:
    name = "sound"

    async def complete(self, request: Request) -> Reply:
        return Reply({"role": "assistant", "content": request.scenario})

    async def close(self) -> None: ...


class Unclosed(Sound):
    async def close(self) -> None:
        raise ValueError("two\nlines")


class Interrupted(Sound):
    async def close(self) -> None:
        raise KeyboardInterrupt


def fails(error: BaseException) -> Callable[[], object]:
    def make() -> object:
        raise error

    return make


@pytest.fixture
def named() -> Iterator[Callable[[Any], str]]:
    """Registers what makes a client for the time of a test; returns its name."""
    registry = registries()["clients"]

    def name(maker: Any) -> str:
        registry.add("rogue", maker)
        return "rogue"

    yield name
    registry._added.pop("rogue", None)
    registry._loaded.pop("rogue", None)


@pytest.mark.parametrize(
    ("maker", "kind", "said"),
    [
        (fails(ValueError("no port")), PluginError, "cannot be made: ValueError: no port"),
        (fails(SystemExit(3)), PluginError, "cannot be made: SystemExit: 3"),
        (fails(TypeError("no port")), UsageError, "cannot be made: TypeError: no port"),
        (fails(ClientSetupError("no key")), ClientSetupError, "^no key$"),
        (lambda: 0.5, PluginError, "made something that is no client: a float has no name"),
        (lambda: Sound, PluginError, "made something that is no client: it is the class Sound"),
    ],
)
def test_a_client_that_cannot_be_made_is_named(
    named: Callable[[Any], str], maker: object, kind: type[Exception], said: str
) -> None:
    with pytest.raises(kind, match=said) as caught:
        tunaeval.run("smoke", client=named(maker), out=None)
    assert kind is ClientSetupError or str(caught.value).startswith("client 'rogue' ")


def test_a_client_that_cannot_be_closed_is_a_warning(
    named: Callable[[Any], str], caplog: pytest.LogCaptureFixture
) -> None:
    report = tunaeval.run("smoke", client=named(Unclosed), out=None, attempts=1)
    assert report.total == 12
    place = "(runs/test_rogue_clients.py:27)"
    assert [record.getMessage() for record in caplog.records] == [
        f"client 'sound' raised ValueError: two lines {place} when it was closed; no result is lost"
    ]


def test_an_interrupt_in_closing_is_one(named: Callable[[Any], str]) -> None:
    with pytest.raises(KeyboardInterrupt):
        tunaeval.run("smoke", client=named(Interrupted), out=None, attempts=1)
