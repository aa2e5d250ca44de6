"""The records of a run, as its files contain them: how it was made, results, and their summary."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from .calls import Source as CallSource
from .figures import Data, Rate, Repeats, undeprecated
from .parsing import Level
from .suites import Unreadable
from .tasks import Expectation, ResultRecord, TaskRecord

SCHEMA_VERSION: Final = 2
"""The version of `run.json` and `results.jsonl`; files of another version are refused."""

RunOutcome: TypeAlias = Literal[
    "calls", "no_call", "malformed", "truncated", "transport_failure", "judge_failure"
]
CountedCalls: TypeAlias = Literal["any", "structured"]
"""Which calls of a message count: all that are read, or only those that a server parsed."""


class CallRecord(Data):
    """A call as the files of a run contain it; `repairs` are the codes of its repairs."""

    name: str
    arguments: dict[str, Any]
    id: str | None = None
    format: str = ""
    repairs: tuple[str, ...] = ()


class AttemptRecord(Data):
    """A reply, and what was read from it at the run's level. `message` is as the server sent it."""

    message: dict[str, Any]
    finish_reason: str | None = None
    latency_seconds: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    retries: int = 0
    outcome: RunOutcome
    calls: tuple[CallRecord, ...] = ()
    diagnoses: tuple[str, ...] = ()
    source: CallSource | None = None
    """Where the reply's calls belong, see `Reply.source`."""
    user: str | None = None
    """The user's message right before it, in a later turn of an episode."""
    results: tuple[ResultRecord, ...] = ()
    """The results of its calls, in an episode."""
    touched: tuple[str, ...] = ()
    """The paths of the workspace that its calls changed."""
    first_token_seconds: float | None = None
    tokens_per_second: float | None = None
    stream_notes: tuple[str, ...] = ()
    """Of a streamed reply, like the two fields before; see `Streamed`."""
    cached_at: str | None = None
    """When a reply was received that was taken from a cache, in ISO 8601."""
    breach: str | None = None
    """What in it breaks the grammar that it was asked with; such a server ignores the grammar."""


class LevelResult(Data):
    """Whether a scenario passed at one level: after the retries, and at the first attempt."""

    ok: bool
    first_attempt_ok: bool


class ScenarioResult(Data):
    """The result of one scenario: a line of `results.jsonl`."""

    scenario: str
    repeat: int = 1
    prompt: str
    expected: Expectation
    got: tuple[CallRecord, ...]
    ok: bool
    first_attempt_ok: bool
    reason: str
    outcome: RunOutcome
    format: str | None
    repairs: tuple[str, ...]
    levels: dict[Level, LevelResult]
    attempts: tuple[AttemptRecord, ...]
    latency_seconds: float | None
    prompt_tokens: int | None
    completion_tokens: int | None
    error: str | None = None
    tags: tuple[str, ...] = ()
    group: str | None = None
    weight: float = 1.0
    leaked_calls: int = 0
    """How many calls the server left in the text instead of parsing them."""
    abstain: tuple[str, ...] = ()
    """The scenario's own names whose calls mean no call."""
    task: TaskRecord | None = None
    """How an episode ended and was graded; its attempts are turns. None for a single question."""
    index: int | None = None
    """The scenario's position in the suite, from 0, as results are kept in the order in which they
    arrive. None in a run that is older than this field.
    """


class Source(Data):
    """The run whose replies were judged again; `digest` is the SHA-256 of its `results.jsonl`."""

    run_id: str
    directory: str
    digest: str
    format: str
    level: Level
    profile: str


class ResultsState(Data):
    """The lines and bytes of a file of results, and a digest of its lines in any order."""

    results: int
    bytes: int
    digest: str


