"""The recipe of a reward: weights, factors, and how completions are read; and named recipes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from typing import Literal, NamedTuple, TypeAlias

from tunaeval.grammar.turns import Turns
from tunaeval.parsing.api import parser_for, turns_of
from tunaeval.parsing.reader import abstaining_names
from tunaeval.types.parsing import LEVELS, Level
from tunaeval.types.wanted import refusal, wanted_name

from .engines import ENGINES, EngineName, marked_format

Grading: TypeAlias = Literal["arguments", "whole", "toolrl"]

GRADINGS: tuple[Grading, ...] = ("arguments", "whole", "toolrl")

_LATER = frozenset({"abstain", "engine", "template"})
"""Fields that are part of a digest only where they are given."""

_RULES = 6
"""Raise this number when a recipe begins to give other values; it is part of every digest."""


class Parts(NamedTuple):
    """The parts of a reward, each from 0 to 1.

    `format`: the calls are well-formed. `name`: the right tools are called. `arguments`: the
    arguments are right. `abstention`: the answer is in words, where that is wanted.
    """

    format: float = 0.0
    name: float = 0.0
    arguments: float = 0.0
    abstention: float = 0.0


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a reward is made: `value = base + the sum of weight x part`, as `Parts` names them.

    `format`, `name`, `arguments` are the weights if calls are wanted, `abstention` if none is.

    Factors from 0 to 1 lower the parts: `repaired` applies to a call that had to be repaired, is in
    a code fence or a scratchpad, or has a repeated key, two keys for one thing, or a key that calls
    do not have, with a value, or comes after thoughts that begin again and again. `misfit` applies
    to a call that does not fit its tool's schema and is not exactly the wanted one. `broken` lowers
    all parts, once for each attempt at a call that cannot be read, and it costs at least what a
    superfluous call costs (with "whole", everything).

    An attempt also counts as broken if a text begins a call that does not follow: an opener, or a
    tool's name as any format, Python, XML, YAML or a command writes it before arguments. So do a
    call of a tool in `code`, calls that a broken call swallows, calls inside another call's
    arguments, and a tool's answer that the model made up.

    `engine` is the engine that runs the calls: then just those count that its parser finds in a
    text ("trl", "vllm", "sglang", "verl"; the reader needs markers, and "auto" is read as
    "hermes"), in code, fences and scratchpads, too. All other attempts are broken, and what the
    engine leaves in code is only spoken of.

    `grading` says how calls are compared with the wanted ones: "arguments" by the share of correct
    arguments, "whole" all or nothing, "toolrl" by ToolRL's counts (see `TOOLRL`).

    `reader` is the name of a format, `level` says which repairs are made in reading. A completion
    of more than `max_characters` earns nothing and is not read. `observations`: a text may contain
    turns of tools and users, and nothing in these counts; if it is False, the model wrote them all,
    and each is broken. A tool's answer within the model's turn is broken always. `abstain` are
    names whose calls count as no call, as in `tunaeval.parse`: these are answers in words.
    `template` is the text of a chat template (Jinja) whose markers of turns are no family's that is
    known (`tunaeval template check` says so).

    Examples:
        >>> Recipe(repaired=0.5).digest != Recipe().digest
        True

    Raises `UsageError` for a weight that is no finite number, a factor outside of 0 to 1, and
    names that are not known.
    """

    format: float = 0.1
    name: float = 0.2
    arguments: float = 0.7
    abstention: float = 1.0
    base: float = 0.0
    repaired: float = 0.8
    broken: float = 0.5
    misfit: float = 0.5
    grading: Grading = "arguments"
    reader: str = "auto"
    level: Level = "standard"
    max_characters: int = 262_144
    observations: bool = True
    abstain: tuple[str, ...] = ()
    engine: EngineName | None = None
    template: str | None = None
    turns: tuple[Turns, ...] = field(init=False, repr=False, compare=False)
    """The family of the template's markers of turns, if there is one."""
    digest: str = field(init=False, repr=False, compare=False)
    """Twelve characters that differ if rewards may differ; part of every result."""

    def __post_init__(self) -> None:
        _wanted_number(self.base, "base", -math.inf, math.inf)
        for name in Parts._fields:
            _wanted_number(getattr(self, name), name, 0.0, math.inf)
        for name in ("repaired", "broken", "misfit"):
            _wanted_number(getattr(self, name), name, 0.0, 1.0)
        wanted_name(self.grading, "grading", GRADINGS)
        wanted_name(self.level, "level", LEVELS)
        if not isinstance(self.reader, str):
            raise refusal("reader", self.reader, "the name of a format")
        parser_for(self.reader)
        if type(self.max_characters) is not int or self.max_characters < 1:
            raise refusal("max_characters", self.max_characters, "a whole number, 1 or more")
        if type(self.observations) is not bool:
            raise refusal("observations", self.observations, "True or False")
        if self.engine is not None:
            wanted_name(self.engine, "engine", tuple(ENGINES))
            if marked_format(self.reader) is None:
                wish = "a format with markers around calls, such as 'hermes', as `engine` is given"
                raise refusal("reader", self.reader, wish)
        object.__setattr__(self, "turns", turns_of(self.template))
        object.__setattr__(self, "abstain", tuple(sorted(abstaining_names(self.abstain))))
        settings = [
            f"{one.name}={getattr(self, one.name)!r}"
            for one in fields(self)
            if one.init and (one.name not in _LATER or getattr(self, one.name))
        ]
        digest = sha256(f"{_RULES} {' '.join(settings)}".encode()).hexdigest()[:12]
        object.__setattr__(self, "digest", digest)

    def value_of(self, parts: Parts) -> float:
        """Return the reward for these parts."""
        return (
            self.base
            + self.format * parts.format
            + self.name * parts.name
            + self.arguments * parts.arguments
            + self.abstention * parts.abstention
        )

    def __hash__(self) -> int:
        return hash(self.digest)


