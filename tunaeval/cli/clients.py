"""Make the client that the options of a command name, or else the best one available."""

from __future__ import annotations

import argparse
import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, cast

from tunaeval.clients.cached import CachedClient
from tunaeval.clients.llamacpp import LlamaCppClient
from tunaeval.clients.network import Network
from tunaeval.clients.replay import ReplayClient, read_recording
from tunaeval.clients.server import KEY_VARIABLES
from tunaeval.endpoint.agents import COMMAND, CommandClient
from tunaeval.errors import ClientSetupError, UsageError
from tunaeval.files.keys import Secret
from tunaeval.files.packed_files import read_plain
from tunaeval.files.plain_files import is_there, unread
from tunaeval.files.reply_store import cache_in
from tunaeval.plugins import registries
from tunaeval.runs.api import usual_options
from tunaeval.runs.options import DEADLINE_SECONDS
from tunaeval.runs.prompts import ASKS, Ask, Asking, asking
from tunaeval.types.calls import JsonValue
from tunaeval.types.json_text import decoded
from tunaeval.types.roles import Client
from tunaeval.types.runs import Suite
from tunaeval.types.third_party import made_client

from .output import Output

NETWORK = {
    "headers": "--header",
    "ca": "--ca",
    "cert": "--cert",
    "cert_key": "--cert-key",
    "proxy": "--proxy",
    "http2": "--http2",
}
"""Options by the keyword of a client that takes them."""

# The option of the command line for each keyword of a client.
_OPTIONS = {
    "base_url": "--base-url",
    "model": "--model",
    "model_file": "--model-file",
    "path": "--recording",
    "replies": "--recording",
    "rpm": "--rpm",
    "stream": "--stream",
    "key_variables": "--key-variable",
    **NETWORK,
}
_IN_FLIGHT = ("connections", "slots")
"""Parameters of clients that set how many requests are in flight at once."""


@dataclass(frozen=True, slots=True)
class ClientChoice:
    """A client, how it gets its tools, how many scenarios run at a time, and their time limit."""

    client: Client
    ask: Ask
    concurrency: int
    deadline_seconds: float = DEADLINE_SECONDS

    def recorded_asking(self, suite: Suite) -> Asking | None:
        """Return how a replay was asked, whose heading is that of its recording; else None."""
        if not isinstance(self.client, ReplayClient):
            return None
        return replace(asking(suite, self.ask), heading=None)


def make_client(arguments: argparse.Namespace, suite: Suite, output: Output) -> ClientChoice:
    """Return the client that the options name, else the embedded model, else a recording of it."""
    arguments.recording = _packaged_by_name(arguments.recording)
    name = arguments.client or _implied(arguments)
    if name is None:
        if os.environ.get("OPENAI_BASE_URL"):
            output.note(
                "tunaeval: $OPENAI_BASE_URL is not used, as no option names a server; to ask that "
                "server, give --client openai"
            )
        why = LlamaCppClient.available()
        if why is not None:
            return _packaged(arguments, suite, why, output)
        name = "llamacpp"
    usual = usual_options(name)
    concurrency = arguments.concurrency or usual.concurrency
    deadline = arguments.timeout or usual.deadline_seconds
    client = _client_of(name, arguments, concurrency)
    way = _ask_of(client, arguments)
    if arguments.cache:
        client = CachedClient(client, cache_in(arguments.cache))
    return ClientChoice(client, way, concurrency, deadline)


def named_client(arguments: argparse.Namespace, concurrency: int) -> Client:
    """Return the client that the options name, else the embedded model. Raises ClientSetupError."""
    return _client_of(arguments.client or _implied(arguments) or "llamacpp", arguments, concurrency)


def _implied(arguments: argparse.Namespace) -> str | None:
    """Return the name of the client that another option implies, or None."""
    if arguments.base_url is not None:  # an empty one is refused there: a variable was not set
        return "openai"
    if arguments.recording:
        return "replay"
    return "llamacpp" if arguments.model_file else None


def _recordings() -> list[Path]:
    """Return the paths of the recordings in the package, sorted by name."""
    with as_file(files("tunaeval.tasks.suites").joinpath("recordings")) as folder:
        return sorted(folder.glob("*.jsonl"))


def _packaged_by_name(recording: str | None) -> str | None:
    """Return the path of the packaged recording of that name, or any other value unchanged."""
    if recording is None or is_there(recording):
        return recording
    return next((str(path) for path in _recordings() if path.stem == recording), recording)


