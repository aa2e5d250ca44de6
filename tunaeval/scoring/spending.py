"""What was spent: the size of the context, time in tools, and money.

Latency and cost are categories outside the presets. If a part of them is unknown, the sum is
unknown: a sum of known parts would favour whoever reports least.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from tunaeval.showing import counted
from tunaeval.tools.recorder import busy_seconds
from tunaeval.types.messages import Message, Usage

from .history import Category, CategoryFinding, SettledHistory, where
from .settings import Price

_NOT_OF_THE_TASK = frozenset({"system", "developer"})  # roles of the host


class ContextSize(NamedTuple):
    """A context's size in tokens, how it was counted, and which messages (indices) reported it."""

    tokens: float
    how: str
    reports: tuple[int, ...] = ()


def context_size(history: SettledHistory) -> ContextSize:
    """Return the most tokens that were in the context at once.

    The usage that a server reports covers the reply and everything before it, including system
    text. Text after the last report is counted, without system text and without reasoning, which
    chat templates drop.
    """
    counter = history.settings.counter
    reported = list(_reported(history.messages))
    begin, latest = reported[-1] if reported else (-1, 0)
    after = history.messages[begin + 1 :]
    texts = [message.content for message in after if message.role not in _NOT_OF_THE_TASK]
    texts += [
        run.key for run in history.calls if run.message > begin
    ]  # calls as tool and arguments
    rest = sum(map(counter.count, texts))
    if not reported:
        return ContextSize(rest, counter.name)
    tokens = max(latest + rest, *(tokens for _, tokens in reported))
    how = f"reported, and {rest:.0f} after that by {counter.name}" if rest else "reported"
    return ContextSize(tokens, how, (max(reported, key=lambda report: report[1])[0],))


def _reported(messages: tuple[Message, ...]) -> Iterator[tuple[int, int]]:
    """Yield the index of each reply with reported usage, and the tokens of prompt and reply."""
    for index, message in enumerate(messages):
        usage = message.usage
        if usage is not None and usage.prompt_tokens is not None and usage.prompt_tokens >= 0:
            yield index, usage.prompt_tokens + max(0, usage.completion_tokens or 0)


def _latency(history: SettledHistory) -> CategoryFinding:
    executions = history.executions
    seconds = busy_seconds(executions)
    if seconds is None or not executions:
        why = "some tool ran for an unknown time" if executions else "nobody timed a tool"
        return CategoryFinding(value=None, reason=why)
    untimed = sum(run.duration_seconds is None for run in history.calls)
    reason = f"tools ran for {seconds:.3f} s, parallel runs counted once"
    if untimed:
        reason += f"; {counted(untimed, 'call')} not timed"
    return CategoryFinding(
        value=history.settings.latency_steps.value(seconds),
        reason=reason,
        evidence=where(run for run in history.calls if run.duration_seconds is not None),
    )


def _cost(history: SettledHistory) -> CategoryFinding:
    usages = {
        index: message.usage
        for index, message in enumerate(history.messages)
        if message.usage is not None
    }
    if not usages:
        return CategoryFinding(value=None, reason="nobody reported what the replies used")
    costs = [_dollars(usage, history.settings.price) for usage in usages.values()]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        unknown = len(costs) - len(known)
        reason = f"what {unknown} of {len(costs)} replies cost is not known; settings.price helps"
        return CategoryFinding(value=None, reason=reason)
    return CategoryFinding(
        value=history.settings.cost_steps.value(math.fsum(known)),
        reason=f"{math.fsum(known):.6f} dollars for {counted(len(known), 'reply', 'replies')}",
        evidence=tuple(usages),
    )


def _dollars(usage: Usage, price: Price | None) -> float | None:
    """Return a reply's cost in dollars: as reported, else by its tokens' price, else None."""
    if usage.cost_usd is not None:
        return usage.cost_usd if math.isfinite(usage.cost_usd) and usage.cost_usd >= 0 else None
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    if price is None or prompt is None or completion is None or min(prompt, completion) < 0:
        return None
    dollars = prompt * price.prompt_usd_per_million + completion * price.completion_usd_per_million
    return dollars / 1_000_000


latency = Category("latency", 0.10, _latency)
cost = Category("cost", 0.10, _cost)
