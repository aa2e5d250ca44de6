"""`run_matrix` and `arun_matrix`: a suite asked of several models with several system prompts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Unpack

from tunaeval.errors import UsageError
from tunaeval.files.packed_files import read_plain
from tunaeval.files.plain_files import unread
from tunaeval.grammar.format import Format
from tunaeval.parsing.api import sole_parser_for
from tunaeval.tasks.suites.loading import load_suite
from tunaeval.tasks.suites.variables import prompted
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.parsing import Level
from tunaeval.types.roles import Client, Parser
from tunaeval.types.runs import CountedCalls, Suite

from .api import OPTION_NAMES, ClientSettings, blocking, chosen_options, opened
from .matrix import Cell, Matrix, MatrixRun
from .options import RunOptions
from .prompts import Ask


class MatrixSettings(ClientSettings, total=False):
    """The keywords of `RunOptions`, and those of the clients that are made for the models."""

    ask: Ask
    level: Level
    profile: str | None
    calls: CountedCalls
    abstain: tuple[str, ...]
    attempts: int
    max_tokens: int
    temperature: float | None
    seed: int | None
    repeats: int
    deadline_seconds: float
    concurrency: int


async def arun_matrix(
    suite: Suite | str | Path | JsonObject | list[JsonValue],
    *,
    models: Sequence[str | Client],
    system_prompts: Sequence[str | Path] | Mapping[str, str] = (),
    base_urls: Sequence[str] | str = (),
    client: str = "openai",
    format: str | Format | Parser = "auto",  # noqa: A002 - the public word for it
    out: Path | str | None = "runs/",
    resume: Path | str | None = None,
    options: RunOptions | None = None,
    retry_failures: bool = False,
    take_over: bool = False,
    cache: Path | str | None = None,
    price_in: float | None = None,
    price_out: float | None = None,
    max_errors: int | str | None = None,
    **settings: Unpack[MatrixSettings],
) -> Matrix:
    """Ask every model the suite with every system prompt, and return the reports with a ranking.

        matrix = tunaeval.run_matrix(
            "suite.yaml",
            models=["qwen3-8b", "qwen3-14b"],
            system_prompts=["Be brief.", "Be kind."],
            base_urls=["http://127.0.0.1:8000/v1"],
        )

    `models` are names, for which a `client` is made, or clients, which the caller closes.
    `system_prompts` replace the suite's own: texts, files (`Path`), or texts by name. `base_urls`
    has one address for all models, or one for each. At most `concurrency` scenarios are asked at
    once in all cells together. Prices are those of a million tokens. A cell is not ranked if more
    results got no answer than `max_errors` allows, 3 or "5%" (default). The rest is as in `arun`.

    Raises UsageError (SuiteError, UnknownNameError), ClientSetupError for a client that cannot be
    made, RecordError. A model that cannot be reached is reported in the ranking.

    Examples:
        >>> from tunaeval import ScriptedClient
        >>> models = [ScriptedClient([""] * 48)]
        >>> prompts = {"terse": "Be brief.", "kind": "Be kind."}
        >>> matrix = tunaeval.run_matrix(
        ...     "smoke", models=models, system_prompts=prompts, out=None, attempts=1
        ... )
        >>> [cell.name.words for cell in matrix.ranking.cells]
        ['scripted, terse', 'scripted, kind']
        >>> [report.passed for report in matrix.cells]
        [2, 2]
    """
    prompts, parser, others = named_prompts(system_prompts), sole_parser_for(format), {**settings}
    loaded = suite if isinstance(suite, Suite) else _loaded(suite, prompts)
    fields = {name: others.pop(name) for name in settings.keys() & OPTION_NAMES}
    async with AsyncExitStack() as stack:
        cells: list[Cell] = []
        for model, address in zip(models, paired(base_urls, len(_listed(models))), strict=True):
            using = client if isinstance(model, str) else model
            given = _settings_of(model, address, others)
            made = await stack.enter_async_context(opened(using, given, cache))
            chosen = chosen_options(options, made, fields)
            name, price = _label(model, made, cells), (price_in, price_out)
            for title, text in prompts:
                own = loaded if text is None else prompted(loaded, text, repr(title))
                cells.append(Cell(name, own, made, parser, chosen, title, address, price))
        return await MatrixRun(
            cells,
            out=out,
            resume=resume,
            in_flight=max((cell.options.concurrency for cell in cells), default=1),
            retry_failures=retry_failures,
            take_over=take_over,
            max_errors=max_errors,
        ).run()


def _loaded(
    suite: str | Path | JsonObject | list[JsonValue], prompts: Iterable[tuple[object, str | None]]
) -> Suite:
    return load_suite(suite, system_prompts=[text for _, text in prompts if text is not None])


run_matrix = blocking(arun_matrix, "await tunaeval.arun_matrix(...)")
run_matrix.__name__ = run_matrix.__qualname__ = "run_matrix"


def _listed(models: Sequence[str | Client]) -> Sequence[str | Client]:
    if isinstance(models, str):
        raise UsageError(f"models is the text {models!r}; wanted a list of names or clients")
    return models


def _label(model: str | Client, made: Client, cells: Sequence[Cell]) -> str:
    """Return a model's label: its name, with a number if another client has the same one."""
    if isinstance(model, str):
        return model
    label = label_of(made)
    clients = {id(cell.client) for cell in cells if label_of(cell.client) == label}
    return f"{label} ({len(clients) + 1})" if clients else label


