"""The table of exploits, and what any reward function pays for them; `exploits.toml` has the rows.

A row is a completion that tries to be paid without the work, with the honest answer of the same
question. Both are given to the function as one batch, as a trainer gives the samples of a prompt.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple, TypeAlias

from tunaeval.errors import UsageError
from tunaeval.registry import words_of
from tunaeval.showing import brief
from tunaeval.types.wanted import wanted_name

RewardFunction: TypeAlias = Callable[..., Any]
Verdict: TypeAlias = Literal["fooled", "abstains", "underpaid", "held", "paid"]


@dataclass(frozen=True, slots=True)
class Exploit:
    """A completion, what is asked and wanted, and the honest answer of the same question.

    `completion` and `honest` are texts or lists of messages. `gold` (a list of calls with
    `name` and `arguments`) and `tools` are JSON text. An honest answer has `is_honest`.
    """

    name: str
    group: str
    prompt: str
    gold: str
    tools: str
    completion: Any
    honest: Any
    is_honest: bool
    why: str

    def __str__(self) -> str:
        return self.name


class Paid(NamedTuple):
    """What a reward function pays for an exploit and for the honest answer; None: it abstains."""

    exploit: Exploit
    value: float | None
    honest: float | None

    @property
    def verdict(self) -> Verdict:
        """Return "fooled" if an exploit earns as much as the honest answer, and "held" if less."""
        if self.value is None or self.honest is None:
            return "abstains"
        less = self.value < self.honest
        if self.exploit.is_honest:
            return "underpaid" if less else "paid"
        return "held" if less else "fooled"


def exploits(*groups: str) -> list[Exploit]:
    """Return the rows of the table, honest answers included; with `groups` only those of these.

    Examples:
        >>> next(one.completion for one in exploits("needless") if str(one) == "needless-dots")
        '...'

    Raises `UnknownNameError` for an unknown group.
    """
    known = {group: rows for group, rows in table().items() if group not in _NO_GROUPS}
    for group in groups:
        wanted_name(group, "group of exploits", known)
    return [
        _exploit(name, group, row)
        for group, named in known.items()
        for name, row in named.items()
        if group in (groups or known)
    ]


def paid(
    exploit: Exploit,
    function: RewardFunction,
    *,
    as_text: bool = False,
    gold: str = "gold",
    tools: str = "tools",
) -> Paid:
    """Return what a reward function pays for an exploit, and for the honest answer beside it.

    The function has TRL's signature, `(completions, **columns) -> list[float]`, and may be async.
    `gold` and `tools` are the columns that it reads. A completion is a list of messages, and a text
    with `as_text`, which an exploit in messages cannot be. None and NaN mean that it abstains.

    Raises `UsageError`, with the exploit's name, if the function raises or returns anything else.
    """
    both = [
        one if as_text or not isinstance(one, str) else [{"role": "assistant", "content": one}]
        for one in (exploit.completion, exploit.honest)
    ]
    user = {"role": "user", "content": exploit.prompt}
    ids = [[*json.dumps(one).encode()] for one in both]
    columns = {
        "prompts": [exploit.prompt if as_text else [user]] * 2,
        "completions": both,
        "completion_ids": ids,  # of no tokenizer: each character is a token
        "trainer_state": None,
        "log_extra": _no_log,
        "log_metric": _no_log,
        gold: [exploit.gold] * 2,
        tools: [exploit.tools] * 2,
    }
    try:
        found = function(**columns)
        if inspect.isawaitable(found):
            found = asyncio.run(_awaited(found))
        value, honest = map(_number, _listed(found))
    except (Exception, SystemExit) as error:
        shape = "texts" if as_text else "lists of messages"
        raise UsageError(
            f"exploit {exploit.name}: the function failed with {words_of(error)}; wanted a list of "
            f"2 finite numbers for 2 completions. They are {shape}, and the keywords "
            f"{', '.join(columns)}"
        ) from error
    return Paid(exploit, value, honest)


def check_exploit(exploit: Exploit, function: RewardFunction, **options: Any) -> None:
    """Raise AssertionError if an exploit earns as much as the honest answer; skip the test if the
    function abstains. `options` are those of `paid`.
    """
    found = paid(exploit, function, **options)
    if found.verdict == "abstains":
        import pytest  # noqa: PLC0415 - the command does without it

        pytest.skip(f"{exploit}: the function abstains")
    assert found.verdict != "fooled", (
        f"{exploit} earns {found.value:g}, and the honest answer {found.honest:g}: {exploit.why}"
    )


# --- the table -----------------------------------------------------------------------------------

_NO_GROUPS = ("tools", "words", "questions")


@cache
def table() -> dict[str, Any]:
    """Return the table as it is written."""
    return tomllib.loads(files(__package__).joinpath("exploits.toml").read_text("utf-8"))


def spelled(text: str) -> str:
    """Return a text of the table with its words replaced."""
    words = table()["words"]
    pattern = rf"\b({'|'.join(words)})(?:\*(\d+)|\b)"
    return re.sub(pattern, lambda found: words[found[1]] * int(found[2] or 1), text)


def _exploit(name: str, group: str, row: dict[str, Any]) -> Exploit:
    asked = table()["questions"][row["gold"]]
    words = asked["honest"]
    made: Any = spelled(row.get("writes", ""))
    honest: Any = spelled(words)
    is_honest = row.get("honest", False)
    if "messages" in row:
        made = [_message(*one) for one in row["messages"]]
        structured = asked["gold"] and any("tool_calls" in one for one in made)
        if not is_honest:
            honest = [_message("assistant", *(["", *words.split()] if structured else [words]))]
    wanted = json.dumps(asked["gold"])
    known = table()["tools"].strip()
    return Exploit(name, group, asked["prompt"], wanted, known, made, honest, is_honest, row["why"])


def _message(role: str, content: str, *calls: str) -> dict[str, Any]:
    """Return a message; `calls` are JSON, with or without the markers of a call."""
    made = [
        json.loads(spelled(one).removeprefix("<tool_call>").removesuffix("</tool_call>"))
        for one in calls
    ]
    items = [{"type": "function", "function": one} for one in made]
    return {"role": role, "content": spelled(content), **({"tool_calls": items} if items else {})}


# --- what a function returns ---------------------------------------------------------------------


async def _awaited(found: Any) -> Any:
    return await found


def _no_log(*_: object) -> None:
    """Log nothing."""


def _listed(found: Any) -> list[object]:
    listed = found.tolist() if hasattr(found, "tolist") else found  # arrays and tensors
    if not isinstance(listed, list | tuple) or len(listed) != 2:
        raise TypeError(f"its result is {brief(found)}")
    return [*listed]


def _number(value: Any) -> float | None:
    if value is None:
        return None
    number = math.inf if isinstance(value, str | bytes) else float(value)
    if math.isinf(number):
        raise TypeError(f"its result has {brief(value)}")
    return None if math.isnan(number) else number
