"""How much of a published score is format and how much ability: models by their kept replies.

    python benchmarks/format_or_ability.py FOLDER [--prompts DIR] [--write PAGE] [--json]

FOLDER has results as `tunaeval rescore --from bfcl` reads them, or `prompts.jsonl.gz` and
`replies.jsonl.gz` as `published.py` does. Prompts and answers are those of `--prompts`, or of the
installed package bfcl-eval. Prints tables in Markdown; `--write` puts them into a page, between its
two markers.

The score of a model is the mean of BFCL's categories simple, multiple, parallel and
parallel_multiple (those that are there), as a share of the replies. Of published replies "BFCL" is
what its own handler read, judged by the same answers and the same rules (the profile `bfcl`) as
ours, so that the two differ by what was read alone; of BFCL's results it is the verdict that
`bfcl evaluate` left.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

from measuring import table
from published import Folder, Reply
from written_forms import STRUCTURED, form_of

from tunaeval import BfclModel, ToolCall, load_suite, match, rescore_bfcl
from tunaeval.types.runs import Scenario, ScenarioResult

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
CATEGORIES = {
    "simple": "simple",
    "multiple_function": "multiple",
    "parallel_function": "parallel",
    "parallel_multiple_function": "parallel_multiple",
    "relevance": "irrelevance",
}
"""Of the published replies, and what they are called today."""
NO_CALL = "irrelevance"
READERS = ("BFCL", "strict", "standard", "lenient")
MOVED = 5.0
"""So many points are called a move."""
_EXAMPLE = 56


@dataclass
class Figures:
    """What one model wrote, and what it comes to; every share is of 100."""

    name: str
    replies: int
    scores: dict[str, float]
    abstained: dict[str, float]
    forms: Counter[str] = field(default_factory=Counter)
    repairs: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    repaired: int = 0
    example: str = ""

    def share(self, count: int) -> float:
        return 100 * count / (self.replies or 1)


def figures_of(model: BfclModel) -> Figures:
    by_category: dict[str, list[ScenarioResult]] = {}
    for one in model.results:
        if one.outcome != "transport_failure":
            by_category.setdefault(one.tags[0], []).append(one)
    calling = [each for name, each in by_category.items() if name in CATEGORIES.values()
               and name != NO_CALL]  # fmt: skip
    found = Figures(
        model.name,
        sum(map(len, calling)),
        {reader: fmean(_share(each, reader, model.verdicts) for each in calling or [[]])
         for reader in READERS},
        {reader: _share(by_category.get(NO_CALL, []), reader, model.verdicts)
         for reader in READERS},
    )  # fmt: skip
    written: dict[str, list[str]] = {}
    for one in (one for each in calling for one in each):
        message = one.attempts[0].message
        text = str(message.get("content") or "")
        form = STRUCTURED if message.get("tool_calls") else form_of(text)
        found.forms[form] += 1
        found.outcomes[one.outcome] += 1
        found.repairs.update(sorted(set(one.repairs)))  # in the same order in every run
        found.repaired += bool(one.repairs)
        if one.ok or model.verdicts.get(one.scenario):
            written.setdefault(form, []).append(text)
    commonest = max(found.forms, key=found.forms.__getitem__, default="")
    found.example = min(written.get(commonest, [""]), key=len)
    return found


def _share(results: Sequence[ScenarioResult], reader: str, theirs: Mapping[str, bool]) -> float:
    """The share that passed, of those that the reader has a verdict on; NaN where there is none."""
    if reader == "BFCL":
        verdicts = [theirs[one.scenario] for one in results if one.scenario in theirs]
    else:
        verdicts = [one.levels[reader].ok for one in results]  # type: ignore[index] # a level
    return 100 * sum(verdicts) / len(verdicts) if verdicts else float("nan")


# --- published replies as results of BFCL --------------------------------------------------------


def as_results(folder: Folder, prompts: str | None, place: Path) -> int:
    """Write the replies as BFCL keeps them, with its scores; returns how many questions changed.

    Left out are those that the prompts ask otherwise, for an answer is to its own question.
    """
    scenarios: dict[tuple[str, int], Scenario] = {}
    for old, new in CATEGORIES.items():
        for one in load_suite(f"bfcl:{new}", bfcl=prompts).scenarios:
            scenarios[old, int(one.id.rpartition("_")[2])] = one
    kept: dict[tuple[str, str], list[tuple[Reply, bool]]] = {}
    changed = set()
    for reply in folder.replies:
        scenario = scenarios.get((reply.category, reply.number))
        if reply.category not in CATEGORIES:
            continue
        if scenario is None or scenario.prompt != folder.question(reply):
            changed.add((reply.category, reply.number))
            continue
        passed = _passed(reply, scenario, folder.functions(reply))
        kept.setdefault((reply.model, reply.category), []).append((reply, passed))
    for (model, category), each in kept.items():
        name = f"gorilla_openfunctions_v1_test_{category}_result.json"
        rows = [{"id": f"{category}_{one.number}", "result": one.text} for one, _ in each]
        _write(place / "result" / model / name, rows)
        failed = [{"id": f"{category}_{one.number}"} for one, passed in each if not passed]
        _write(place / "score" / model / f"{category}_score.json",
               [{"total_count": len(each)}, *failed])  # fmt: skip
    return len(changed)


def _passed(reply: Reply, scenario: Scenario, functions: Sequence[Mapping[str, object]]) -> bool:
    """By BFCL: what its handler read, judged by these answers. A name that is none stays so."""
    if CATEGORIES[reply.category] == NO_CALL:
        return reply.passed
    names = {str(one["name"]): str(one["name"]).replace(".", "_") for one in functions}
    calls = [ToolCall(names.get(one.name, f"{one.name} ?"), one.arguments)
             for one in reply.theirs or ()]  # fmt: skip
    return bool(match(scenario.expect, calls, profile="bfcl", tools=scenario.tools))


def _write(path: Path, rows: Sequence[Mapping[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


# --- the page ------------------------------------------------------------------------------------


def page(models: Sequence[Figures], changed: int) -> Iterator[str]:
    """The figures in Markdown: what was written, scores and ranks, and what they come to."""
    replies = sum(one.replies for one in models)
    yield (
        f"{len(models)} models, {replies:,} replies that should call"
        + (f"; {changed} questions that were changed since are left out." if changed else ".")
    )
    yield "### What was written"
    yield table(
        ["model", "how replies begin", "repaired, %", "malformed or cut, %", "no call read, %",
         "commonest repairs", "a right one"],
        [_written(one) for one in models],
    )  # fmt: skip
    yield "### What it comes to"
    ranks = {reader: _ranks(models, reader) for reader in READERS}
    ranked = READERS[:3]
    yield table(
        ["model", *(f"{one}, %" for one in READERS), *(f"rank, {one}" for one in ranked)],
        [[one.name, *(_shown(one.scores[reader]) for reader in READERS),
          *(f"{ranks[reader][one.name]:g}" for reader in ranked)] for one in models],
    )  # fmt: skip
    yield from _sentences(models, ranks)
    yield "### Where no tool fits"
    yield table(
        ["model", "BFCL, %", "standard, %", "difference"],
        [[one.name, _shown(one.abstained["BFCL"]), _shown(one.abstained["standard"]),
          f"{one.abstained['standard'] - one.abstained['BFCL']:+.1f}"] for one in models],
    )  # fmt: skip
    yield _rewarded(models)


def _written(one: Figures) -> list[str]:
    forms = "; ".join(
        f"{name} {one.share(count):.0f} %" for name, count in one.forms.most_common(2)
    )
    repairs = "; ".join(f"{name} {count}" for name, count in one.repairs.most_common(2))
    broken = one.outcomes["malformed"] + one.outcomes["truncated"]
    shares = (
        f"{one.share(count):.1f}" for count in (one.repaired, broken, one.outcomes["no_call"])
    )
    return [one.name, forms, *shares, repairs or "none", _quoted(one.example)]


def _quoted(text: str) -> str:
    """A short text as code in a cell of a table."""
    line = json.dumps(text.strip(), ensure_ascii=False)[1:-1].replace('\\"', '"')
    line = line.replace("|", "¦").replace("`", "´")
    return f"`{line[:_EXAMPLE]}{'…' * (len(line) > _EXAMPLE)}`" if line else "-"


def _shown(share: float) -> str:
    return "-" if share != share else f"{share:.1f}"  # noqa: PLR0124 - NaN


def _ranks(models: Sequence[Figures], reader: str) -> dict[str, float]:
    """From 1, the best; equal scores share the mean of their places."""
    scores = [one.scores[reader] for one in models]
    return {
        one.name: 1
        + sum(score > one.scores[reader] for score in scores)
        + (sum(score == one.scores[reader] for score in scores) - 1) / 2
        for one in models
    }


def _correlation(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Spearman's, of two rankings of the same models."""
    middle = (len(one) + 1) / 2
    product = sum((one[name] - middle) * (other[name] - middle) for name in one)
    squares = [sum((rank - middle) ** 2 for rank in each.values()) for each in (one, other)]
    return product / ((squares[0] * squares[1]) ** 0.5 or 1)