def _settings_of(
    model: str | Client, address: str | None, others: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the settings of a model's client. Raises UsageError for a client with an address."""
    if isinstance(model, str):
        return {**others, "model": model} | ({"base_url": address} if address else {})
    if address:
        raise UsageError(
            "base_urls are for models that are named; a client has its address already"
        )
    return dict(others)


def label_of(client: Client) -> str:
    """Return the label of a client in a matrix: the name of its model, else its own."""
    return str(getattr(client, "model", None) or client.name)


def named_prompts(
    given: Sequence[str | Path] | Mapping[str, str],
) -> list[tuple[str | None, str | None]]:
    """Return system prompts as pairs of name and text, or [(None, None)] if there are none."""
    if isinstance(given, str):
        raise UsageError("system_prompts is a text; wanted a list of texts or files")
    if isinstance(given, Mapping):
        return [(name, text) for name, text in given.items()] or [(None, None)]
    return [
        (_name_of(one, given), prompt_text(one))
        if isinstance(one, Path)
        else (f"prompt {number}", one)
        for number, one in enumerate(given, start=1)
    ] or [(None, None)]


def _name_of(path: Path, paths: Sequence[object]) -> str:
    """Return the file's name without its suffix, or all of its path if another has that name."""
    alike = [one for one in paths if isinstance(one, Path) and one.stem == path.stem]
    return path.stem if len(alike) == 1 else str(path)


def prompt_text(path: Path) -> str:
    """Return the system prompt in a file. Raises UsageError for a file that cannot be read."""
    try:
        text = read_plain(path).decode("utf-8-sig").strip()
    except (OSError, ValueError) as error:
        words = unread(path, "wanted a text file in UTF-8", error)
        raise UsageError(f"the system prompt {str(path)!r} {words}") from error
    if not text:
        raise UsageError(f"the system prompt {str(path)!r} is empty; write one, or leave it out")
    return text


def paired(addresses: Sequence[str] | str, models: int) -> list[str | None]:
    """Return an address for each model: the one for all, its own, or None. Raises UsageError."""
    found: list[str | None] = [addresses] if isinstance(addresses, str) else list(addresses)
    if len(found) < 2:
        return (found or [None]) * models
    if len(found) != models:
        raise UsageError(
            f"there are {len(found)} addresses for {models} models; give one for all, or one "
            "for each model in its order"
        )
    return found
