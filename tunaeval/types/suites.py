"""A suite: scenarios, the tools that they may call, and their system prompt.

The scenarios of a file are in a sequence that keeps many of them in little memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeAlias, get_args, overload

import orjson
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from tunaeval.errors import SuiteError, UnknownNameError, UsageError
from tunaeval.showing import counted, shows

from .calls import JsonObject, JsonValue, Tools
from .figures import Data, undeprecated
from .tasks import Expectation, Task
from .wanted import wanted_name

Difficulty: TypeAlias = Literal["easy", "medium", "hard"]
Part: TypeAlias = Literal["train", "test"]

_TRAINED = 0.8
"""The share of groups that are trained on."""
Unreadable: TypeAlias = Literal["retry", "end"]
"""What follows a reply with a call that cannot be read: a note, or what follows an answer."""


class Scenario(Data):
    """A question and what is expected of the answer. `expect` is checked when a suite is loaded."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    id: str
    prompt: str
    expect: Expectation
    messages: tuple[dict[str, Any], ...] = ()
    """The messages before the prompt, in the shape of OpenAI's API."""
    tools: Tools | None = None
    """The tools of this scenario; None means those of the suite."""
    abstain: tuple[str, ...] = ()
    """Names whose calls mean no call in this scenario, beside those of the suite."""
    task: Task | None = None
    """Makes the scenario an episode of many turns in a workspace; None is a single question."""
    tags: tuple[str, ...] = ()
    group: str | None = None
    """Scenarios that depend on each other, as from one template: a cluster for intervals."""
    weight: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    """The scenario's weight in the weighted score; all other rates count each scenario once."""
    difficulty: Difficulty | None = None
    sources: tuple[str, ...] = ()
    """Where the scenario comes from: addresses, papers, issues."""
    notes: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)
    vars: dict[str, Any] = Field(default_factory=dict)
    """The variables with which its texts were filled, and its system prompt is to be."""


@dataclass(frozen=True, slots=True)
class Episode:
    """One attempt at a task of many turns: its scenario, its repeat (from 1), and a seed, which is
    the same in every run with the same `--seed`, and random in a run without one.

    Examples:
        >>> (scenario, *_) = tunaeval.load_suite("repair-tasks").scenarios
        >>> episode = tunaeval.Episode(scenario, repeat=2, seed="1 fix-import 2")
        >>> episode.scenario.task.limits.turns, episode.repeat
        (12, 2)
    """

    scenario: Scenario
    repeat: int = 1
    seed: str = ""


class PackedScenarios(Sequence[Scenario]):
    """A sequence of scenarios that are stored as JSON and parsed on access; it equals a tuple of
    the same scenarios. A small scenario takes 3 KB as an object and about 200 bytes here. Scenarios
    that JSON cannot represent exactly, and those with a task, stay objects. Tools of their own that
    are equal to those before them are kept once.
    """

    __slots__ = ("_kept",)

    def __init__(self, scenarios: Iterable[Scenario]) -> None:
        kept, tools = list[_Kept](), None
        for one in scenarios:
            tools = tools if one.tools == tools else one.tools
            kept.append(_packed(one, tools))
        self._kept = tuple(kept)

    def __len__(self) -> int:
        return len(self._kept)

    @overload
    def __getitem__(self, index: int) -> Scenario: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Scenario]: ...
    def __getitem__(self, index: int | slice) -> Scenario | Sequence[Scenario]:
        if isinstance(index, slice):
            part = PackedScenarios(())
            part._kept = self._kept[index]
            return part
        return _unpacked(self._kept[index])

    def __iter__(self) -> Iterator[Scenario]:
        return map(_unpacked, self._kept)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PackedScenarios | tuple | list):
            return False
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(len(self))

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'scenario')}>"


_EXACT = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
"""Makes orjson refuse values that it would write although they are not plain JSON."""


_Kept: TypeAlias = Scenario | bytes | tuple[bytes, Tools]


def _packed(scenario: Scenario, tools: Tools | None) -> _Kept:
    if scenario.task is not None:
        return scenario
    try:
        fields = scenario.model_dump(exclude={"tools"}, exclude_defaults=True)
        # A copy of the bytes, as orjson's own object keeps its buffer of 4 KB.
        packed = bytes(memoryview(orjson.dumps(fields, option=_EXACT)))
        kept = packed if tools is None else (packed, tools)
        return scenario if _unpacked(kept) != scenario else kept
    except (TypeError, ValueError, RecursionError):
        return scenario


def _unpacked(kept: _Kept) -> Scenario:
    match kept:
        case bytes():
            return Scenario.model_validate_json(kept)
        case (packed, tools):
            return Scenario.model_validate_json(packed).model_copy(update={"tools": tools})
    return kept


