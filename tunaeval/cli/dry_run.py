"""`tunaeval run --dry-run`: what a run would ask and cost at most, without asking anything."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from tunaeval.clients.cached import CachedClient
from tunaeval.clients.server import chat_payload
from tunaeval.files.records import json_text
from tunaeval.reports.replies import reading
from tunaeval.reports.wording import asked_with
from tunaeval.runs.episode import Trial
from tunaeval.runs.matrix import Cell
from tunaeval.runs.options import prompt_of
from tunaeval.runs.prompts import asked_by, asking_by, kept_reply, retry_prompt
from tunaeval.showing import counted
from tunaeval.types.messages import Usage

from .output import Output

_CHARACTERS_OF_A_TOKEN = 4
"""About how many characters of a request make a token, for texts in English and JSON."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """How many requests and tokens a run would need at the most, and what they would cost.

    `requests` is the number of requests if each scenario takes one attempt. The other figures are
    upper bounds: they assume that every attempt is made and that replies are as long as allowed. A
    task of many turns counts as one request, as nobody knows how many turns it takes.
    """

    requests: int
    most_requests: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


def print_estimate(cells: Sequence[Cell], arguments: argparse.Namespace, output: Output) -> int:
    """Print the estimate for all cells together, and return the exit code."""
    each = [forecast_of(cell) for cell in cells]
    costs = [one.cost for one in each if one.cost is not None]
    found = Forecast(
        requests=sum(one.requests for one in each),
        most_requests=sum(one.most_requests for one in each),
        prompt_tokens=sum(one.prompt_tokens for one in each),
        completion_tokens=sum(one.completion_tokens for one in each),
        cost=sum(costs) if len(costs) == len(each) else None,
    )
    if arguments.json:
        output.result(json_text({"dry_run": asdict(found)}))
        return 0
    for prompt in dict.fromkeys(prompt_of(cell.suite, cell.client) for cell in cells):
        for words in asked_with(prompt):
            output.result(words)
    cost = "unknown, without prices" if found.cost is None else f"{found.cost:.4f}"
    notes = []
    if any(scenario.task for cell in cells for scenario in cell.suite.scenarios):
        notes.append("a task of many turns counts as one request; ")
    if any(isinstance(cell.client, CachedClient) for cell in cells):
        notes.append("replies in the cache are counted as if they were asked for; ")
    output.result(
        f"{counted(found.requests, 'request')} with one attempt each; at most "
        f"{found.most_requests} with all attempts, about {found.prompt_tokens} tokens in, "
        f"{found.completion_tokens} tokens out, cost: {cost}; {''.join(notes)}nothing was asked"
    )
    return 0


def forecast_of(cell: Cell) -> Forecast:
    """Return the estimate for one cell; tokens are estimated from the length of a request."""
    options = cell.options.for_suite(cell.suite)
    asked = cell.asking or asking_by(cell.suite, options.ask, cell.parser, options.constrain)
    characters = most_requests = 0
    for scenario in cell.suite.scenarios:
        tools = cell.suite.tools if scenario.tools is None else scenario.tools
        own = asked_by(asked, cell.suite, scenario, tools)
        messages = own.messages(scenario.prompt, scenario.messages)
        trial = Trial(scenario, tools, reading(cell.parser, tools), options)
        request = trial.request(own, messages)
        attempts = 1 if scenario.task else options.attempts
        # Each attempt repeats the one before it, with its reply and the request to try again.
        again = [kept_reply({}), {"role": "user", "content": retry_prompt(scenario.prompt)}]
        added = options.max_tokens * _CHARACTERS_OF_A_TOKEN + len(json.dumps(again))
        characters += attempts * len(json.dumps(chat_payload(request, cell.model)))
        characters += added * (attempts * (attempts - 1) // 2)
        most_requests += attempts
    tokens_in = options.repeats * characters // _CHARACTERS_OF_A_TOKEN
    tokens_out = options.repeats * most_requests * options.max_tokens
    return Forecast(
        requests=options.repeats * len(cell.suite.scenarios),
        most_requests=options.repeats * most_requests,
        prompt_tokens=tokens_in,
        completion_tokens=tokens_out,
        cost=Usage(tokens_in, tokens_out).cost(cell.prices),
    )
