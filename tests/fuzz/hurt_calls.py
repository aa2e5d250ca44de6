"""Single calls in every format, hurt at random: how many come out wrong without a word.

    python tests/fuzz/hurt_calls.py [--calls N] [--seed S] [--show K] [--format NAME ...]

Each text is one call of a coding agent as its format writes it, hurt once or (half of them) twice:
a character lost, added or changed, two swapped, or a run of up to twelve cut out. It is read with
the tools at standard, and is one of

    same        the call that was meant
    refused     no call: the diagnoses say why
    lost        no call, and nothing says so
    flagged     another call, with a repair or a diagnosis
    invisible   the same tool and argument names, no markup in the values: the damage is inside a
                value, where nothing can show it
    wrong       anything else: this is what must not happen

Prints the counts, those of each format that has wrong ones, and the first wrong texts; exit code 1
if more than 0.2 % are wrong, or 2.5 % lost. The same seed gives the same texts.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from selftests.sample_calls import sample_call

from tunaeval.errors import UsageError
from tunaeval.grammar import Literal, Many, Maybe, Word
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import FORMATS
from tunaeval.parsing.api import parse, render
from tunaeval.types.calls import JsonValue, ToolCall, Tools, ToolSpec
from tunaeval.types.parsing import ParseResult

AIM, MOST_LOST = 0.002, 0.025
_CUT = 12
_ADDED = "abcXYZ019 _-./<>\"'{}[]=:,|\n"


def _tools() -> Tools:
    text, number = {"type": "string"}, {"type": "integer"}
    shapes = {
        "read_file": {"filepath": text, "offset": number, "limit": {"type": ["integer", "null"]}},
        "write_file": {"filepath": text, "content": text, "append": {"type": "boolean"}},
        "grep": {
            "pattern": text, "directory": text, "include": {"type": "array", "items": text},
            "use_regex": {"type": "boolean"},
        },
        "bash": {
            "command": text, "env": {"type": "object"}, "timeout": {"type": "number"},
        },
        "update_file": {"filepath": text, "target": text, "patch": text},
    }  # fmt: skip
    return Tools(
        ToolSpec(name, parameters={"type": "object", "properties": shape})
        for name, shape in shapes.items()
    )


TOOLS = _tools()


class Hurt(NamedTuple):
    """A text, the format it is read as, and the call that was meant."""

    format: str
    text: str
    meant: ToolCall


def hurt_calls(count: int, seed: int, names: list[str]) -> Iterator[Hurt]:
    """So many hurt texts; the formats take turns."""
    random, made = Random(seed), 0
    while made < count:
        name = names[made % len(names)]
        call = ToolCall(**sample_call(random))
        try:
            sound = render([call], name)
        except UsageError:  # the format cannot say this one
            continue
        text = _hurt(sound, random)
        if random.random() < 0.5:
            text = _hurt(text, random)
        if text != sound:
            made += 1
            yield Hurt(name, text, call)


def _hurt(text: str, random: Random) -> str:
    at = random.randrange(len(text))
    match random.randrange(5):
        case 0:
            return text[:at] + text[at + 1 :]
        case 1:
            return text[:at] + random.choice(_ADDED) + text[at:]
        case 2:
            return text[:at] + random.choice(_ADDED) + text[at + 1 :]
        case 3:
            return text[:at] + text[at + 1 : at + 2] + text[at : at + 1] + text[at + 2 :]
        case _:
            return text[:at] + text[at + random.randint(2, _CUT) :]


def verdict(hurt: Hurt, result: ParseResult) -> str:
    """Which of the six it is."""
    if not result.calls:
        return "refused" if result.diagnoses else "lost"
    call, meant = result.calls[0], hurt.meant
    if len(result.calls) == 1 and call.name == meant.name and call.arguments == meant.arguments:
        return "same"
    if result.diagnoses or any(each.repairs for each in result.calls):
        return "flagged"
    like = call.name == meant.name and call.arguments.keys() == meant.arguments.keys()
    if len(result.calls) == 1 and like and not _holds_markup(call, meant, FORMATS[hurt.format]):
        return "invisible"
    return "wrong"


def _holds_markup(call: ToolCall, meant: ToolCall, form: Format) -> bool:
    """Whether a value took in four characters of the markup around it that are more than a word."""
    marks = list(_literals(form.words))
    pieces = {text[at : at + 4] for text in marks for at in range(len(text) - 3)}
    pieces = {piece for piece in pieces if not piece.isalpha()}
    for key, value in meant.arguments.items():
        had, has = _text(value), _text(call.arguments[key])
        if any(piece in has and piece not in had for piece in pieces):
            return True
    return False


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else repr(value)


def _literals(words: tuple[Word, ...]) -> Iterator[str]:
    for word in words:
        if isinstance(word, Literal):
            yield word.text
        elif isinstance(word, Maybe | Many):
            yield from _literals(word.words)


def main() -> int:
    """Measure, and print what was found."""
    options = _options()
    names = options.format or list(FORMATS)
    counts: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    shown = 0
    for hurt in hurt_calls(options.calls, options.seed, names):
        result = parse(hurt.text, hurt.format, TOOLS)
        found = verdict(hurt, result)
        counts[found] += 1
        if found != "wrong":
            continue
        wrong[hurt.format] += 1
        if shown < options.show:
            shown += 1
            print(f"{hurt.format}: {hurt.text!r}\n  meant {hurt.meant.arguments}")
            print(f"  read  {[(call.name, call.arguments) for call in result.calls]}")
    total = sum(counts.values())
    for kind in ("same", "refused", "lost", "flagged", "invisible", "wrong"):
        print(f"{kind:10} {counts[kind]:7} {counts[kind] / total:8.2%}")
    print("wrong by format:", dict(wrong.most_common()))
    return int(counts["wrong"] > AIM * total or counts["lost"] > MOST_LOST * total)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=12_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=10, help="wrong texts that are printed")
    parser.add_argument("--format", action="append", choices=list(FORMATS))
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
