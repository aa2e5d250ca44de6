"""`tunaeval formats`: the wire formats and parsers by name, and who writes calls that way."""

from __future__ import annotations

import argparse

from .listing import add_json, print_listing
from .output import Output


def configure(parser: argparse.ArgumentParser) -> None:
    add_json(parser)


def run(arguments: argparse.Namespace, output: Output) -> int:
    from tunaeval.extensions import registries  # noqa: PLC0415 - not for --help

    rows, parsers = [], registries()["parsers"]
    for entry in parsers.entries():
        # A plug-in's parser need not say more of itself than its name.
        thing = parsers.get(entry.name) if entry.status == "ok" else None
        rows.append(
            {
                "name": entry.name,
                "aliases": list(entry.aliases),
                "summary": str(getattr(thing, "summary", "")),
                "models": [str(model) for model in getattr(thing, "models", ())],
                "source": entry.source,
                "status": entry.status,
                "reason": entry.reason,
            }
        )
    columns = ("name", "aliases", "summary", "models", "source", "status", "reason")
    print_listing(output, "formats", rows, columns, as_json=arguments.json)
    return 0
