"""The prompts of a judge: instructions before and after a transcript, which itself gives none.

The questions are data, in `prompts.toml`: four categories, each with criteria and anchors. The
texts are our own. Changing one changes `prompt_version`, and so invalidates calibrations.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from types import MappingProxyType

from tunaeval.files.plain_files import table_of
from tunaeval.types.calls import JsonObject
from tunaeval.types.runs import JudgeOrder

from .answers import reply_shape
from .view import Shown, framed


@dataclass(frozen=True, slots=True)
class Rubric:
    """The text about one category in a judge's prompt.

    `sections` are the parts of a transcript that the judge sees (see `view`). `idle` is the score
    of an agent that did nothing at all, for which no judge is asked; None means that the category
    does not apply then.
    """

    title: str
    question: str
    criteria: Sequence[str]
    lowest: str
    highest: str
    sections: Sequence[str]
    idle: float | None = None


PROMPTS = table_of(__package__, "prompts.toml")
RUBRICS: Mapping[str, Rubric] = MappingProxyType(
    {name: Rubric(**fields) for name, fields in PROMPTS["rubrics"].items()}
)


@dataclass(frozen=True, slots=True)
class JudgeQuestion:
    """A question to a judge: the categories, the highest score, and the order of the criteria."""

    names: tuple[str, ...]
    scale: int
    order: JudgeOrder = "as-written"


def messages_for(question: JudgeQuestion, transcript: str, boundary: str) -> list[JsonObject]:
    """Return the messages to a judge; marks with `boundary` surround the transcript's lines."""
    given = {
        "boundary": boundary,
        "scale": question.scale,
        "shape": reply_shape(question.names, question.scale),
    }
    full = "\n\n".join(_rubric(name, question) for name in question.names)
    brief = "\n".join(f"{name}: {RUBRICS[name].question}" for name in question.names)
    parts = (
        PROMPTS["before"].format(questions=full, **given),
        framed(transcript, boundary),
        PROMPTS["after"].format(questions=brief, **given),
    )
    return [
        {"role": "system", "content": PROMPTS["system"].format(**given)},
        {"role": "user", "content": "\n\n".join(parts)},
    ]


def prompt_version(groups: Sequence[tuple[str, ...]], scale: int, shown: Shown) -> str:
    """Return 12 hexadecimal digits that change with the prompts of these groups or with `shown`."""
    messages = [messages_for(JudgeQuestion(names, scale), "", "") for names in groups]
    sections = {name: RUBRICS[name].sections for names in groups for name in names}
    whole = json.dumps([messages, sections, asdict(shown)], sort_keys=True)
    return sha256(whole.encode()).hexdigest()[:12]


def _rubric(name: str, question: JudgeQuestion) -> str:
    rubric, scale = RUBRICS[name], question.scale
    anchors = [f"0 means: {rubric.lowest}.", f"{scale} means: {rubric.highest}."]
    criteria = [f"- {criterion}" for criterion in rubric.criteria]
    if question.order == "swapped":
        anchors.reverse()
        criteria.reverse()
    return "\n".join((f"{name} ({rubric.title}): {rubric.question}", *anchors, *criteria))
