"""What grammars of formats accept and refuse, beside xgrammar's own; and a small model under them.

    pip install llguidance xgrammar
    python -m benchmarks.constraints formats [--drawn 1000]
    python -m benchmarks.constraints xgrammar [--drawn 20]
    python -m benchmarks.constraints model [--smoke 12] [--everyday 12] [--max-tokens 60]

Each writes its table into docs/explanation/constraints.md. xgrammar needs torch only for masks of
tokens, which are not used here; without torch, an empty module stands in for it.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.machinery
import importlib.util
import sys
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, product
from random import Random
from statistics import quantiles
from typing import Any

from figures import ROOT, commit

import tunaeval
from tests.parsing.gbnf_matcher import Gbnf
from tests.parsing.lark_matcher import Lark
from tests.parsing.test_constraint import CALLS, CONSTRAINED, TOOLS, damaged
from tunaeval.clients.llamacpp import LlamaCppClient
from tunaeval.parsing.constraint import KINDS
from tunaeval.reports.statistics import wilson
from tunaeval.reports.wording import interval, percent
from tunaeval.runs.options import RunOptions
from tunaeval.runs.prompts import Asking, asking
from tunaeval.runs.runner import SuiteRun
from tunaeval.types.calls import ToolCall
from tunaeval.types.roles import Client
from tunaeval.types.runs import Report, ScenarioResult, Suite

PAGE = ROOT / "docs" / "explanation" / "constraints.md"
Accepts = Callable[[str], bool]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("formats", "xgrammar", "model"))
    parser.add_argument("--drawn", type=int)
    parser.add_argument("--smoke", type=int, default=12, help="scenarios of this suite")
    parser.add_argument("--everyday", type=int, default=12, help="scenarios of this suite")
    parser.add_argument("--max-tokens", type=int, default=60)
    given = parser.parse_args()
    if given.what == "formats":
        lines = list(formats(given.drawn or 1000))
    elif given.what == "xgrammar":
        lines = list(beside_xgrammar(given.drawn or 20))
    else:
        limits = {"smoke": given.smoke, "everyday": given.everyday}
        lines = asyncio.run(small_model(limits, given.max_tokens))
    begin, end = f"<!-- begin {given.what} -->\n", f"<!-- end {given.what} -->"
    before, _, rest = PAGE.read_text("utf-8").partition(begin)
    _, _, after = rest.partition(end)
    PAGE.write_text("".join((before, begin, "\n", *lines, "\n", end, after)), "utf-8")


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |\n"


# --- formats and kinds ---------------------------------------------------------------------------


def formats(drawn: int) -> Iterator[str]:
    yield row("format", "lark", "gbnf", "structural tag", "drawn texts")
    yield row(*["---"] * 5)
    for name in CONSTRAINED:
        made = {
            kind: tunaeval.constrain(TOOLS, format=name, kind=kind, text="none").text
            for kind in KINDS
        }
        lark = Lark(made["lark"])
        cells = [verdict(one, name) for one in (lark.accepts, Gbnf(made["gbnf"]).accepts)]
        cells.append(verdict(accepted_by_xgrammar(made["structural-tag"]), name))
        calls_alone = tunaeval.constrain(TOOLS, format=name, text="none", reasoning=False)
        texts = list(drawn_from(Lark(calls_alone.text), drawn))
        back = sum(is_read_back(text, name) for text in texts)
        yield row(f"`{name}`", *cells, f"{back} of {len(texts)} read back")
        print(name, cells, back, len(texts), flush=True)
    timed = f"time of a grammar, at commit `{commit(ROOT)}`"
    yield "\n" + row(timed, "5 tools", "50 tools") + row(*["---"] * 3)
    for name in ("hermes", "qwen3-coder", "glm45", "pythonic"):
        yield row(f"`{name}`", cost(name, 5), cost(name, 50))


def verdict(accepts: Accepts, name: str) -> str:
    """Return whether all renderings are accepted, and how many mutations are refused."""
    whole = all(accepts(tunaeval.render(calls, name)) for calls in CALLS)
    wrong = list(damaged(name))
    refused = sum(not accepts(text) for text in wrong)
    return f"{'accepts' if whole else '**refuses**'}, {refused} of {len(wrong)} refused"


def drawn_from(grammar: Lark, number: int) -> Iterator[str]:
    """Yield so many texts, or fewer where nearly all that are drawn become too long."""
    random = Random(7)
    texts = (grammar.drawn(random) for _ in range(50 * number))
    yield from islice((text for text in texts if text is not None), number)


def is_read_back(text: str, name: str) -> bool:
    found = tunaeval.parse(text, name, TOOLS, "strict")
    return not found.diagnoses and bool(found.calls) and not any(c.repairs for c in found.calls)


def cost(name: str, number: int) -> str:
    """Return the time for tools like WEATHER's, the shortest of 25 in the slower kind."""
    tools = [TOOLS["get_weather"].as_bare() | {"name": f"t{i}"} for i in range(number)]
    slowest = 0.0
    for kind in KINDS[:2]:
        seconds = []
        for _ in range(25):
            began = time.process_time()
            tunaeval.constrain(tools, format=name, kind=kind, text="none")
            seconds.append(time.process_time() - began)
        slowest = max(slowest, min(seconds))
    return f"{slowest * 1e3:.1f} ms"


