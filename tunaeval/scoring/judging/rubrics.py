"""The questions to a judge, as data: four categories, each with criteria and anchors.

The texts are our own. Changing one changes `prompt_version`, and so invalidates calibrations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Rubric:
    """The text about one category in a judge's prompt.

    `sections` are the parts of a transcript that it needs, see `view`. `idle` is the score of an
    agent that did nothing at all, without asking the judge; None means that the category does not
    apply then.
    """

    title: str
    question: str
    criteria: tuple[str, ...]
    lowest: str
    highest: str
    sections: tuple[str, ...]
    idle: float | None = None


RUBRICS: Mapping[str, Rubric] = MappingProxyType({
    "goal-completion": Rubric(
        title="Goal completion",
        question="How far is the task done, going by the last messages of the transcript?",
        criteria=(
            "Every part of the task counts; a part that was left out was not done.",
            "What tools returned is evidence; the agent's own claim of success is none.",
            "A claim that the results contradict, or do not support, counts against the agent.",
            "To say honestly what could not be done is worth more than a false claim.",
        ),
        lowest="nothing that was asked for was done, or success was claimed where there is none",
        highest="all that was asked for was done, and the transcript shows it",
        sections=("messages",),
        idle=0.0,
    ),
    "plan-correctness": Rubric(
        title="Plan correctness",
        question="Were the right tools called for the task, in a sensible order?",
        criteria=(
            "The agent looks before it changes something, and checks what it has changed.",
            "Each call serves the task, and its arguments fit what earlier calls showed.",
            "Nothing that the task needs is missing, and nothing harmful or unasked is done.",
            "After a failure the next step answers that failure.",
        ),
        lowest="the calls do not serve the task, or do harm",
        highest="each call was needed, and in its place",
        sections=("calls",),
        idle=0.0,
    ),
    "success-ratio": Rubric(
        title="Success of the calls",
        question="How well did the calls themselves go?",
        criteria=(
            "A call failed when its result says so, whatever the agent says of it.",
            "The same call made again after a failure, unchanged, is a fault of its own.",
            "A failure that was understood and repaired weighs less than one that was passed over.",
            "A call without a result did not succeed.",
        ),
        lowest="every call failed, or has no result",
        highest="every call succeeded the first time",
        sections=("calls",),
    ),
    "context-efficiency": Rubric(
        title="Use of the context",
        question="How sparingly was the context used for what the task needed?",
        criteria=(
            "Reading the same thing twice is waste, and so is reading far more than was needed.",
            "Long results where a narrower call would have done are waste.",
            "Long speeches between the calls are waste.",
            "A task that needs much may use much.",
        ),
        lowest="nearly everything in the context was unneeded",
        highest="nothing in the context could have been spared",
        sections=("sizes", "calls"),
    ),
})  # fmt: skip
