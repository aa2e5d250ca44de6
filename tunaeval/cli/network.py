"""Options that say how a server is reached; what of them may be shown and kept."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tunaeval.errors import UsageError
from tunaeval.files.keys import COVER, Secret
from tunaeval.types.calls import JsonObject, JsonValue

if TYPE_CHECKING:
    # At run time it is imported when a server is asked, not for --help.
    from tunaeval.models.clients.network import Network

NETWORK = {
    "headers": "--header",
    "ca": "--ca",
    "cert": "--cert",
    "cert_key": "--cert-key",
    "proxy": "--proxy",
    "http2": "--http2",
}
"""Options by the keyword of a client that takes them."""

_USER = re.compile(r"(?:(?<=://)|^(?!\w+://)).*@")
"""Who a proxy is asked as, up to its host."""


def add_network(group: argparse._ActionsContainer) -> None:
    """Add the options."""
    group.add_argument(
        "--header",
        action="append",
        type=Secret,
        metavar="'NAME: VALUE'",
        help="send this header with every request; may be given again, and its value is in no file",
    )
    group.add_argument(
        "--ca", metavar="FILE", help="trust these authorities (PEM) in place of the system's"
    )
    group.add_argument("--cert", metavar="FILE", help="the client's own certificate (PEM)")
    group.add_argument("--cert-key", metavar="FILE", help="its key, where --cert has none")
    group.add_argument(
        "--proxy",
        type=Secret,
        metavar="URL",
        help="ask through this proxy; '' for none (that of $HTTPS_PROXY and the like)",
    )
    group.add_argument(
        "--http2",
        action="store_true",
        default=None,
        help="speak HTTP/2 with a server that does (extra http2)",
    )


def network_of(arguments: argparse.Namespace) -> Network:
    """What the options say. Raises UsageError and ClientSetupError."""
    from tunaeval.models.clients.network import Network  # noqa: PLC0415 - httpx2, not for --help

    given = {keyword: getattr(arguments, _dest(option)) for keyword, option in NETWORK.items()}
    headers = headers_of(given.pop("headers") or ())
    return Network(headers, **{keyword: one for keyword, one in given.items() if one is not None})


def headers_of(lines: Sequence[str]) -> dict[str, JsonValue]:
    """Headers by their names. Raises UsageError, without a value in the message."""
    found: dict[str, JsonValue] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise UsageError("--header has no colon; wanted --header 'NAME: VALUE'")
        if name.strip().lower() in map(str.lower, found):
            raise UsageError(f"--header {name.strip()!r:.60} is given twice; wanted it once")
        found[name.strip()] = Secret(value.strip())
    return found


def visible_value(option: str, value: JsonValue) -> JsonValue:
    """An option's value without secrets: of headers the names, of a proxy not who asks it."""
    if option == "header" and isinstance(value, list):
        return [f"{str(line).partition(':')[0].strip()}: {COVER}" for line in value]
    return _USER.sub(f"{COVER}@", value) if option == "proxy" and isinstance(value, str) else value


def refuse_unkept(options: JsonObject, given: set[str]) -> None:
    """Raise UsageError where a run was begun with a secret, which no file has, and lacks it now."""
    for option in {"header", "proxy"} - given:
        value = options.get(option)
        words = ", ".join(map(repr, value)) if isinstance(value, list) else repr(value)
        if COVER in words:
            raise UsageError(
                f"the run was begun with --{option} {words}, of which secrets are not kept; give "
                f"--{option} again"
            )


def _dest(option: str) -> str:
    return option[2:].replace("-", "_")
