"""Categories outside the presets that judge what was spent: time in tools, and money.

If a part is unknown, the sum is unknown: a sum of known parts would favour whoever reports least.
"""

from __future__ import annotations

import math

from tunaeval.showing import counted
from tunaeval.tools.recorder import busy_seconds
from tunaeval.types.messages import Usage

from .categories import Category, Finding, where
from .history import History
from .settings import Price


def _latency(history: History) -> Finding:
    executions = history.transcript.executions
    seconds = busy_seconds(executions)
    if seconds is None or not executions:
        why = "some tool ran for an unknown time" if executions else "nobody timed a tool"
        return Finding(value=None, reason=why)
    untimed = sum(run.seconds is None for run in history.runs)
    reason = f"tools ran for {seconds:.3f} s, parallel runs counted once"
    if untimed:
        reason += f"; {counted(untimed, 'call')} not timed"
    return Finding(
        value=history.settings.latency_steps.value(seconds),
        reason=reason,
        evidence=where(run for run in history.runs if run.seconds is not None),
    )


def _cost(history: History) -> Finding:
    usages = {
        index: message.usage
        for index, message in enumerate(history.transcript.messages)
        if message.usage is not None
    }
    if not usages:
        return Finding(value=None, reason="nobody reported what the replies used")
    costs = [_dollars(usage, history.settings.price) for usage in usages.values()]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        unknown = len(costs) - len(known)
        reason = f"what {unknown} of {len(costs)} replies cost is not known; settings.price helps"
        return Finding(value=None, reason=reason)
    return Finding(
        value=history.settings.cost_steps.value(math.fsum(known)),
        reason=f"{math.fsum(known):.6f} dollars for {counted(len(known), 'reply', 'replies')}",
        evidence=tuple(usages),
    )


def _dollars(usage: Usage, price: Price | None) -> float | None:
    """Return a reply's cost in dollars, as reported, else by the price of its tokens, else None."""
    if usage.cost_usd is not None:
        return usage.cost_usd if math.isfinite(usage.cost_usd) and usage.cost_usd >= 0 else None
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    if price is None or prompt is None or completion is None or min(prompt, completion) < 0:
        return None
    dollars = prompt * price.prompt_usd_per_million + completion * price.completion_usd_per_million
    return dollars / 1_000_000


latency = Category("latency", 0.10, _latency)
cost = Category("cost", 0.10, _cost)
