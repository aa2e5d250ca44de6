"""`reward` and `rewards`: a completion beside its gold, by a recipe.

Most completions of a trained model are the very calls wanted. These are told by their JSON and have
a reward that is made once for each recipe; all others are taken apart by `credit`.
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
    """What a completion is worth, and why.

    `value` is `recipe.base` plus the recipe's weights times `parts`, each from 0 to 1. `outcome` is
    that of a parse ("calls", "no_call", "malformed", "truncated"), or "no_completion", or
    "too_long". `attempts` counts calls and broken attempts, `broken` the latter; `broken_spans` is
    where those are that a text holds, for a trainer that masks their loss. `failures` says why it
    is less than it could be. `recipe` is the digest of what it was made by.
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
    """What a completion is worth beside the calls that are wanted.

    `completion` is a text, a message, messages (only the model's turns count), what `renderers`
    or `tunaeval.parse` made of it, or None. `gold` is a `Gold`, or what `Gold.of` reads; compile
    it once where several completions are held against it. `tools` are those of the gold where none
    are given.

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
            said = result.content
            if not (has_two_keys(text) or (said and tries_left(said, recipe.reader, known))):
                return _whole(recipe, len(result.calls), _size(gold, recipe))
        tried = of_result(result, recipe, text, known, message=message)
        return _taken_apart(tried, gold, known, recipe)
    if text is None and message is not None and recipe.max_characters >= _FEW * _SHORT:
        items = completion[0]["tool_calls"]  # type: ignore[index]  # as `_plain` has found it
        result = structured(items, known, recipe)
        if _is_sound(result, len(items)) and gold.is_met_by(result.calls):
            return _whole(recipe, len(result.calls), _size(gold, recipe))
    return _taken_apart(attempts_of(completion, known, recipe), gold, known, recipe)


def _plain(completion: object) -> tuple[str | None, int | None]:
    """The text that is all of a completion, and the message that it is in, if in a list of one.

    Without a text, but with a message: that has nothing but structured calls. Most completions are
    one of these; whatever is not surely so goes the long way, to the same end.
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
    """Whether structured calls are few, and have no arguments as a text that is long."""
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
    """What the parts of right calls depend on, where they depend on anything."""
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
    """A reward for each completion, in order.

    `golds` is one for each, or a `Gold` for all; `tools` one value for each (a list, its JSON text,
    None), or `Tools` for all. Equal golds and tools are compiled once. Raises as `reward`, and
    `UsageError` where the numbers differ.
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
    """The gold of a row, compiled; where it and its tools are text, once for equal ones."""
    if isinstance(gold, Gold):
        return gold.with_tools(tools)
    if isinstance(gold, str | None) and isinstance(tools, str | None):
        return _gold_of_text(gold, tools)
    return Gold.of(gold, tools)


class Golds:
    """Compiles the golds of a batch: those that are equal texts, with the same tools, once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[dict[str | bytes | None, Gold], AnyTools]] = {}
        self._tools: AnyTools = None
        self._golds: dict[str | bytes | None, Gold] = {}

    def __call__(self, gold: object, tools: AnyTools) -> Gold:
        """The gold of a row. Raises as `Gold.of`."""
        if tools is self._tools and type(gold) is str and (made := self._golds.get(gold)):
            return made
        if not isinstance(gold, str | Gold | None) or not isinstance(tools, Tools):
            return gold_of(gold, tools)
        if tools is not self._tools:  # which stay themselves while they are kept here
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
    """The reward of the very calls that are wanted."""
    parts = Parts(1.0, 1.0, 1.0)
    if recipe.grading == "toolrl":
        parts = Parts(1.0, 1 / size, (size - 1) / size)
    return Reward(recipe.value_of(parts), parts, "calls", attempts=calls, recipe=recipe.digest)


def _taken_apart(tried: Attempts, gold: Gold, tools: Tools | None, recipe: Recipe) -> Reward:
    failures: tuple[Failure, ...] = ()
    if tried.calls:
        add_swallowed(tried, gold, recipe.reader, tools)
    if tried.outcome in {NO_COMPLETION, TOO_LONG}:
        parts, failures = Parts(), (_NOTHING[tried.outcome],)
    elif gold.wants_none:
        right = tried.outcome == "no_call" and tried.speaks and not tried.broken
        parts = Parts(abstention=float(right))
        failures = () if right else unwanted(tried)
    else:
        credit = Credit(gold, tried, tools, recipe)
        parts, failures = credit.parts(), credit.failures()
    return Reward(
        recipe.value_of(parts),
        parts,
        tried.outcome,
        failures,
        len(tried.calls) + tried.broken,
        tried.broken,
        tried.spans,
        recipe.digest,
    )


_NOTHING = {
    NO_COMPLETION: Failure("no-completion", "there is no text and no message of the model"),
    TOO_LONG: Failure("too-long", "longer than the recipe's max_characters, so it was not read"),
}