def _sentences(
    models: Sequence[Figures], ranks: Mapping[str, Mapping[str, float]]
) -> Iterator[str]:
    for before, after, reason in (
        ("strict", "standard", "that repairs which change no value bring"),
        ("standard", "lenient", "that repairs which guess bring"),
        ("BFCL", "standard", "between BFCL's decoder and `auto`"),
    ):
        gains = {one.name: one.scores[after] - one.scores[before] for one in models}
        gains = {name: gain for name, gain in gains.items() if gain == gain}  # noqa: PLR0124 - NaN
        if not gains:
            continue
        moved = sorted(
            (name for name in gains if abs(gains[name]) >= MOVED), key=lambda n: -gains[n]
        )
        names = ", ".join(f"{name} {gains[name]:+.1f}" for name in moved) or "none"
        yield (
            f"- **{before} → {after}** ({reason}): {fmean(gains.values()):+.1f} points in the "
            f"mean, rank correlation {_correlation(ranks[before], ranks[after]):.2f}. "
            f"By {MOVED:g} points or more: {names}."
        )


def _rewarded(models: Sequence[Figures]) -> str:
    fallen = [one for one in models if one.abstained["BFCL"] - one.abstained["standard"] >= MOVED]
    names = ", ".join(one.name for one in fallen) or "no model"
    return f"At least {MOVED:g} points lower here than there: {names}."


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="results of BFCL, or published replies")
    parser.add_argument("--prompts", help="BFCL's prompts (the installed bfcl-eval)")
    parser.add_argument("--write", type=Path, help="the page whose figures are written again")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    with TemporaryDirectory() as place:
        path, changed = given.folder, 0
        if (path / "replies.jsonl.gz").exists():
            changed = as_results(Folder(path), given.prompts, Path(place))
            path = Path(place)
        models = [figures_of(one) for one in _read(path, given.prompts)]
    models.sort(key=lambda one: (-one.scores["standard"], one.name))
    if given.json:
        print(json.dumps({"changed": changed, "models": [vars(one) for one in models]}))
        return
    text = "\n\n".join(page(models, changed)).replace(".\n\n- **", ".\n- **")
    if given.write is None:
        print(text)
    else:
        _rewrite(given.write, text)


def _read(path: Path, prompts: str | None) -> Iterator[BfclModel]:
    for model in rescore_bfcl(path, prompts=prompts):
        for fault in model.faults:
            print(fault, file=sys.stderr)
        yield model


def _rewrite(page: Path, text: str) -> None:
    before, begin, rest = page.read_text("utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{page}: wanted {BEGIN} and {END}, between which the figures are written")
    page.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}", "utf-8")


if __name__ == "__main__":
    main()