# --- xgrammar ------------------------------------------------------------------------------------

MODELS = {
    "llama": "llama3-json", "qwen_3": "hermes", "exaone": "hermes", "qwen_3_coder": "qwen3-coder",
    "qwen_3_5": "qwen3-coder", "kimi": "kimi-k2",
    "kimi_k3": "kimi-k3", "deepseek_r1": "deepseek-v3", "deepseek_v3_1": "deepseek-v3.1",
    "deepseek_v3_2": "deepseek-v3.2", "deepseek_v4": "deepseek-v3.2",
    "deepseek_v4_1": "deepseek-v4.1", "glm_4_7": "glm47",
    "minimax": "minimax-m2", "minimax_m3": "minimax-m3", "mimo": "mimo", "harmony": "harmony",
    "cohere": "cohere-cmd5",
}  # fmt: skip
"""Models for which xgrammar has a tag, and our names of their formats."""


def xgrammar() -> Any:
    if importlib.util.find_spec("torch") is None:
        importlib.import_module("tvm_ffi")  # it looks for torch

        for name in ("torch", "transformers"):
            stand_in = types.ModuleType(name)
            stand_in.__spec__ = importlib.machinery.ModuleSpec(name, None)
            stand_in.__getattr__ = lambda _: type("Any", (), {"__init__": lambda *_, **__: None})  # type: ignore[method-assign] # of this one
            sys.modules[name] = stand_in
    return importlib.import_module("xgrammar")


def accepted_by_xgrammar(tag: Any, *, whole: bool = True) -> Accepts:
    xgr = xgrammar()
    grammar = xgr.Grammar.from_structural_tag(tag)
    accepts = xgr.testing._is_grammar_accept_string  # noqa: SLF001 - there is no public matcher of texts
    return lambda text: bool(accepts(grammar, text, require_termination=whole))


def beside_xgrammar(drawn: int) -> Iterator[str]:
    yield row("its model", "our format", "one call", "two", "other order", "no arguments", "drawn")
    yield row(*["---"] * 7)
    city, days = {"city": {"type": "string"}}, {"days": {"type": "integer"}}
    schema = {"type": "object", "properties": city | days, "required": ["city"]}
    tools = [{"name": "f", "parameters": schema}, {"name": "ls", "parameters": {"properties": {}}}]
    first = ToolCall("f", {"city": "Oslo", "days": 2})
    texts = [[first], [first, first], [ToolCall("f", {"days": 2, "city": "Oslo"})]]
    texts.append([ToolCall("ls", {})])
    unknown = [ToolCall("nope", {})]
    of_openai = [{"type": "function", "function": tool} for tool in tools]
    for model, name in MODELS.items():
        cells = []
        for any_order in (False, True):
            tag = xgrammar().get_model_structural_tag(
                model, tools=of_openai, reasoning="disabled", any_order=any_order
            )
            accepts = accepted_by_xgrammar(tag)
            if not any_order:
                cells = ["yes" if accepts(tunaeval.render(one, name)) else "no" for one in texts]
        ours = Lark(tunaeval.constrain(tools, format=name, text="none", reasoning=False).text)
        found = sum(map(accepts, drawn_from(ours, drawn)))
        if accepts(tunaeval.render(unknown, name)):  # its tag takes our markers for prose
            cells, found = ["as prose"] * len(texts), 0
        yield row(f"`{model}`", f"`{name}`", *cells, f"{found} of {drawn}")


