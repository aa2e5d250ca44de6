"""What becomes of damaged calls in a repair: right, refused, or wrong, with or without saying so.

    python benchmarks/repair_accuracy.py [--count 14469] [--cuts 2000] [--seed 0] [--json] [--check]

The samples are those of `selftests.mutations`. tunaeval reads them between hermes
tags; json_repair and fast_json_repair, where installed, read the bare text, and arguments that
come out as a string once more. A wrong result is flagged when a repair of level "lenient" is
listed: those lose or guess, and say so. Repairs of level "standard" claim to change no value, so a
wrong result with none but those is wrong without a flag. The peers have no flags; they are also
compared without the white space at the ends of strings, which json_repair drops.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, TypeAlias, get_args

from measuring import Aim, options, print_results
from selftests.mutations import Damaged, cut_calls, damaged_calls

import tunaeval
from tunaeval.types.parsing import Level

Outcome: TypeAlias = Literal["exact", "refused", "flagged", "unflagged"]
Reader: TypeAlias = Callable[[Damaged], Outcome]

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
MOST_UNFLAGGED = 0.015


def ours(level: Level) -> Reader:
    def read(sample: Damaged) -> Outcome:
        text = f"<tool_call>\n{sample.text}"
        text += "" if sample.cut else "\n</tool_call>"
        result = tunaeval.parse(text, format="hermes", level=level)
        if not result.calls:
            return "refused"
        said = [{"name": call.name, "arguments": call.arguments} for call in result.calls]
        if said == [sample.meant]:
            return "exact" if not sample.cut or result.truncated else "unflagged"
        guesses = any(r.level == "lenient" for call in result.calls for r in call.repairs)
        return "flagged" if guesses or result.truncated else "unflagged"

    return read


def theirs(loads: Callable[[str], Any], seen: Callable[[Any], Any] = lambda value: value) -> Reader:
    """`seen` is what of a value is compared."""

    def read(sample: Damaged) -> Outcome:
        try:
            value = loads(sample.text)
            if isinstance(value, dict) and isinstance(value.get("arguments"), str):
                value["arguments"] = loads(value["arguments"])
        except Exception:  # noqa: BLE001 - whatever a peer raises, it refuses
            return "refused"
        if not isinstance(value, dict) or "name" not in value:
            return "refused"
        return "exact" if seen(value) == seen(sample.meant) else "unflagged"

    return read


def trimmed(value: Any) -> Any:
    """A value without the white space at the ends of its strings."""
    match value:
        case str():
            return value.strip()
        case dict():
            return {key: trimmed(inner) for key, inner in value.items()}
        case list():
            return [trimmed(inner) for inner in value]
    return value


def readers() -> dict[str, Reader]:
    """tunaeval at its two repairing levels, and the peers that are here."""
    peers = {n: import_module(n).loads for n in ("json_repair", "fast_json_repair") if find_spec(n)}
    levels: tuple[Level, ...] = ("standard", "lenient")
    return {
        **{f"tunaeval, {level}": ours(level) for level in levels},
        **{name: theirs(loads) for name, loads in peers.items()},
        **{
            f"{name}, ends of strings apart": theirs(loads, trimmed)
            for name, loads in peers.items()
        },
    }


def shares(samples: Iterable[Damaged], read: Reader) -> tuple[dict[Outcome, float], Counter[str]]:
    """The share of each outcome, and how many of each kind were wrong without a flag."""
    found: Counter[Outcome] = Counter()
    unflagged: Counter[str] = Counter()
    for sample in samples:
        outcome = read(sample)
        found[outcome] += 1
        if outcome == "unflagged":
            unflagged.update(sample.kinds)
    return {outcome: found[outcome] / found.total() for outcome in OUTCOMES}, unflagged


def main() -> None:
    given = _options().parse_args()
    samples = list(damaged_calls(given.count, given.seed))
    cuts = list(cut_calls(given.cuts, given.seed))
    rows: list[list[object]] = []
    document: dict[str, Any] = {}
    for name, read in readers().items():
        found, kinds = shares(samples, read)
        cut, _ = shares(cuts, read)
        document[name] = {"damaged": found, "cut": cut, "unflagged_kinds": dict(kinds)}
        shown = [f"{100 * share:.2f} %" for share in found.values()]
        rows.append([name, *shown, f"{100 * (1 - cut['unflagged']):.2f} %"])
    print_results(
        given,
        columns=[
            f"{len(samples)} calls",
            "exact",
            "refused",
            "wrong, flagged",
            "wrong",
            "cut seen",
        ],
        rows=rows,
        document={"readers": document},
        aims=[
            aim
            for name in document
            if name.startswith("tunaeval")
            for aim in _aims(name, document[name])
        ],
    )


def _aims(name: str, found: dict[str, Any]) -> list[Aim]:
    wrong, cut = found["damaged"]["unflagged"], found["cut"]["unflagged"]
    return [
        Aim(
            f"{name}: wrong without a flag at most {100 * MOST_UNFLAGGED:.1f} %",
            f"{100 * wrong:.2f} %",
            wrong <= MOST_UNFLAGGED,
        ),
        Aim(f"{name}: every cut call flagged or refused", f"{100 * (1 - cut):.2f} %", cut == 0),
    ]


def _options() -> argparse.ArgumentParser:
    parser = options(__doc__, rounds=1)
    parser.add_argument("--count", type=int, default=14_469, help="damaged calls (14469)")
    parser.add_argument("--cuts", type=int, default=2_000, help="calls cut off (2000)")
    parser.add_argument("--seed", type=int, default=0, help="of the samples (0)")
    return parser


if __name__ == "__main__":
    main()
