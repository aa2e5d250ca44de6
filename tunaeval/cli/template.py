"""`tunaeval template check`: which format a chat template writes, and whether that is read back."""

from __future__ import annotations

import argparse
from dataclasses import asdict

from tunaeval.errors import UsageError
from tunaeval.files.packed_files import read_whole
from tunaeval.files.records import json_text
from tunaeval.parsing.templates import check_template
from tunaeval.types.json_text import decoded_or

from .output import Output

_NOT_READ = 1


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Return 0 if a format reads the calls of the template strictly, else 1."""
    found = check_template(read_template(arguments.file))
    if arguments.json:
        output.result(json_text({"template": arguments.file, **asdict(found)}))
    else:
        alike = "and `render` writes the same" if found.equal else "which `render` writes otherwise"
        read = f"read back as {found.format}, {alike}" if found.format else "not read back"
        kinds = f"arguments: {found.arguments}\nturns: {found.turns or 'of no known family'}"
        output.result(f"{arguments.file}: {read}\n{kinds}\n{found.text}")
        for note in filter(None, (found.fault, *found.notes)):
            output.note(f"tunaeval: {note}")
    return 0 if found.format else _NOT_READ


def read_template(file: str) -> str:
    """Return the text of a template's file, or of the one in a `tokenizer_config.json`."""
    try:
        text = read_whole(file).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is no template: it is not UTF-8 ({error})") from None
    config = decoded_or(text)
    if config is None:  # as almost always
        return text
    template = config.get("chat_template") if isinstance(config, dict) else None
    if not isinstance(template, str):
        wanted = "a Jinja template, or a tokenizer_config.json with one as `chat_template`"
        raise UsageError(f"{file} is JSON without a template; wanted {wanted}")
    return template