def _wanted_number(value: object, name: str, least: float, most: float) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and math.isfinite(value) and least <= value <= most:  # type: ignore[arg-type,operator]  # a number
        return
    bounds = (f" from {least:g}" if math.isfinite(least) else "") + (
        f" to {most:g}" if math.isfinite(most) else ""
    )
    raise refusal(name, value, f"a finite number{bounds}")


EXACT = Recipe(
    format=0.0,
    name=0.0,
    arguments=1.0,
    repaired=0.0,
    broken=0.0,
    misfit=0.0,
    grading="whole",
    level="strict",
)
"""1 for just the wanted calls, well-formed, or for words if no call is wanted; else 0."""

TOOLRL = Recipe(format=1.0, name=6.0, arguments=6.0, abstention=7.0, base=-3.0, grading="toolrl")
"""The reward of ToolRL, from -3 to 4: 1 for the format and from -3 to 3 for the calls.

For the calls P and the wanted calls G, optimally paired, it is `6 * R / S - 3` with S = 1 + |G| +
all wanted arguments, and R the sum of: tool names in both over tool names in either; for each pair,
argument names in both over those in either; for each pair, the arguments with the wanted value.
Source: Qian et al., "ToolRL: Reward is All Tool Learning Needs", arXiv 2504.13958, section 3.3.
Added here are the factors (in the paper a broken call beside a good one, a repeated call, or a
superfluous argument costs nothing beyond the format), that a call counts in either name set as
often as it is made, and that a wanted abstention earns the 4 of a right call.
"""

NAMED = {"default": Recipe(), "EXACT": EXACT, "TOOLRL": TOOLRL}
"""The recipes by name."""


def recipe_of(recipe: object) -> Recipe:
    """Return the recipe of this name; a `Recipe` is returned unchanged.

    A name may end in "@" and an engine.

    Examples:
        >>> recipe_of("EXACT") is EXACT, recipe_of("EXACT@trl").engine
        (True, 'trl')

    Raises `UsageError` for anything else.
    """
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, str) and recipe in NAMED:
        return NAMED[recipe]
    name, _, last = recipe.partition("@") if isinstance(recipe, str) else ("", "", "")
    for engine in ENGINES if name in NAMED else ():
        if engine == last:
            return replace(NAMED[name], engine=engine)
    raise refusal("recipe", recipe, f"a Recipe, or one of {', '.join(NAMED)}")
