"""`reward` and `rewards`: score a completion against its gold by a recipe.

Most completions of a trained model are exactly the wanted calls. A fast comparison of JSON detects
them, and their reward is made once for each recipe; `credit` analyses all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import lru_cache

from tunaeval.errors import UsageError
from tunaeval.matching.failures import Failure
from tunaeval.parsing.api import parse
from tunaeval.types.calls import Tools
from tunaeval.types.parsing import ParseResult
from tunaeval.types.wanted import refusal

from .attempts import NO_COMPLETION, TOO_LONG, Attempts, BrokenSpan
from .credit import Credit, unwanted
from .gold import AnyTools, Gold, tools_of
from .hedges import has_two_keys, two_guesses
from .leftovers import tries_left
from .reading import add_swallowed, attempts_of, has_others, of_result, structured
from .recipe import Parts, Recipe, recipe_of

_DEFAULT = Recipe()


@dataclass(frozen=True, slots=True)
class Reward:
    """The worth of a completion, and the reasons.

    `value` is `recipe.base` plus the recipe's weights times `parts`, each from 0 to 1. `outcome` is
    that of a parse ("calls", "no_call", "malformed", "truncated"), "no_completion" or "too_long".
    `attempts` counts calls and broken attempts, `broken` only the latter; `broken_spans` are their
    spans in a text, for a trainer that masks their loss. `failures` say why it is not worth more.
    `recipe` is the digest of the recipe.
    """

    value: float
    parts: Parts
    outcome: str
    failures: tuple[Failure, ...] = ()
    attempts: int = 0
    broken: int = 0
    broken_spans: tuple[BrokenSpan, ...] = ()
    recipe: str = ""

    def __float__(self) -> float:
        return self.value


def reward(
    completion: object, gold: object, tools: AnyTools = None, *, recipe: Recipe | str = _DEFAULT
) -> Reward:
    """Return the worth of a completion, compared with the wanted calls.

    `completion` is a text, a message, messages (only the model's turns count), a result of
    `renderers` or `tunaeval.parse`, or None. `gold` is a `Gold`, or what `Gold.of` reads; compile
    it once for several completions. `tools` default to those of the gold.

    Examples:
        >>> found = reward('<tool_call>{"name": "ls", "arguments": {}}</tool_call>',
        ...                [{"name": "ls", "arguments": {}}])
        >>> found.value, found.outcome
        (1.0, 'calls')

    Deterministic and thread-safe. Never raises on a completion; raises `UsageError` for a gold and
    `ToolsError` for tools that cannot be understood.
    """
    if type(recipe) is not Recipe:
        recipe = recipe_of(recipe)
    if tools is not None and type(tools) is not Tools:
        tools = tools_of(tools)
    if type(gold) is not Gold:
        gold = Gold.of(gold, tools)
    known = gold.tools if tools is None else tools
    text, message = _plain(completion)
    if text is not None and len(text) <= recipe.max_characters and not has_others(text):
        result = parse(text, recipe.reader, known, recipe.level, abstain=recipe.abstain)
        if _is_sound(result, len(result.calls)) and gold.is_met_by(result.calls):
            content = result.content
            if not (has_two_keys(text) or (content and tries_left(content, recipe.reader, known))):
                return _whole(recipe, len(result.calls), _size(gold, recipe))
        attempts = of_result(result, recipe, text, known, message=message)
        return _taken_apart(attempts, gold, known, recipe)
    if text is None and message is not None and recipe.max_characters >= _FEW * _SHORT:
        items = completion[0]["tool_calls"]  # type: ignore[index]  # as `_plain` has found it
        result = structured(items, known, recipe)
        if _is_sound(result, len(items)) and gold.is_met_by(result.calls):
            return _whole(recipe, len(result.calls), _size(gold, recipe))
    return _taken_apart(attempts_of(completion, known, recipe), gold, known, recipe)


def _plain(completion: object) -> tuple[str | None, int | None]:
    """Return the text that is the whole completion, and the index of its message, if any.

    An index without a text means a message with nothing but structured calls. Most completions are
    one of these; all others take the slow path, with the same result.
    """
    if type(completion) is str:
        return completion, None
    if type(completion) is not list or len(completion) != 1 or type(completion[0]) is not dict:
        return None, None
    message = completion[0]
    content, items = message.get("content"), message.get("tool_calls")
    if message.get("role") != "assistant" or message.get("function_call"):
        return None, None
    if type(content) is str and not items:
        return content, 0
    return None, 0 if not content and type(items) is list and _are_short(items) else None


def _are_short(items: list[object]) -> bool:
    """Whether structured calls are few and none has long arguments as text."""
    if len(items) > _FEW:
        return False
    for item in items:
        inner = item.get("function") if type(item) is dict else None
        if type(inner) is not dict or (len(inner) > len(_OF_A_CALL) and two_guesses(inner)):
            return False
        arguments = inner.get("arguments")
        if type(arguments) is not dict and not (
            type(arguments) is str and len(arguments) <= _SHORT
        ):
            return False
    return True


_FEW, _SHORT = 16, 4096
_OF_A_CALL = ("name", "arguments")


def _size(gold: Gold, recipe: Recipe) -> int:
    """Return the gold's size if the parts of a correct completion depend on it, else 0."""
    return gold.size if recipe.grading == "toolrl" else 0


def _is_sound(result: ParseResult, attempts: int) -> bool:
    if result.diagnoses or not attempts or len(result.calls) != attempts:
        return False
    for call in result.calls:  # noqa: SIM110 - `all` with a generator takes twice as long
        if call.repairs:
            return False
    return True


def rewards(
    completions: Sequence[object],
    golds: Sequence[object] | Gold,
    tools: Sequence[AnyTools] | Tools | None = None,
    *,
    recipe: Recipe | str = _DEFAULT,
) -> list[Reward]:
    """Return a reward for each completion, in order.

    `golds` is one for each, or a `Gold` for all; `tools` is a value for each (a list, its JSON
    text, None), or `Tools` for all. Equal golds and tools are compiled once. Raises as `reward`
    does, and `UsageError` if the lengths differ.
    """
    several: Mapping[str, object] = {"completions": completions, "golds": golds, "tools": tools}
    for name, value in several.items():
        if not isinstance(value, Sized | Gold) and (name != "tools" or value is not None):
            raise refusal(name, value, "a list, with one for each completion")
    wanted = [golds] * len(completions) if isinstance(golds, Gold) else golds
    given = [tools] * len(completions) if tools is None or isinstance(tools, Tools) else tools
    for name, rows in (("golds", wanted), ("tools", given)):
        if len(rows) != len(completions):
            raise UsageError(
                f"{len(completions)} completions, but {len(rows)} {name}; wanted one for each"
            )
    compiled = Golds()
    return [
        reward(completion, compiled(gold, known), recipe=recipe)
        for completion, gold, known in zip(completions, wanted, given, strict=True)
    ]


def gold_of(gold: object, tools: AnyTools) -> Gold:
    """Return the compiled gold of a row; equal texts of gold and tools are compiled once."""
    if isinstance(gold, Gold):
        return gold.with_tools(tools)
    if isinstance(gold, str | None) and isinstance(tools, str | None):
        return _gold_of_text(gold, tools)
    return Gold.of(gold, tools)


class Golds:
    """A cache for the golds of a batch: equal texts with the same tools are compiled once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[dict[str | bytes | None, Gold], AnyTools]] = {}
        self._tools: AnyTools = None
        self._golds: dict[str | bytes | None, Gold] = {}

    def __call__(self, gold: object, tools: AnyTools) -> Gold:
        """Return the gold of a row. Raises as `Gold.of` does."""
        if tools is self._tools and type(gold) is str and (made := self._golds.get(gold)):
            return made
        if not isinstance(gold, str | Gold | None) or not isinstance(tools, Tools):
            return gold_of(gold, tools)
        if tools is not self._tools:  # the dict keeps them alive, so that their id stays unique
            self._golds, self._tools = self._known.setdefault(id(tools), ({}, tools))
        text = gold.key if isinstance(gold, Gold) else gold
        if text not in self._golds:
            self._golds[text] = gold_of(gold, tools)
        return self._golds[text]


@lru_cache(maxsize=4096)
def _gold_of_text(gold: str | None, tools: str | None) -> Gold:
    return Gold.of(gold, tools)


@lru_cache(maxsize=1024)
def _whole(recipe: Recipe, calls: int, size: int) -> Reward:
    """Return the reward for exactly the wanted calls."""
    parts = Parts(1.0, 1.0, 1.0)
    if recipe.grading == "toolrl":
        parts = Parts(1.0, 1 / size, (size - 1) / size)
    return Reward(recipe.value_of(parts), parts, "calls", attempts=calls, recipe=recipe.digest)


def _taken_apart(attempts: Attempts, gold: Gold, tools: Tools | None, recipe: Recipe) -> Reward:
    failures: tuple[Failure, ...] = ()
    if attempts.calls:
        add_swallowed(attempts, gold, recipe.reader, tools)
    if attempts.outcome in {NO_COMPLETION, TOO_LONG}:
        parts, failures = Parts(), (_NOTHING[attempts.outcome],)
    elif gold.wants_none:
        right = attempts.outcome == "no_call" and attempts.speaks and not attempts.broken
        parts = Parts(abstention=float(right))
        failures = () if right else unwanted(attempts)
    else:
        credit = Credit(gold, attempts, tools, recipe)
        parts, failures = credit.parts(), credit.failures()
    return Reward(
        recipe.value_of(parts),
        parts,
        attempts.outcome,
        failures,
        len(attempts.calls) + attempts.broken,
        attempts.broken,
        attempts.spans,
        recipe.digest,
    )


_NOTHING = {
    NO_COMPLETION: Failure("no-completion", "there is no text and no message of the model"),
    TOO_LONG: Failure("too-long", "longer than the recipe's max_characters, so it was not read"),
}
