"""The environment variables that switch scoring on in a host, and functions that obey them.

    ENABLE_EVALS2                 true, 1, yes or on; anything else is off
    OPENAI_API_KEY_FOR_SCORING    a key: then a judge is asked
    OPENAI_MODEL_FOR_SCORING      which model judges, gpt-4o-mini unless it says otherwise
    OPENAI_BASE_URL               where it is asked, OpenAI's own address unless it says otherwise
    EVALS2_OUTPUT_FILE            JSON lines, one appended for each score

No other part of tunaeval reads them, and they are read when `from_environment` is called, except
the key: it is read when a judge is asked, so that no object here contains it. Scoring that is off
must cost nothing, so the code that wraps, scores and asks is imported when it is first needed.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, Unpack

from tunaeval.clients import clients
from tunaeval.tools.recorder import Recorder
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.roles import Client
from tunaeval.types.wanted import refusal

from .keywords import SessionKeywords, TaskKeywords
from .sessions import ScoringSession, wrapped

if TYPE_CHECKING:
    # This imports pydantic, which is not needed while scoring is off.
    from tunaeval.types.runs import ScoreResult

Tool = TypeVar("Tool")

KEY_VARIABLE = "OPENAI_API_KEY_FOR_SCORING"
DEFAULT_MODEL = "gpt-4o-mini"
DEFAULT_URL = "https://api.openai.com/v1"

_ON = frozenset({"true", "1", "yes", "on"})
_OFF = frozenset({"false", "0", "no", "off", ""})

_LOG = logging.getLogger("tunaeval.scoring")


@dataclass(frozen=True, slots=True)
class JudgeModel:
    """A `Client` that connects anew for each request: a judge makes few, from any event loop. Its
    key is read from `environment`, or from the process's environment if that is None.
    """

    base_url: str
    model: str
    name: str = "openai"
    environment: Mapping[str, str] | None = field(default=None, repr=False, compare=False)

    async def complete(self, request: Request) -> Reply:
        client: Client = clients.get("openai")(
            base_url=self.base_url,
            model=self.model,
            key_variables=(KEY_VARIABLE,),
            environment=self.environment,
        )
        try:
            return await client.complete(request)
        finally:
            await client.close()

    async def close(self) -> None:
        """Do nothing: no connection stays open."""


@dataclass(frozen=True, slots=True)
class Switches:
    """The environment's settings, with functions for wrapping and scoring that obey them."""

    enabled: bool = False
    judge: JudgeModel | None = None
    out: Path | None = None
    preset: str = "evals2"

    def wrap_tool(self, tool: Tool, recorder: Recorder) -> Tool:
        """Like `tunaeval.wrap_tool`, but return the tool unchanged if scoring is off, or, with a
        warning in the log, if it cannot be wrapped.
        """
        return wrapped(tool, recorder) if self.enabled else tool

    def scoring_session(self, query: str, **settings: Unpack[SessionKeywords]) -> ScoringSession:
        """Like `tunaeval.scoring_session`, with this judge, output file and preset."""
        usual: SessionKeywords = {"preset": self.preset, "out": self.out, "enabled": self.enabled}
        if self.judge is not None:
            usual["judge"] = self.judge
        merged: SessionKeywords = {**usual, **settings}
        return ScoringSession(query, **merged)

    def score(
        self, messages: Iterable[object], query: str, **settings: Unpack[TaskKeywords]
    ) -> ScoreResult | None:
        """Score a finished task and append the score to the output file; None if scoring is off, or
        if it fails, which is logged and recorded.
        """
        session = self.scoring_session(query, **settings)
        with session:
            session.messages = messages
        return session.score

    async def ascore(
        self, messages: Iterable[object], query: str, **settings: Unpack[TaskKeywords]
    ) -> ScoreResult | None:
        """Like `score`, for code in an event loop, where a judge has to be awaited."""
        session = self.scoring_session(query, **settings)
        async with session:
            session.messages = messages
        return session.score


def from_environment(environment: Mapping[str, str] | None = None) -> Switches:
    """Read the switches. A value that means neither on nor off is off, with a warning in the log.

    Examples:
        >>> tunaeval.from_environment({"ENABLE_EVALS2": "1"}).enabled
        True
    """
    given = os.environ if environment is None else environment
    if not isinstance(given, Mapping):
        raise refusal("environment", given, "a mapping of variables, or None")
    for name in _READ:
        if not isinstance(given.get(name, ""), str):
            raise refusal(f"environment[{name!r}]", given[name], "a text")
    if not _is_on(given.get("ENABLE_EVALS2", "")):
        return Switches()
    out = given.get("EVALS2_OUTPUT_FILE", "").strip()
    judge = None
    if given.get(KEY_VARIABLE, "").strip():
        judge = JudgeModel(
            base_url=given.get("OPENAI_BASE_URL", "").strip() or DEFAULT_URL,
            model=given.get("OPENAI_MODEL_FOR_SCORING", "").strip() or DEFAULT_MODEL,
            environment=environment,
        )
    return Switches(enabled=True, judge=judge, out=Path(out) if out else None)


_READ = (
    "ENABLE_EVALS2", "EVALS2_OUTPUT_FILE", "OPENAI_BASE_URL", "OPENAI_MODEL_FOR_SCORING",
    KEY_VARIABLE,
)  # fmt: skip


def _is_on(word: str) -> bool:
    plain = word.strip().lower()
    if plain not in _ON | _OFF:
        _LOG.warning(
            "ENABLE_EVALS2 is %r, wanted one of %s; nothing is scored", word, sorted(_ON | _OFF)
        )
    return plain in _ON