# --- a small model -------------------------------------------------------------------------------

TEN = ("hermes", "llama3-json", "mistral-v11", "qwen3-coder", "glm45", "kimi-k2", "deepseek-v3.1",
       "minimax-m2", "pythonic", "gemma4")  # fmt: skip


WAYS = ("free", "constrained", "calls alone")


def calls_alone(told: Asking, suite: Suite, name: str) -> Asking:
    """Return the same with a grammar that has neither prose nor reasoning."""
    made = tunaeval.constrain(
        suite.tools, format=name, kind="gbnf", text="none", reasoning=False, allow_looser=True
    )
    again = told.remade
    return replace(
        told,
        fields={"grammar": made.text},
        remade=lambda other: calls_alone(again(other), other, name),
    )


async def small_model(limits: dict[str, int], max_tokens: int) -> list[str]:
    """Ask the embedded model scenarios of two suites, freely and constrained.

    The formats and ways of a scenario follow each other, as their prompts begin alike: the server
    then reads the tools, which take most of the time, once a scenario.
    """
    client = LlamaCppClient(context=8192)
    results: dict[tuple[str, str, str], list[ScenarioResult]] = {}
    try:
        for suite_name, limit in limits.items():
            whole = tunaeval.load_suite(suite_name)
            ids = [one.id for one in whole.scenarios]
            for number, name in enumerate(ids[:: -(-len(ids) // limit)], 1):
                one = whole.where(ids=[name])
                for form, way in product(TEN, WAYS):
                    report = await asked(one, client, form, way, max_tokens)
                    results.setdefault((suite_name, form, way), []).extend(report.results)
                print(suite_name, number, name, flush=True)
    finally:
        await client.close()
    head = row("suite", "format", "", "with calls", "sound calls", "cut off", "score", "s")
    rows = (row(one, f"`{form}`", way, *cells_of(r)) for (one, form, way), r in results.items())
    return [head, row(*["---"] * 8), *rows]


async def asked(suite: Suite, client: Client, name: str, way: str, max_tokens: int) -> Report:
    options = RunOptions(
        ask="prompt", attempts=1, max_tokens=max_tokens, concurrency=1, deadline_seconds=300,
        constrain=way != "free",
    )  # fmt: skip
    told = asking(suite, "prompt", form=name, constrain=options.constrain)
    if way == "calls alone":
        told = calls_alone(told, suite, name)
    return await SuiteRun(suite, client, tunaeval.formats.get(name), options, asking=told).run()


def cells_of(results: list[ScenarioResult]) -> tuple[str, ...]:
    replies = [attempt for result in results for attempt in result.attempts]
    called = [one for one in replies if one.outcome in ("calls", "malformed")]
    fit = [one for one in called if one.outcome == "calls" and not one.diagnoses]
    cut = sum(one.finish_reason == "length" for one in replies)
    rate = wilson(sum(result.ok for result in results), len(results))
    low, middle, high = quantiles((one.latency_seconds or 0 for one in replies), n=4)
    return (
        f"{len(called)} of {len(replies)}",
        f"{len(fit)} of {len(called)}",
        str(cut),
        f"{percent(rate)} ({interval(rate)})",
        f"{middle:.1f} ({low:.1f} to {high:.1f})",
    )


if __name__ == "__main__":
    main()