@shows
class Suite(BaseModel):
    """Scenarios with the tools that they may call and their system prompt.

    Examples:
        >>> suite = tunaeval.load_suite("smoke")
        >>> len(suite.where(tags=["no-call"], limit=1).scenarios)
        1
        >>> suite.with_(system_prompt="Be brief.").digest == suite.digest
        False
    """

    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True, defer_build=True)
    __dir__ = undeprecated

    name: str
    scenarios: Sequence[Scenario]
    """A tuple, or `PackedScenarios` if the suite comes from a file."""
    tools: Tools
    system_prompt: str
    prompt_of_tools: bool = False
    """Whether the prompt is the one that belongs to these tools: with others there is none."""
    profile: str | None = None
    """The rules for comparing arguments if a run names none; None means the default ones."""
    abstain: tuple[str, ...] = ()
    """Names whose calls mean no call, as the prompt says; see `parse`."""
    tools_from: tuple[str, ...] = ()
    """Where the tools come from that the suite does not describe: MODULE:NAME, or MCP servers."""
    notes: tuple[str, ...] = ()
    """What is odd about the suite's files, such as columns of variables that no text uses."""
    unreadable: Unreadable = "retry"
    """In tasks: with "end", one call that cannot be read makes its whole reply an answer."""
    as_written: bool = False
    """Whether calls are read without the tools' schemas and run in any case, offered or not."""
    mcp: tuple[str, ...] = ()
    """The MCP servers, as commands or addresses, that run the calls of tasks of many turns."""
    part: Part | None = None
    """Which part of a suite this is; see `split`."""

    @field_validator("scenarios", mode="wrap")
    @classmethod
    def _whole(cls, value: object, check: ValidatorFunctionWrapHandler) -> Sequence[Scenario]:
        return value if isinstance(value, PackedScenarios) else tuple(check(value))

    @property
    def digest(self) -> str:
        """The SHA-256 of scenarios, tools and system prompt, by which suites are compared.

        It covers the canonical JSON (sorted keys, no white space, ASCII) of {"scenarios": [...],
        "system_prompt": ..., "tools": [...]}.
        """
        return self.digests()[0]

    def digests(self) -> tuple[str, str]:
        """Return `digest`, and the digest of the scenarios alone, both in one pass over them."""
        digest = hashlib.sha256(b'{"scenarios":[')
        for index, scenario in enumerate(self.scenarios):  # one at a time: a suite may be large
            digest.update(b"," * bool(index) + _canonical(_digested(scenario)))
        scenarios = digest.hexdigest()
        digest.update(b'],"system_prompt":' + _canonical(self.system_prompt))
        digest.update(b',"tools":' + _canonical(_tools_digested(self.tools)))
        if self.unreadable != "retry":
            digest.update(b',"unreadable":' + _canonical(self.unreadable))
        digest.update(b',"without_prompt":true}' if self.without_prompt else b"}")
        return digest.hexdigest(), scenarios

    @property
    def without_prompt(self) -> int:
        """How many scenarios are asked without the system prompt, as it belongs to other tools."""
        own = (one.tools for one in self.scenarios if self.prompt_of_tools)
        return sum(tools is not None and not self._has(tools) for tools in own)

    def _has(self, tools: Tools) -> bool:
        return bool(tools) and tools.items() <= self.tools.items()

    def where(
        self,
        *,
        ids: Collection[str] = (),
        tags: Collection[str] = (),
        like: str | Sequence[str] | None = None,
        limit: int | None = None,
    ) -> Suite:
        """Return the suite of the scenarios that have one of `ids`, one of `tags`, and fit `like`.

        A condition that is left out does not apply. `like` is one pattern or several: a part of an
        id or of the prompt, in any case, or with `*`, `?` or `[` a pattern for the whole id. Only
        the first `limit` of the scenarios that fit are taken.

        Raises:
            SuiteError: For an id or a tag that does not exist, and if no scenario is left.
        """
        patterns = [like] if isinstance(like, str) else [*(like or ())]
        _refuse_unknown("scenario", ids, [one.id for one in self.scenarios], self.name)
        known = {tag for one in self.scenarios for tag in one.tags}
        _refuse_unknown("tag", tags, known, self.name)
        if limit is not None and (isinstance(limit, bool) or limit < 1):
            raise UsageError(f"limit is {limit!r}; wanted a number of scenarios, 1 or more")
        conditions: list[Callable[[Scenario], bool]] = []
        if ids:
            conditions.append(lambda one: one.id in ids)
        if tags:
            conditions.append(lambda one: not set(tags).isdisjoint(one.tags))
        if patterns:
            conditions.append(_fitting(patterns))
        left = [one for one in self.scenarios if all(fits(one) for fits in conditions)][:limit]
        if not left:
            words = ", ".join(map(repr, (*ids, *tags, *patterns)))
            raise SuiteError(
                f"{self.name}: none of {counted(len(self.scenarios), 'scenario')} matches all "
                f"filters ({words}); `tunaeval suites {self.name}` lists them with their tags"
            )
        return self.with_(scenarios=PackedScenarios(left))

    def split(self, part: Part) -> Suite:
        """Return the part of the suite to `train` on, four fifths of it, or the rest, to `test`.

        The hash of a scenario's group, or else of its id, decides, whatever else is in the suite.

        Raises:
            UnknownNameError: For another part.
            SuiteError: If no scenario is in it.
        """
        wanted_name(part, "part of a suite", get_args(Part))
        trains = part == "train"
        left = [one for one in self.scenarios if _is_trained(one) is trains]
        if not left:
            raise SuiteError(
                f"{self.name}: none of {counted(len(self.scenarios), 'scenario')} is in the part "
                f"{part!r}; add scenarios, or use all of them"
            )
        return self.with_(scenarios=PackedScenarios(left), part=part)

    def with_(self, **fields: Any) -> Suite:
        """Return a copy of the suite with other values for some of its fields.

        A prompt that belongs to the tools is left out with others, and one that is given stays.

        Raises:
            UsageError: For an unknown field, and for a value that is not of the field's type.
        """
        if unknown := sorted(fields.keys() - Suite.model_fields.keys()):
            raise UsageError(
                f"a suite has no field {unknown[0]!r}; it has {', '.join(Suite.model_fields)}"
            )
        if "system_prompt" in fields:
            fields = {"prompt_of_tools": False, **fields}
        try:
            made = Suite.model_validate({**dict(self), **fields})
        except ValidationError as error:
            fault = error.errors()[0]
            place = ".".join(map(str, fault["loc"]))
            raise UsageError(f"a suite cannot have that {place}: {fault['msg']}") from None
        if self.prompt_of_tools and "system_prompt" not in fields and not self._has(made.tools):
            return made.model_copy(update={"system_prompt": "", "prompt_of_tools": False})
        return made

    def _in_short(self) -> str:
        sizes = counted(len(self.scenarios), "scenario"), counted(len(self.tools), "tool")
        return f"Suite {self.name!r}: {', '.join(sizes)}"

    def _in_rows(self) -> Iterator[tuple[str, ...]]:
        return ((one.id, one.prompt) for one in self.scenarios)


