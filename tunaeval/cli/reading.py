"""The options of commands that read calls from text."""

from __future__ import annotations

import argparse


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add `--format`, `--level`, `--tools` and `--abstain`."""
    parser.add_argument(
        "--format", default="auto", help="wire format, see `tunaeval formats`; openai is harmony"
    )
    parser.add_argument(
        "--level",
        default="standard",
        choices=("strict", "standard", "lenient"),
        help="which repairs are allowed (default: standard)",
    )
    parser.add_argument(
        "--tools", help="the tools that may be called: a JSON file, or the name of a catalogue"
    )
    add_abstain(parser)


def add_abstain(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add `--abstain`, for commands that read replies."""
    parser.add_argument(
        "--abstain",
        action="append",
        default=[],
        metavar="NAME",
        help="a call of this name means no call, as some prompts ask for; may be given again",
    )
