"""The table of exploits (`exploits.toml`), and what any reward function pays for them.

A row is a completion that tries to be paid without the work, with the honest answer of the same
question. Both are given to the function as one batch, as a trainer gives the samples of a prompt.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from tunaeval.errors import UsageError
from tunaeval.files.plain_files import table_of
from tunaeval.registry import words_of
from tunaeval.showing import brief
from tunaeval.types.wanted import wanted_name


class Exploit(NamedTuple):
    """A completion, the honest answer of the same question, and the question's columns.

    Completions are texts or lists of messages; those of the group "honest" are honest, too.
    `columns` has the `prompt`, and as JSON text the `gold` (a list of calls with `name` and
    `arguments`) and the `tools`.
    """

    name: str
    group: str
    why: str
    completion: Any
    honest: Any
    columns: dict[str, str]

    def __str__(self) -> str:
        return self.name


class Paid(NamedTuple):
    """What a reward function pays for an exploit and for the honest answer; None: it abstains.

    The verdict is "fooled" if an exploit earns as much as the honest answer, "safe" if less, "void"
    if both earn nothing, or "abstains". For an honest row it is "paid", "underpaid" or "void".
    """

    verdict: str
    pays: float | None
    honest: float | None


def exploits(*groups: str) -> list[Exploit]:
    """Return the rows of the table, honest ones included; with `groups` only those of these.

    Examples:
        >>> next(one.completion for one in exploits("needless") if str(one) == "needless-dots")
        '...'

    Raises `UnknownNameError` for an unknown group.
    """
    known = {group: rows for group, rows in table().items() if group not in _NO_GROUPS}
    wanted = [wanted_name(group, "group of exploits", known) for group in groups or known]
    return [_exploit(name, group, row) for group in wanted for name, row in known[group].items()]


def paid(
    exploit: Exploit,
    function: Callable[..., Any],
    *,
    as_text: bool = False,
    gold: str = "gold",
    tools: str = "tools",
) -> Paid:
    """Return what a reward function pays for an exploit, and for the honest answer beside it.

    The function has TRL's signature, `(completions, **columns) -> list[float]`, and may be async.
    `gold` and `tools` name the columns that it reads. A text becomes a list of one message, unless
    `as_text`. Raises `UsageError` if the function raises, or returns anything else.
    """
    prompt, both = exploit.columns["prompt"], [exploit.completion, exploit.honest]
    if not as_text:
        both = [[_message("assistant", one)] if isinstance(one, str) else one for one in both]
    columns = {
        "prompts": [prompt if as_text else [_message("user", prompt)]] * 2,
        "completions": both,
        "completion_ids": [[*str(one).encode()] for one in both],  # a token for each byte
        "trainer_state": None,
        "log_extra": lambda *_: None,
        "log_metric": lambda *_: None,
        gold: [exploit.columns["gold"]] * 2,
        tools: [exploit.columns["tools"]] * 2,
    }
    try:
        found = function(**columns)
        found = asyncio.run(found) if inspect.iscoroutine(found) else found
        pays, honest = _numbers(found)
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"exploit {exploit}: the function failed with {words_of(error)}; wanted a list of "
            f"2 finite numbers for 2 completions. They are {'texts' if as_text else 'messages'}, "
            f"and the keywords {', '.join(columns)}. If it makes the function, name what it "
            "returns, as in f = trl_reward()"
        ) from error
    if pays is None or honest is None:
        return Paid("abstains", pays, honest)
    verdicts = ("paid", "underpaid") if exploit.group == "honest" else ("fooled", "safe")
    return Paid("void" if pays == honest <= 0 else verdicts[pays < honest], pays, honest)


def _numbers(found: Any) -> list[float | None]:
    found = found.tolist() if hasattr(found, "tolist") else found  # an array or a tensor
    is_pair = isinstance(found, list | tuple) and len(found) == 2
    if not is_pair or any(isinstance(one, str) or one in {math.inf, -math.inf} for one in found):
        raise TypeError(f"its result is {brief(found)}")
    return [None if one is None or math.isnan(one) else float(one) for one in found]


def check_exploit(exploit: Exploit, function: Callable[..., Any], **options: Any) -> None:
    """Raise AssertionError if an exploit earns as much as the honest answer; skip the test if the
    function abstains. `options` are those of `paid`.
    """
    verdict, pays, honest = paid(exploit, function, **options)
    if verdict == "abstains":
        import pytest  # noqa: PLC0415 - the command does without it

        pytest.skip(f"{exploit}: the function abstains")
    assert verdict not in {"fooled", "void"}, f"{exploit} earns {pays}, an honest answer {honest}"


_NO_GROUPS = ("tools", "words", "questions")


def table() -> dict[str, Any]:
    """Return the table as it is written."""
    return table_of(__package__, "exploits.toml")


def _spelled(text: str) -> str:
    words = table()["words"]
    pattern = rf"\b({'|'.join(words)})(?:\*(\d+)|\b)"
    return re.sub(pattern, lambda found: words[found[1]] * int(found[2] or 1), text)


def _exploit(name: str, group: str, row: dict[str, Any]) -> Exploit:
    asked = table()["questions"][row["gold"]]
    made: Any = _spelled(row.get("writes", ""))
    honest: Any = _spelled(asked["honest"])
    if "messages" in row:
        made = [_message(*one) for one in row["messages"]]
        structured = asked["gold"] and any("tool_calls" in one for one in made)
        calls = ["", *asked["honest"].split()] if structured else [honest]
        honest = honest if group == "honest" else [_message("assistant", *calls)]
    gold, tools = json.dumps(asked["gold"]), table()["tools"]
    columns = {"prompt": asked["prompt"], "gold": gold, "tools": tools}
    return Exploit(name, group, row["why"], made, honest, columns)


def _message(role: str, content: str, *calls: str) -> dict[str, Any]:
    made: dict[str, Any] = {"role": role, "content": _spelled(content)}
    if calls:
        bare = [re.sub("</?tool_call>", "", _spelled(one)) for one in calls]
        made["tool_calls"] = [{"type": "function", "function": json.loads(one)} for one in bare]
    return made
