"""A budget of a run or a matrix: requests, tokens, cost. When one is reached, no more is asked.

Requests that are in flight by then are finished, so a budget may be exceeded by that much. Replies
from a cache cost nothing and are no requests. A limit of tokens or cost ends the run, too, once a
reply comes without counts of tokens: what cannot be counted cannot be limited.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, field

from tunaeval.types.exchange import Reply
from tunaeval.types.messages import Prices
from tunaeval.types.wanted import wanted_amount, wanted_count

_LOG = logging.getLogger("tunaeval.clients")


class FirstFailureError(Exception):
    """Ends the scenarios that are in progress; a run whose budget raises it has a report."""


@dataclass(slots=True)
class Budget:
    """The most that may be spent, None for no limit, and what was spent so far.

    `cost` is in the currency of the prices. `spent_tokens` and `spent_cost` are infinite once a
    reply came whose tokens or cost are unknown. Raises UsageError for a limit that is not above 0.

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
    first_failure: bool = False
    """Whether the first failed scenario ends the run; then `has_failed` is set."""
    has_failed: bool = field(default=False, init=False)
    spent_requests: int = field(default=0, init=False)
    spent_tokens: float = field(default=0, init=False)
    spent_cost: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        for name in ("requests", "total_tokens"):
            if (limit := getattr(self, name)) is not None:
                wanted_count(limit, f"max_{name}")
        if self.cost is not None:
            wanted_amount(self.cost, "max_cost")

    def count_failure(self) -> None:
        """Count a scenario that failed. Raises FirstFailureError if that ends the run."""
        self.has_failed = self.first_failure
        if self.has_failed:
            raise FirstFailureError

    def count_request(self) -> None:
        """Count a request that is about to be sent."""
        self.spent_requests += 1

    def count_reply(self, reply: Reply, prices: Prices) -> None:
        """Count a reply's tokens and cost; a reply from a cache is free, and no request."""
        if reply.cached_at is not None:
            self.spent_requests -= 1
            return
        counts = (reply.usage.prompt_tokens, reply.usage.completion_tokens)
        cost = reply.usage.cost(prices)
        has_limit = self.total_tokens is not None or self.cost is not None
        if None in counts and has_limit and math.isfinite(self.spent_tokens):
            _LOG.warning(
                "a reply came without counts of tokens, so no limit of tokens or cost can be kept, "
                "and nothing more is asked"
            )
        self.spent_tokens += math.inf if None in counts else sum(filter(None, counts))
        self.spent_cost += math.inf if cost is None else cost

    @property
    def reached(self) -> str | None:
        """The name of the limit that is reached, such as "max_cost", or None."""
        if self.has_failed:
            return "first_failure"
        for name, limit, spent in (
            ("max_requests", self.requests, self.spent_requests),
            ("max_total_tokens", self.total_tokens, self.spent_tokens),
            ("max_cost", self.cost, self.spent_cost),
        ):
            if limit is not None and spent >= limit:
                return name
        return None
