r"""Replies of real models: how many are read, what is lost, and what an older commit made of them.

    python benchmarks/real_replies.py FOLDER [--model NAME]... [--list N] [--json] [--check]
    python benchmarks/real_replies.py FOLDER --formats [--list N]
    python benchmarks/real_replies.py FOLDER --against COMMIT [--list N]
    python benchmarks/real_replies.py FOLDER --speed [--against COMMIT]

The folder (or that in `TUNAEVAL_REAL_REPLIES`) is laid out as `published.py` says. Each text is
read by `auto` at `standard` with the tools of its prompt. Counted are the replies that BFCL's
decoder read as calls of given tools, without those whose values would have to be evaluated (bare
names, arithmetic, nested calls) and those in which it lost arguments that have no names. Read is
one whose calls have the same names and arguments in the same order: tuples are lists, 1 is 1.0, and
where one side's value is the text of the other's ("5" and 5) it is "read, another type". In the
categories java and javascript BFCL keeps each value as the text that was written, so there
`[30, 60]` and "[30, 60]" are the same. A silent loss is a text with a tool's name before `(` or `{`
(or as a tag around values) that ends without calls and without a diagnosis; a false call, or a
false attempt, is one in a text that names no tool at all.

Labelled replies say what the model meant. All of them are counted, for each form, too; a silent
loss is any with a call that ends so, and a false call any where the model meant none.

`--list N` shows examples of each kind. `--formats` reads each text by each named format, too:
none may lose a call without a diagnosis or call a tool that the text does not name, and `auto`
reads each call that a format it contains reads, before what it takes for a later turn.

`--against` copies this checkout's library and the older commit's into a directory each, reads the
same texts by both, each in a process of its own, and classes each difference. `--speed` takes the
least of three rounds for each text, in turns with that commit and BFCL's decoder for prompted
models (`pip install --no-deps bfcl-eval`), which fails on many texts, and so is quick.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import Any

from measuring import Aim, options, print_results
from older_commit import Found, read, versions
from published import (
    OTHER_LANGUAGES,
    Folder,
    Read,
    Reply,
    has_lost_arguments,
    is_evaluated,
    names_a_tool,
    same,
    same_but_for_types,
    seems_to_call,
)

from tunaeval.grammar.formats import AUTO, FORMATS

FOLDER = "TUNAEVAL_REAL_REPLIES"
SAME, OTHER_TYPES = "read", "read, another type"
EVALUATED, LOST = "evaluated", "BFCL lost arguments"
"""Those that are left out: bare names, arithmetic and nested calls; arguments without a name."""
WHOLE, EACH, FORM = 0.99, 0.97, 0.95
"""The least share that is read, of all, and for each model or, of labelled replies, each form."""
_BATCH = 100


# --- accuracy ------------------------------------------------------------------------------------


def judged(reply: Reply, found: Found, names: Sequence[str]) -> str | None:
    """One of the four above or how it differs; None where BFCL read no call of a given tool."""
    theirs = reply.theirs
    if not theirs or not all(call.name in names for call in theirs):
        return None
    if _agree(found.calls, theirs, same):
        return SAME
    if _agree(found.calls, theirs, same_but_for_types):
        return SAME if reply.category in OTHER_LANGUAGES else OTHER_TYPES
    if not reply.labelled and is_evaluated(reply):
        return EVALUATED
    if not reply.labelled and has_lost_arguments(reply):
        return LOST
    if not found.calls:
        return f"{found.outcome}: {', '.join(found.codes) or 'no diagnosis'}"
    ours = [call.name for call in found.calls]
    if ours != [call.name for call in theirs]:
        number = "fewer" if len(ours) < len(theirs) else "more" if len(ours) > len(theirs) else ""
        return f"{number or 'other'} calls: {', '.join(found.codes) or 'no diagnosis'}"
    return "other arguments"


def _agree(ours: Sequence[Read], theirs: Sequence[Read], equal: Any) -> bool:
    return len(ours) == len(theirs) and all(
        one.name == other.name and equal(one.arguments, other.arguments)
        for one, other in zip(ours, theirs, strict=True)
    )


class Counts:
    """What is counted over the replies, and some examples of each."""

    def __init__(self) -> None:
        self.models: dict[str, Counter[str]] = defaultdict(Counter)
        self.rests: dict[str, Counter[str]] = defaultdict(Counter)
        self.found: dict[str, list[tuple[Reply, Found]]] = defaultdict(list)

    def add(self, reply: Reply, found: Found, names: Sequence[str]) -> None:
        said = judged(reply, found, names)
        rest = said is not None and said not in (SAME, OTHER_TYPES, EVALUATED, LOST)
        if said is not None:
            self._note("rest" if rest else said, reply, found)
        if rest and said is not None:
            self.rests[said][reply.model] += 1
            self.found[f"rest, {said}"].append((reply, found))
        seems = seems_to_call(reply.text, names) or (reply.labelled and reply.theirs)
        if not found.calls and not found.codes and seems:
            self._note("silent loss", reply, found)
        if _means_none(reply, names):
            if found.calls:
                self._note("false call", reply, found)
            elif found.outcome != "no_call":
                self._note("false attempt", reply, found)
        if found.calls and not reply.theirs:
            self._note("read here alone", reply, found)

    def _note(self, what: str, reply: Reply, found: Found) -> None:
        for row in (reply.model, *((_form(reply),) if reply.labelled else ()), "all"):
            self.models[row][what] += 1
        if what not in (SAME, "rest"):
            self.found[what].append((reply, found))

    def share(self, model: str) -> float:
        one = self.models[model]
        right = one[SAME] + one[OTHER_TYPES]
        return right / ((right + one["rest"]) or 1)


def _form(reply: Reply) -> str:
    return f"form {reply.category}"


def _means_none(reply: Reply, names: Sequence[str]) -> bool:
    """Whether a call in the text would be false: its label is empty, or it names no tool."""
    return (reply.labelled and not reply.theirs) or not names_a_tool(reply.text, names)


COLUMNS = (SAME, OTHER_TYPES, "rest", EVALUATED, LOST, "silent loss", "false call",
           "false attempt", "read here alone")  # fmt: skip


def accuracy(given: argparse.Namespace, folder: Folder) -> None:
    counts = Counts()
    for reply, found in zip(folder.replies, read(folder, folder.replies), strict=True):
        counts.add(reply, found, folder.names(reply))
    forms = sorted({_form(reply) for reply in folder.replies if reply.labelled and reply.theirs})
    models = [*folder.models, *forms, "all"]
    document = {
        name: {"share": counts.share(name), **{c: counts.models[name][c] for c in COLUMNS}}
        for name in models
    }
    rests = {what: dict(each) for what, each in counts.rests.items()}
    print_results(
        given,
        columns=["model", "% read", *COLUMNS],
        rows=[[name, f"{100 * one['share']:.2f}", *(one[c] for c in COLUMNS)]
              for name, one in document.items()],
        document={"models": document, "rests": rests},
        aims=list(_aims(counts, forms, FORM) if forms else _aims(counts, folder.models, EACH)),
    )  # fmt: skip
    if not given.json:
        for what, each in sorted(counts.rests.items(), key=lambda item: -item[1].total()):
            models_of = ", ".join(f"{name} {count}" for name, count in each.most_common())
            print(f"{each.total():6} {what} ({models_of})")
        for what, examples in counts.found.items():
            _show(what, examples[:: max(1, len(examples) // (given.list or 1))][: given.list])


def _aims(counts: Counts, rows: Sequence[str], least: float) -> Iterator[Aim]:
    whole = counts.share("all")
    yield Aim(f"{WHOLE:.0%} of the calls are read", f"{whole:.2%}", whole >= WHOLE)
    lowest = min(rows, key=counts.share)
    row = "model" if least == EACH else "form"
    yield Aim(f"{least:.0%} for each {row}", f"{lowest} {counts.share(lowest):.2%}",
              counts.share(lowest) >= least)  # fmt: skip
    for what in ("silent loss", "false call", *(("false attempt",) if row == "form" else ())):
        count = counts.models["all"][what]
        yield Aim(f"no {what}", str(count), count == 0)


def _show(what: str, examples: Iterable[tuple[Reply, Found]]) -> None:
    for reply, found in examples:
        print(f"\n--- {what}: {reply.place}\n{reply.text:.1200}")
        theirs = "nothing" if reply.theirs is None else _shown(reply.theirs)
        print(f"{'label' if reply.labelled else 'BFCL'}: {theirs}")
        print(f"here: {_shown(found.calls)} {found.outcome} {found.codes}")


def _shown(calls: Iterable[Read]) -> str:
    written = "; ".join(f"{one.name} {json.dumps(one.arguments)}" for one in calls)
    return f"{written:.600}" or "no calls"


# --- by each named format ------------------------------------------------------------------------


def each_format(given: argparse.Namespace, folder: Folder) -> None:
    """Count what each format loses, what it calls without a name, and what `auto` reads less."""
    inside = {form.name for form in AUTO}
    counts: dict[str, Counter[str]] = {}
    found: dict[str, list[tuple[Reply, Found]]] = defaultdict(list)
    by_auto = read(folder, folder.replies)
    for name in sorted(FORMATS):
        counts[name] = Counter()
        for reply, auto, one in zip(
            folder.replies, by_auto, read(folder, folder.replies, name), strict=True
        ):
            for what in _of_format(reply, one, auto, folder.names(reply), name in inside):
                counts[name][what] += 1
                found[f"{what}, {name}"].append((reply, one))
    rows = [[name, *(one[c] for c in OF_FORMATS)] for name, one in counts.items() if one]
    total = sum(counts.values(), Counter())
    print_results(
        given,
        columns=["format", *OF_FORMATS],
        rows=[*rows, [f"all {len(counts)}", *(total[c] for c in OF_FORMATS)]],
        document={"formats": counts},
        aims=[Aim(f"{what}: {most} replies at most", str(count), count <= most)
              for what, most in (("silent loss", 0), ("false call", 0), ("auto reads less", 10))
              for count in (len({reply.place for name, each in found.items()
                                 if name.startswith(what) for reply, _ in each}),)],
    )  # fmt: skip
    if not given.json:
        for what, examples in found.items():
            _show(what, examples[:: max(1, len(examples) // (given.list or 1))][: given.list])


OF_FORMATS = ("silent loss", "false call", "false attempt", "auto reads less", "read")


def _of_format(
    reply: Reply, one: Found, auto: Found, names: Sequence[str], inside: bool
) -> Iterator[str]:
    if one.calls:
        yield "read"
        if inside and "later-turn" not in auto.codes and not _holds(auto.calls, one.calls):
            yield "auto reads less"
    elif not one.codes and seems_to_call(reply.text, names):
        yield "silent loss"
    if (one.calls or one.outcome != "no_call") and _means_none(reply, names):
        yield "false call" if one.calls else "false attempt"


def _holds(ours: Sequence[Read], others: Sequence[Read]) -> bool:
    """Whether each of the others is among ours; one that a text repeats is once enough."""
    return all(any(_agree([one], [other], same) for one in ours) for other in others)


# --- beside an older commit ----------------------------------------------------------------------


def differences(given: argparse.Namespace, folder: Folder) -> None:
    """Count and show what is read now and was not, what is no more, what is read otherwise."""
    found: dict[tuple[str, str], list[tuple[Reply, Found, Found]]] = defaultdict(list)
    with TemporaryDirectory() as place:
        both = versions(given.against, given.folder, given.model, Path(place))
        for start in range(0, len(folder.replies), _BATCH):
            replies = folder.replies[start : start + _BATCH]
            now, then = (one.read(start, start + len(replies)) for one in both)
            for reply, old, new in zip(replies, then, now, strict=True):
                kind = _difference(old, new)
                if kind is not None:
                    names = folder.names(reply)
                    verdicts = (judged(reply, one, names) in (SAME, OTHER_TYPES)
                                for one in (old, new))  # fmt: skip
                    found[kind, _by_bfcl(reply, *verdicts)].append((reply, old, new))
        both.close()
    rows = [[kind, verdict, len(each)] for (kind, verdict), each in sorted(found.items())]
    print_results(given, columns=["against " + given.against, "BFCL's reading", "replies"],
                  rows=rows, document={"differences": rows})  # fmt: skip
    if not given.json:
        for (kind, verdict), each in sorted(found.items()):
            for reply, old, new in each[:: max(1, len(each) // (given.list or 1))][: given.list]:
                _show(f"{kind}, {verdict}", [(reply, new)])
                print(f"then: {_shown(old.calls)} {old.outcome} {old.codes}")


def _difference(old: Found, new: Found) -> str | None:
    before, now = old.calls, new.calls
    if not _agree(now, before, same):
        if not before or not now:
            return f"{old.outcome} -> {new.outcome}"
        alike = [one.name for one in before] == [one.name for one in now]
        return "other arguments" if alike else "other calls"
    if old.outcome != new.outcome:
        return f"{old.outcome} -> {new.outcome}"
    return None if old.codes == new.codes else f"{new.outcome}, other diagnoses"


def _by_bfcl(reply: Reply, old: bool, new: bool) -> str:
    if not reply.theirs:
        return "none"
    return {(True, True): "as before and now", (True, False): "as before", (False, True): "as now",
            (False, False): "another"}[old, new]  # fmt: skip


# --- speed ---------------------------------------------------------------------------------------


def speed(given: argparse.Namespace, folder: Folder) -> None:
    """Time every text by each reader in turns, a batch at a time, and print the least of each."""
    spent: dict[str, list[float]] = defaultdict(list)
    decode = decoder()
    with TemporaryDirectory() as place:
        both = None
        if given.against:
            both = versions(given.against, given.folder, given.model, Path(place))
        else:
            read(folder, folder.replies)  # what is made at first use, for each prompt's tools
        for round_ in range(given.rounds + 1):
            for start in range(0, len(folder.replies), _BATCH):
                replies = folder.replies[start : start + _BATCH]
                end = start + len(replies)
                if both:
                    peers = {"here": both.here, given.against: both.older}
                    found = {peer: one.read(start, end) for peer, one in peers.items()}
                else:
                    found = {"here": read(folder, replies)}
                times = {peer: [one.microseconds for one in each] for peer, each in found.items()}
                if decode:
                    times["BFCL's decoder"] = [_timed(decode, reply.text) for reply in replies]
                for peer, each in times.items() if round_ else ():
                    if round_ == 1:
                        spent[peer] += each
                    else:
                        old = spent[peer][start : start + len(replies)]
                        spent[peer][start : start + len(replies)] = map(min, old, each)
        if both:
            both.close()
    _print_speed(given, spent)


def _print_speed(given: argparse.Namespace, spent: dict[str, list[float]]) -> None:
    here = mean(spent["here"])
    rows = [[peer, mean(each), median(each), sorted(each)[int(len(each) * 0.99)], here / mean(each)]
            for peer, each in spent.items()]  # fmt: skip
    old = spent.get(given.against)
    aims = [Aim("at most 1.1 times the older commit's mean", f"{here / mean(old):.3f}",
                here <= 1.1 * mean(old))] if old else []  # fmt: skip
    print_results(
        given,
        columns=["CPU µs a text", "mean", "median", "99th percentile", "here, times its mean"],
        rows=rows,
        document={"speed": {str(row[0]): row[1:] for row in rows}},
        aims=aims,
    )


def _timed(decode: Any, text: str) -> float:
    begun = time.process_time_ns()
    with suppress(Exception):  # it raises whatever Python's parser does, on most texts
        decode(text)
    return (time.process_time_ns() - begun) / 1000


def decoder() -> Any:
    """BFCL's for the replies of prompted models, or None where `bfcl-eval` is not installed."""
    sys.path.insert(0, str(Path(__file__).parent.parent))
    loader = import_module("tests.tasks.bfcl_checker")
    folder = loader.package()
    return None if folder is None else loader.load_decoder(folder)


def main() -> None:
    parser = options(__doc__, rounds=3)
    parser.add_argument("folder", type=Path, nargs="?", default=os.environ.get(FOLDER))
    parser.add_argument("--model", action="append", default=[], help="this model's replies alone")
    parser.add_argument("--list", type=int, default=0, help="show so many examples of each kind")
    parser.add_argument("--against", metavar="COMMIT", help="read them by that commit, too")
    parser.add_argument("--formats", action="store_true", help="read them by each format, too")
    parser.add_argument("--speed", action="store_true", help="time each text")
    given = parser.parse_args()
    if given.folder is None:
        parser.error(f"give the folder of replies, or name it in {FOLDER}")
    given.folder = Path(given.folder)
    given.list = max(given.list, 0)
    folder = Folder(given.folder, given.model)
    if given.formats:
        each_format(given, folder)
    else:
        (speed if given.speed else differences if given.against else accuracy)(given, folder)


if __name__ == "__main__":
    main()