class RunInfo(BaseModel):
    """How a run was made, its options and circumstances: the content of `run.json`."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)
    __dir__ = undeprecated

    schema_version: Literal[2] = SCHEMA_VERSION
    run_id: str
    started_at: str
    suite: str
    suite_digest: str
    scenarios_digest: str | None = None
    """The digest of the suite's scenarios alone."""
    scenarios: int
    split: str | None = None
    """Which part of the suite was asked, "train" or "test"; None is all of it."""
    harness: str = "tunaeval"
    """What ran the suite: the name of a member of the entry-point group `tunaeval.harnesses`."""
    sandbox: dict[str, Any] | None = None
    """What commands ran in: `tool`, `version`, and the parts that are `shut` and `open`."""
    client: str
    model: str | None
    model_details: dict[str, Any] = Field(default_factory=dict)
    heading: str | None = None
    """A text that must precede every score of this run, on constrained decoding or a replay."""
    format: str
    level: Level
    profile: str
    calls: CountedCalls = "any"
    abstain: list[str] = Field(default_factory=list)
    """Names whose calls mean no call: those of the suite and those of the run's options."""
    unreadable: Unreadable = "retry"
    as_written: bool = False
    """How the suite's calls are read; see `Suite`."""
    ask: str
    constrain: bool | str = False
    """Whether a grammar was sent; the name of the field if only one was sent."""
    repeats: int
    attempts: int
    max_tokens: int
    temperature: float | None
    seed: int | None
    concurrency: int
    deadline_seconds: float
    prompt_digest: str
    system_prompt: str | None = None
    """The system prompt; "" is none. None is unknown: that of a whole agent."""
    versions: dict[str, str]
    resumed_at: list[str] = Field(default_factory=list)
    """When the interrupted run was continued, in ISO 8601."""
    retried_at: list[str] = Field(default_factory=list)
    """When failures were asked again; the last result of a scenario counts."""
    options: dict[str, Any] = Field(default_factory=dict)
    """The options of `tunaeval run`, stored so that `--resume` needs none."""
    tools_from: list[str] = Field(default_factory=list)
    """Where the tools came from, if not from the suite: MODULE:NAME, or MCP servers."""
    budget_reached: str | None = None
    """The budget that ended the run before all scenarios were asked, such as "max_cost"."""
    results_file: ResultsState | None = None
    """The state of the results when the run last began or ended; None before that."""
    rescored: Source | None = None
    """For a run that asked no model: the run whose replies were read again."""


class Summary(Data):
    """The figures of a run. Failures of infrastructure are counted apart."""

    final: Rate
    weighted: Rate | None = None
    """`final` with each scenario counted by its weight, without those of weight 0; None if all
    weights are equal.
    """
    first_attempt: Rate
    levels: dict[Level, Rate]
    levels_first_attempt: dict[Level, Rate]
    tools: dict[str, Rate]
    tags: dict[str, Rate]
    unanswered_tools: dict[str, int] = Field(default_factory=dict)
    """How many results each tool has that is not in `tools`, as none of them got an answer."""
    unanswered_tags: dict[str, int] = Field(default_factory=dict)
    outcomes: dict[str, int]
    repairs: dict[str, int]
    formats: dict[str, int]
    sources: dict[str, int] = Field(default_factory=dict)
    """How many scenarios' calls were structured, and how many were read from text."""
    doubled_results: int = 0
    """How many lines of results are not counted because a later one has the same scenario and
    repeat.
    """
    leaked_calls: int = 0
    """How many scenarios have a call that the server left in the text, whether it counts or not."""
    empty_replies: int = 0
    """How many scenarios have a reply without text, reasoning and calls."""
    cut_replies: int = 0
    """How many scenarios have no answer as a reply used up its tokens (finish reason "length")."""
    broken_constraints: int = 0
    """How many scenarios have a reply that breaks the grammar it was asked with."""
    reactions: dict[str, Rate] = Field(default_factory=dict)
    """Of the episodes with faults, how many `recovered`, `obeyed` an injection, and `reported` it;
    episodes in which that is undecided do not count.
    """
    sole_group: str | None = None
    """The group that all results are of, which are independent then: its rows are the sample."""
    unmet_faults: int = 0
    """How many episodes have a fault that never occurred."""
    infrastructure_failures: int
    failures: dict[str, int] = Field(default_factory=dict)
    """How many scenarios failed for reasons of infrastructure, by cause."""
    scenarios: int
    attempts: int
    attempts_to_success: dict[str, int]
    """How many scenarios passed at the first attempt, at the second, and so on."""
    abstentions: dict[str, int]
    """How the scenarios ended that want no call; a malformed call does not count as no call."""
    repeats: Repeats | None
    """None for a run without repeats."""
    prompt_tokens: int | None
    completion_tokens: int | None
    latency_seconds_median: float | None
    cached_replies: int = 0
    """How many replies were taken from a cache: they have no latency, and cost nothing."""
    oldest_cached: str | None = None
    """When the oldest of these was received, in ISO 8601."""
    cached_prompt_tokens: int = 0
    cached_completion_tokens: int = 0
