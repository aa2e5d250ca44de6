"""The options of every command that asks a model."""

from __future__ import annotations

import argparse

from .network import add_network


def add_client(group: argparse._ActionsContainer, *, otherwise: str) -> None:
    """Add `--client` and its settings; `otherwise` names the default client in the help."""
    group.add_argument(
        "--client",
        metavar="NAME",
        help=f"llamacpp, openai, replay, scripted or a plug-in (default: {otherwise})",
    )
    group.add_argument("--base-url", metavar="URL", help="an OpenAI-compatible server's address")
    group.add_argument("--model", metavar="NAME", help="the server's model (its first)")
    group.add_argument("--model-file", metavar="FILE", help="weights for the embedded model")
    group.add_argument(
        "--recording",
        metavar="PATH|NAME",
        help="replies to replay: a recording (a file, or a packaged one by its name), or a run",
    )
    add_network(group)
