"""`run_matrix` and `arun_matrix`: a suite asked of several models with several system prompts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, nullcontext
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

from .api import OPTION_NAMES, ClientSettings, blocking, chosen_options, hearing, live_for, opened
from .matrix import Cell, Matrix, MatrixRun, OnCellResult
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
    progress: bool | None = None,
    on_result: OnCellResult | None = None,
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
    results got no answer than `max_errors` allows, 3 or "5%" (default). `on_result` is called with
    each result and the name of its cell (`cell.cell` is "01"). The rest is as in `arun`.

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
    suites, live = [*_suites(suite, system_prompts)], live_for(progress)
    parser, others = sole_parser_for(format), {**settings}
    fields = {name: others.pop(name) for name in settings.keys() & OPTION_NAMES}
    async with AsyncExitStack() as stack:
        columns = await _columns(
            stack, models, base_urls, client=client, cache=cache, others=others
        )
        cells = [
            Cell(label, own, made, parser, chosen_options(options, made, fields), title, address,
                 (price_in, price_out))
            for label, made, address in columns
            for title, own in suites
        ]  # fmt: skip
        matrix = MatrixRun(
            cells, out=out, resume=resume, retry_failures=retry_failures, take_over=take_over,
            in_flight=max((cell.options.concurrency for cell in cells), default=1),
            max_errors=max_errors, on_result=hearing(live, on_result),
        )  # fmt: skip
        with matrix.shown(live) if live else nullcontext():
            return await matrix.run()


run_matrix = blocking(arun_matrix, "await tunaeval.arun_matrix(...)")
run_matrix.__name__ = run_matrix.__qualname__ = "run_matrix"


def _suites(
    suite: Suite | str | Path | JsonObject | list[JsonValue],
    prompts: Sequence[str | Path] | Mapping[str, str],
) -> Iterator[tuple[str | None, Suite]]:
    """Yield the name of each system prompt with the suite that has it."""
    named = named_prompts(prompts)
    texts = [text for _, text in named if text is not None]
    own = suite if isinstance(suite, Suite) else load_suite(suite, system_prompts=texts)
    for title, text in named:
        yield title, own if text is None else prompted(own, text, repr(title))


def _list_of_models(models: Sequence[str | Client]) -> Sequence[str | Client]:
    if isinstance(models, str):
        raise UsageError(f"models is the text {models!r}; wanted a list of names or clients")
    return models


async def _columns(
    stack: AsyncExitStack,
    models: Sequence[str | Client],
    base_urls: Sequence[str] | str,
    *,
    client: str,
    cache: Path | str | None,
    others: dict[str, Any],
) -> list[tuple[str, Client, str | None]]:
    """Return the label, the client, which `stack` closes, and the address of each model."""
    found: list[tuple[str, Client, str | None]] = []
    for model, address in zip(models, paired(base_urls, len(_list_of_models(models))), strict=True):
        using = client if isinstance(model, str) else model
        given = _settings_of(model, address, others)
        made = await stack.enter_async_context(opened(using, given, cache))
        label = model if isinstance(model, str) else label_of(made)
        alike = sum(label_of(one) == label for _, one, _ in found)
        is_client = not isinstance(model, str)
        found.append((f"{label} ({alike + 1})" if alike and is_client else label, made, address))
    return found


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