def _is_trained(scenario: Scenario) -> bool:
    name = scenario.group or scenario.id
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) < _TRAINED * 2**64


def _refuse_unknown(kind: str, names: Collection[str], known: Collection[str], suite: str) -> None:
    if isinstance(names, str):
        raise UsageError(f"{kind}s are {names!r}; wanted a list of names")
    for name in names:
        if not known:
            raise SuiteError(f"{suite}: no {kind} is called {name!r}; this suite has no {kind}s")
        if name not in known:
            raise SuiteError(f"{suite}: {UnknownNameError(kind, name, known)}")


def _fitting(patterns: Sequence[str]) -> Callable[[Scenario], bool]:
    lowered = [pattern.lower() for pattern in patterns]

    def fits(scenario: Scenario) -> bool:
        name, prompt = scenario.id.lower(), scenario.prompt.lower()
        return any(
            fnmatchcase(name, one) if set("*?[") & set(one) else one in name or one in prompt
            for one in lowered
        )

    return fits


def _canonical(value: JsonValue) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return text.encode("ascii")


def _digested(scenario: Scenario) -> JsonObject:
    """Return the part of a scenario that its digest covers: of some fields only what is used."""
    data = scenario.model_dump(exclude={"tools", "messages"})
    for later in ("group", "weight", "difficulty", "sources", "task", "abstain"):
        if data[later] == Scenario.model_fields[later].default:
            del data[later]
    if scenario.tools is not None:
        data["tools"] = _tools_digested(scenario.tools)
    if scenario.messages:
        data["messages"] = list(scenario.messages)
    if scenario.task is not None and not scenario.task.faults:
        del data["task"]["faults"]
    if scenario.task is not None and scenario.task.limits.steps is None:
        del data["task"]["limits"]["steps"]
    if scenario.expect.min_calls is None:
        del data["expect"]["min_calls"]
    if not scenario.vars:
        del data["vars"]
    return data


def _tools_digested(tools: Tools) -> list[JsonObject]:
    return [{**spec.as_openai(), "paths": sorted(spec.paths)} for spec in tools.values()]
