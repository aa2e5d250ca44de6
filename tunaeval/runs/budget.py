"""A budget of a run or a matrix: requests, tokens, cost. When one is reached, no more is asked.

What is in flight by then ends, so a budget may be exceeded by that much. Replies from a cache cost
nothing and are no requests.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tunaeval.types.exchange import Reply
from tunaeval.types.wanted import wanted_amount, wanted_count

Prices = tuple[float | None, float | None]
"""The prices of a million prompt and completion tokens; None where unknown."""


@dataclass(slots=True)
class Budget:
    """The most that may be spent, None for no limit, and what was spent so far.

    `cost` is in the currency of the prices. Raises UsageError for a limit that is not above 0.

    Examples:
        >>> from tunaeval.runs.budget import Budget
        >>> budget = Budget(requests=2)
        >>> budget.count_request(), budget.reached
        (None, None)
        >>> budget.count_request(), budget.reached
        (None, 'max_requests')
    """

    requests: int | None = None
    total_tokens: int | None = None
    cost: float | None = None
    spent_requests: int = field(default=0, init=False)
    spent_tokens: int = field(default=0, init=False)
    spent_cost: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        for name in ("requests", "total_tokens"):
            if (limit := getattr(self, name)) is not None:
                wanted_count(limit, f"max_{name}")
        if self.cost is not None:
            wanted_amount(self.cost, "max_cost")

    def count_request(self) -> None:
        """Count a request that is about to be sent."""
        self.spent_requests += 1

    def count_reply(self, reply: Reply, prices: Prices) -> None:
        """Count the tokens and the cost of a reply; one from a cache takes its request back."""
        if reply.cached_at is not None:
            self.spent_requests -= 1
            return
        counts = (reply.usage.prompt_tokens, reply.usage.completion_tokens)
        self.spent_tokens += sum(count or 0 for count in counts)
        self.spent_cost += sum(
            (count or 0) * (price or 0.0) / 1e6 for count, price in zip(counts, prices, strict=True)
        )

    @property
    def reached(self) -> str | None:
        """The name of the limit that is reached, as `run` calls it, or None."""
        for name, limit, spent in (
            ("max_requests", self.requests, self.spent_requests),
            ("max_total_tokens", self.total_tokens, self.spent_tokens),
            ("max_cost", self.cost, self.spent_cost),
        ):
            if limit is not None and spent >= limit:
                return name
        return None
