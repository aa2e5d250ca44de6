"""The fixture `tunaeval_model`: the endpoint of a test, and the files that are kept beside it."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tunaeval.endpoint.cassettes import MASKS, checked_masks
from tunaeval.endpoint.serving import ModelEndpoint
from tunaeval.errors import RecordError, TunaevalError, UsageError
from tunaeval.files.plain_files import real
from tunaeval.types.wanted import wanted_path

from .options import FAILED, option

_KEYS = (
    "cassette", "faults", "format", "masks", "match", "script", "leftover", "allow_unasked"
)  # fmt: skip
_FAILING = frozenset({"not_in_cassette", "script_over", "script_failed"})


def served(request: pytest.FixtureRequest) -> Iterator[ModelEndpoint]:
    """Yield the endpoint of this test, and fail the test for its faults afterwards."""
    node: Any = request.node
    try:
        made = _made_endpoint(node, request.config)
    except TunaevalError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    try:
        with suppress(AssertionError), made as model:  # `fault_of` says what was not used
            yield model
            _keep(node, model)
    except RecordError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    fault = fault_of(made)
    if fault and not (fault == made.unused and node.stash.get(FAILED, False)):
        pytest.fail(fault, pytrace=False)  # a test that failed has stopped its agent early


def fault_of(model: ModelEndpoint) -> str | None:
    """Return a fault that fails the test even if the agent hides it, or None."""
    missing = [turn.error or "" for turn in model.turns if turn.code in _FAILING]
    idle = [
        f"the fault {one} hit no turn; leave it out or correct it" for one in model.unused_faults
    ]
    unused = () if model.unused is None else (model.unused,)
    return next(iter((*missing, *model.unanswered, *idle, *unused)), None)


def _made_endpoint(node: pytest.Item, config: pytest.Config) -> ModelEndpoint:
    settings = _marker_settings(node)
    script, faults = settings.get("script"), settings.get("faults", ())
    used: dict[str, Any] = {"leftover": settings.get("leftover", "fail")}
    used["allow_unasked"] = settings.get("allow_unasked", False)
    if script is not None and settings.get("cassette") is not None:
        raise UsageError("the marker tunaeval has a script and a cassette; keep one of them")
    if script is not None:
        format_ = settings.get("format", "auto")
        return tunaeval.model_endpoint(script, faults=faults, format=format_, **used)
    named = settings.get("cassette")
    own = None if named is None else node.path.parent / wanted_path(named, "cassette")
    path = beside(node, "cassettes", ".jsonl") if own is None else own
    masks = {**_own_directory(config), **checked_masks(settings.get("masks"))}
    if not option(config, "record"):
        match = settings.get("match", "exact")
        return tunaeval.model_endpoint(
            cassette=path, faults=faults, masks=masks, match=match, **used
        )
    upstream = option(config, "base-url") or os.environ.get("OPENAI_BASE_URL")
    if not upstream:
        pytest.fail(
            "--tunaeval-record asks a server: name it with --tunaeval-base-url "
            "(http://127.0.0.1:8000/v1), or set $OPENAI_BASE_URL",
            pytrace=False,
        )
    return tunaeval.model_endpoint(
        cassette=path,
        upstream=upstream,
        record=True,
        faults=faults,
        masks=masks,
        model=option(config, "model"),
        **used,
    )


def _marker_settings(node: pytest.Item) -> dict[str, Any]:
    """Return the settings in the markers; the closest to the test wins."""
    settings: dict[str, Any] = {}
    for marker in node.iter_markers("tunaeval"):
        unknown = sorted(marker.kwargs.keys() - {*_KEYS})
        if unknown or marker.args:
            what = ", ".join(unknown) or "an argument without a name"
            known = ", ".join(_KEYS)
            pytest.fail(f"the marker tunaeval has {what}; it takes {known}", pytrace=False)
        settings = {**marker.kwargs, **settings}
    return settings


def _own_directory(config: pytest.Config) -> dict[str, str]:
    """Return the mask of this machine's temporary files, with the directory of `--basetemp` if the
    mask does not cover it.
    """
    usual = {"<tmp>": MASKS["<tmp>"]}
    given = config.getoption("basetemp", None)
    if not given:
        return usual
    base = real(Path(given))
    if base.is_relative_to(tempfile.gettempdir()):
        return usual
    own = re.escape(str(base)) + r"(?:/popen-gw\d+)?/[^/\s\"']+"
    return {"<tmp>": f"{own}|{MASKS['<tmp>']}"}


def _keep(node: pytest.Item, model: ModelEndpoint) -> None:
    """Add properties for JUnit, and the refused requests as a section of a failure's report."""
    usage = model.usage
    node.user_properties += [
        ("tunaeval.turns", len(model.turns)),
        ("tunaeval.calls", " ".join(call.name for call in model.calls)),
        ("tunaeval.prompt_tokens", usage.prompt_tokens),
        ("tunaeval.completion_tokens", usage.completion_tokens),
    ]
    if model.errors:
        node.add_report_section("call", "tunaeval_model", "\n".join(model.errors))


_UNSAFE = re.compile(r"[^\w.=-]+")
_LONGEST = 100


def beside(node: pytest.Item, folder: str, ending: str) -> Path:
    """Return `FOLDER/MODULE/TEST.ENDING`; unsafe characters become dashes plus a digest."""
    inner = node.nodeid.partition("::")[2].replace("::", ".")
    name = _UNSAFE.sub("-", inner).strip("-")
    if len(name) > _LONGEST or name != inner:
        digest = hashlib.sha256(inner.encode("utf-8", "surrogatepass")).hexdigest()[:6]
        name = f"{name[:_LONGEST]}-{digest}"
    return node.path.parent / folder / node.path.stem / f"{name}{ending}"
