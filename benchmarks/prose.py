"""A megabyte without a call through `tunaeval.parse`: how fast nothing is found.

    python benchmarks/prose.py [--rounds 9] [--json] [--check]

Two floors are beside it: `str.find` of one opener, which no reader of several markers can reach,
and all fixed texts of the set sought by one plain alternation. Megabytes count characters. No tools
are given, so that any JSON object might be a call. "Python" are sources of the standard library.
"""

from __future__ import annotations

import argparse
import inspect
import re
import tarfile
import typing
from statistics import median

from measuring import Aim, Rounds, Work, in_turns, options, print_results, ratio

import tunaeval
from tunaeval.grammar.formats import FORMATS
from tunaeval.parsing.finder import Finder
from tunaeval.parsing.reader import Reader

SIZE = 1_000_000
NAMED_LEAST, SET_LEAST = 150, 80
"""Megabytes a second."""

CLEAN = (
    "The harbour lay quiet in the early light, and the boats had not yet gone out. Somebody on the "
    "pier was repairing a net; he looked up, nodded, and went on with his work. "
)
BUSY = (
    "If a < b (see [1], [2]) then f(x) = {y}: 'quoted', \"twice\", `code`, 5 > 3 & <b>bold</b>; "
    "functions <https://example.org> cost $3, {a, b} and [c]... [link](#there) -> done.\n"
)
JAPANESE = "港は朝の光の中で静かだった。船はまだ出ていない。桟橋では誰かが網を繕っている。"


def code() -> str:
    return "\n".join(inspect.getsource(module) for module in (argparse, inspect, tarfile, typing))


def of_size(piece: str) -> str:
    return (piece * (SIZE // len(piece) + 1))[: SIZE - 1] + "."


TEXTS = {
    "clean prose": of_size(CLEAN),
    "busy prose": of_size(BUSY),
    "CJK": of_size(JAPANESE),
    "HTML": of_size("<div class='a'><p>" + CLEAN + "</p></div>\n"),
    "Python": of_size(code()),
}

ALL = Reader("all", tuple(FORMATS.values()))
FIXED = re.compile(
    "|".join(map(re.escape, sorted(Finder(ALL.formats).tokens, key=len, reverse=True)))
)

FIND, SEARCH, NAMED, SET = "str.find", "alternation", "hermes", "set"


def measured(text: str, rounds: int) -> Rounds:
    """Microseconds a text."""
    for format_ in ("hermes", ALL):
        assert not tunaeval.parse(text, format_).calls
    opener = "<no such opener>"
    return in_turns(
        {
            FIND: Work(text.find, (opener,)),
            SEARCH: Work(FIXED.findall, (text,)),
            NAMED: Work(tunaeval.parse, (text, "hermes")),
            SET: Work(tunaeval.parse, (text, ALL)),
        },
        rounds,
    )


def speed(rounds: Rounds, peer: str) -> float:
    """Megabytes a second."""
    return SIZE / median(rounds[peer])


def aims(found: dict[str, Rounds]) -> list[Aim]:
    judged = []
    for peer, least in ((NAMED, NAMED_LEAST), (SET, SET_LEAST)):
        worst = min(found, key=lambda kind: speed(found[kind], peer))
        slowest = speed(found[worst], peer)
        text = f"{peer}: at least {least} MB/s"
        judged.append(Aim(text, f"{slowest:.0f} at the least ({worst})", slowest >= least))
    return judged


def main() -> None:
    given = options(__doc__, rounds=9).parse_args()
    found = {kind: measured(text, given.rounds) for kind, text in TEXTS.items()}
    figures = {
        kind: {
            **{peer: speed(rounds, peer) for peer in rounds},
            "hermes to str.find": ratio(rounds, NAMED, FIND),
            "set to alternation": ratio(rounds, SET, SEARCH),
        }
        for kind, rounds in found.items()
    }
    print_results(
        given,
        columns=["MB/s", *next(iter(figures.values()))],
        rows=[[kind, *values.values()] for kind, values in figures.items()],
        document={"texts": figures},
        aims=aims(found),
    )


if __name__ == "__main__":
    main()
