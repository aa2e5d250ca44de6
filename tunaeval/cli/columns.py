"""Which models, servers and system prompts `tunaeval run` asks, and the options of each.

`--model`, `--base-url` and `--system-prompt` may be given several times; every model is asked with
every system prompt. A model may be the name of a column in `tunaeval.toml`, which has options of
its own:

    [columns.fast]
    model = "qwen3-8b"
    base-url = "http://127.0.0.1:8001/v1"
    key-variable = "FAST_KEY"
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tunaeval.errors import UsageError
from tunaeval.runs.run_matrix import named_prompts, paired, prompt_text
from tunaeval.tasks.suites.variables import prompted
from tunaeval.types.runs import Suite

from .options import add_options, options_in
from .settings import COLUMNS, Settings, apply, options_of, prices_of, tables_by_name, visible_value

LISTS = ("model", "base_url", "system_prompt")
"""The options that a matrix has several of; a run has one value of each, or None."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a matrix: its label, and its options, with one value of each of `LISTS`."""

    label: str
    arguments: argparse.Namespace


def columns_of(arguments: argparse.Namespace) -> list[Column]:
    """Return a column for each model; one for the default client if no model is named.

    Raises UsageError for addresses that do not fit the models, and for a wrong column in the file.
    """
    file, named = tables_by_name(COLUMNS)
    models: list[str | None] = list(arguments.model)
    if not models:
        models = [None] * max(1, len(arguments.base_url))
    addresses = paired(arguments.base_url, len(models))
    return [
        _column(arguments, model, address, Settings(file, named.get(model or "", {})))
        for model, address in zip(models, addresses, strict=True)
    ]


def _column(
    arguments: argparse.Namespace, model: str | None, address: str | None, settings: Settings
) -> Column:
    one = copy(arguments)
    one.model, one.base_url, one.system_prompt = model, address, None
    if settings.options:
        parser = argparse.ArgumentParser(add_help=False)
        add_options(parser, _own_options())
        known = options_of(parser)
        for key in settings.options:
            of_command = hasattr(arguments, key.replace("-", "_"))
            if of_command and key.replace("_", "-") not in known:
                raise UsageError(
                    f"{settings.file}, [columns.{model}]: {key} is an option of the whole command; "
                    "give it on the command line, or in [run]"
                )
        one.given = set()
        apply(settings, f"columns.{model}", parser, one)
        one.given = arguments.given
        for name in ("model", "base_url"):
            value = getattr(one, name)
            if isinstance(value, list):
                if len(value) != 1:
                    raise UsageError(
                        f"{settings.file}, [columns.{model}]: {name} has {len(value)} values; "
                        "wanted one"
                    )
                setattr(one, name, value[0])
    price_in, price_out = prices_of(one.model)
    one.price_in = price_in if one.price_in is None else one.price_in
    one.price_out = price_out if one.price_out is None else one.price_out
    if one.max_cost is not None and one.price_in is None and one.price_out is None:
        raise UsageError(
            f"--max-cost needs prices, and there are none for {one.model or 'the model'}; give "
            "--price-in and --price-out, or a table [prices.MODEL] in tunaeval.toml"
        )
    return Column(model or str(visible_value("base-url", address or "")), one)


def _own_options() -> dict[str, Any]:
    """Return the options that a column may have of its own."""
    groups = options_in("run")
    found = {**groups["the model"], **groups["what to ask"], **groups["the rules"]}
    return {
        title: settings
        for title, settings in found.items()
        if title.split()[0] in _OF_COLUMNS
        or (title in groups["the model"] and title.split()[0] not in _OF_COMMAND)
    }


_OF_COLUMNS = frozenset(
    {"--format", "--timeout", "--tools", "--free-text", "--constrain", "--constrain-field"}
)
_OF_COMMAND = frozenset({"--max-cost", "--max-total-tokens", "--max-requests", "--dry-run"})


def prompts_of(arguments: argparse.Namespace) -> list[tuple[str | None, str | None]]:
    """Return the name and the file of each system prompt, or (None, None) for the suite's own."""
    files = arguments.system_prompt
    names = [name for name, _ in named_prompts([Path(file) for file in files])]
    return list(zip(names, files or [None], strict=True))


def with_prompt(suite: Suite, arguments: argparse.Namespace) -> Suite:
    """Return the suite, with the system prompt in the file that the options name, if any."""
    file = arguments.system_prompt
    return suite if file is None else prompted(suite, prompt_text(Path(file)), file)


def as_lists(options: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield the stored options; one that may be given several times has a list as its value."""
    for name, value in options.items():
        if name in LISTS and not isinstance(value, list):
            yield name, [] if value is None else [value]
        else:
            yield name, value