def _packaged(
    arguments: argparse.Namespace, suite: Suite, why: str, output: Output
) -> ClientChoice:
    """Return a client that replays the packaged recording of the suite, and print how to ask a real
    model. Raise ClientSetupError if the suite was not recorded.
    """
    asked = {scenario.id for scenario in suite.scenarios}
    for path in _recordings():
        if asked <= {scenario for scenario, *_ in read_recording(path).replies}:
            output.note(f"tunaeval: no model is run, a recording is replayed; {why}")
            arguments.recording = str(path)
            client = _client_of("replay", arguments, concurrency=1)
            return ClientChoice(client, _recorded_ask(path), concurrency=1)
    raise ClientSetupError(
        f"{why}; or ask a server with --base-url (the package has no recorded replies to the suite "
        f"{suite.name!r})"
    )


def _client_of(name: str, arguments: argparse.Namespace, concurrency: int) -> Client:
    if name.startswith(COMMAND):
        _refuse_network(name, arguments)
        agent = CommandClient(
            name.removeprefix(COMMAND), upstream=arguments.base_url, model=arguments.model,
            pass_env=getattr(arguments, "pass_env", None) or (),
        )  # fmt: skip
        return cast("Client", agent)  # which answers no single request
    if getattr(arguments, "pass_env", None):
        raise UsageError(f"client {name!r} takes no --pass-env; leave it out")
    maker = registries()["clients"].get(name)
    takes = _keywords(maker)
    options: dict[str, JsonValue] = {}
    for option in dict.fromkeys(_OPTIONS.values()):
        value = getattr(arguments, _dest(option), None)
        if value is None:
            continue
        keys = [key for key, known in _OPTIONS.items() if known == option and key in takes]
        if not keys:
            raise UsageError(f"client {name!r} takes no {option}; leave it out")
        read = _READ.get(keys[0])
        options[keys[0]] = value if read is None else read(value)
    options |= {key: concurrency for key in _IN_FLIGHT if key in takes}
    return made_client(maker, name, options)


def _refuse_network(name: str, arguments: argparse.Namespace) -> None:
    """Raise UsageError for a network option: a whole agent reaches its server in its own way."""
    for option in NETWORK.values():
        if getattr(arguments, _dest(option), None) is not None:
            raise UsageError(
                f"client {name!r} takes no {option}; set $HTTPS_PROXY or $SSL_CERT_FILE, which the "
                "model endpoint uses, or leave it out"
            )


def _keywords(maker: object) -> frozenset[str]:
    """Return the names of the parameters of a function or class that makes a client."""
    try:
        return frozenset(inspect.signature(maker).parameters)  # type: ignore[arg-type]  # caught below
    except (TypeError, ValueError):  # not callable, or written in C without a signature
        return frozenset()


def _replies(file: str) -> list[JsonValue]:
    """Read a script's replies: JSON lines, each a string or an assistant's message."""
    try:
        lines = read_plain(file).decode().splitlines()
        return [decoded(line) for line in lines if line.strip()]
    except (OSError, ValueError) as error:
        words = unread(file, "wanted JSON lines, each a string or a message", error)
        raise UsageError(f"the script {file!r} {words}") from error


def _ask_of(client: Client, arguments: argparse.Namespace) -> Ask:
    """Return how tools are given; the embedded model is too small to do without a schema."""
    if arguments.free_text or arguments.constrain or arguments.constrain_field:
        return "prompt"
    if arguments.tools:
        return "api" if arguments.tools == "api" else "prompt"
    if isinstance(client, ReplayClient):
        return _recorded_ask(Path(arguments.recording))
    return "schema" if isinstance(client, LlamaCppClient) else "api"


def _recorded_ask(path: Path) -> Ask:
    recorded = read_recording(path).run.ask
    return next((way for way in ASKS if way == recorded), "prompt")


def network_of(arguments: argparse.Namespace) -> Network:
    """Return the network settings of the options. Raises UsageError and ClientSetupError."""
    given = {keyword: getattr(arguments, _dest(option)) for keyword, option in NETWORK.items()}
    headers = headers_of(given.pop("headers") or ())
    return Network(headers, **{keyword: one for keyword, one in given.items() if one is not None})


def reached_by(arguments: argparse.Namespace) -> tuple[Network, Sequence[str]]:
    """Return the network settings, and the names of the variables that may have the key."""
    return network_of(arguments), arguments.key_variable or KEY_VARIABLES


def headers_of(lines: Sequence[str]) -> dict[str, JsonValue]:
    """Return the headers of "NAME: VALUE" lines by name. Raises UsageError without the value."""
    found: dict[str, JsonValue] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise UsageError("--header has no colon; wanted --header 'NAME: VALUE'")
        if name.strip().lower() in map(str.lower, found):
            raise UsageError(f"--header {name.strip()!r:.60} is given twice; wanted it once")
        found[name.strip()] = Secret(value.strip())
    return found


def _dest(option: str) -> str:
    return option[2:].replace("-", "_")


_READ: dict[str, Callable[[Any], Any]] = {"replies": _replies, "headers": headers_of}
"""How the values of some keywords are made from their options."""
