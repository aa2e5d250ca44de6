"""This engine against an older one: the same texts, the same results, or each difference shown.

    python tests/fuzz/against_an_oracle.py [--commit C] [--texts N] [--seed S] [--streams]
        [--without MARK ...]
    python tests/fuzz/against_an_oracle.py --replies FOLDER [--commit C] [--texts N] [--streams]
    python tests/fuzz/against_an_oracle.py --library FOLDER [--replies FOLDER] [--texts N]

The library of the older commit is written into a directory of its own and read by a process of its
own. Texts are fixtures, damaged and hostile texts of every format, and mixes of several formats,
loops and prose; each is read by name or by `auto`, at one level, with tools or without. With
`--replies` they are what real models wrote, in a folder as `benchmarks/published.py` describes it,
each with the tools of its prompt, by `auto` and by one other format, at one level of three. With
`--streams` this engine reads them in random chunks. A mark that only one of the two knows would
hide every other difference: `--without` leaves out the texts that have it. Prints the first
differences of each kind and how many there were, by format and kind; exit code 1 if there was one.

With `--library` the other library is that in a folder, the same but compiled: both read half of the
texts in the same random chunks, and the events of streams are compared, too.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import random
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent.parent
COMMIT = "817153f"
"""The last commit with two engines."""
_BATCH = 2000
_SHOWN = 4
"""Differences of each kind that are printed."""


class Question(NamedTuple):
    """One text and how it is read; `cuts` are the lengths of chunks, none for a whole text.

    `tools` are those of its prompt, or say whether those of the made-up texts are given.
    """

    format: str
    text: str
    tools: bool | list[Any]
    level: str
    cuts: tuple[int, ...] = ()


def answer(question: Question, readers: dict[str, Any], tools: Any) -> dict[str, Any]:
    """What the library that is imported here makes of it, as values that any version has."""
    reader = readers[question.format]
    known = tools if question.tools is True else _tools_of(question.tools or None)
    events: list[Any] = []
    if question.cuts:
        stream, at = reader.stream(tools=known, level=question.level), 0
        for size in question.cuts:
            events += stream.feed(question.text[at : at + size])
            at += size
        events += stream.feed(question.text[at:])
        result = stream.finish()
    else:
        result = reader.parse(question.text, tools=known, level=question.level)
    return {
        "calls": [
            (c.name, repr(c.arguments), c.id, c.format, c.span and tuple(c.span), _repairs(c))
            for c in result.calls
        ],
        "events": list(map(repr, events)),
        "content": result.content,
        "reasoning": result.reasoning,
        "diagnoses": [(d.code, d.message, d.span and tuple(d.span)) for d in result.diagnoses],
        "truncated": result.truncated,
        "outcome": result.outcome,
    }


def _tools_of(functions: list[Any] | None) -> Any:
    from tunaeval.parsing.reader import known_tools

    key = json.dumps(functions)
    if key not in _KNOWN_TOOLS:
        if len(_KNOWN_TOOLS) > 500:
            _KNOWN_TOOLS.clear()
        _KNOWN_TOOLS[key] = known_tools(functions)
    return _KNOWN_TOOLS[key]


_KNOWN_TOOLS: dict[str, Any] = {}


def _repairs(call: Any) -> list[tuple[Any, ...]]:
    return [(r.code, r.message, r.span and tuple(r.span), r.level) for r in call.repairs]


def serve() -> None:
    """The older library's process: a batch of questions a line in, their answers out."""
    readers, tools = _library()
    print(_engine(), flush=True)
    for line in sys.stdin:
        answers = [_known_answer(_question(f), readers, tools) for f in json.loads(line)]
        print(json.dumps(answers), flush=True)


def _known_answer(question: Question, readers: dict[str, Any], tools: Any) -> dict[str, Any]:
    """The answer; an empty one for a format that was not there yet."""
    from tunaeval.errors import UsageError

    try:
        return answer(question, readers, tools)
    except UsageError:
        return {}


def _question(fields: list[Any]) -> Question:
    name, text, tools, level, cuts = fields
    return Question(name, text, tools, level, tuple(cuts))


def _library() -> tuple[dict[str, Any], Any]:
    from tunaeval.parsing.api import parser_for
    from tunaeval.testing.selftest.texts import TOOLS

    class Readers(dict[str, Any]):
        def __missing__(self, name: str) -> Any:
            from tunaeval.grammar.format import Format
            from tunaeval.parsing.reader import reader_of

            parser = parser_for(name)
            made = self[name] = reader_of(parser) if isinstance(parser, Format) else parser
            return made

    return Readers(), TOOLS


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _arguments(argv)
    chance = random.Random(arguments.seed)
    readers, tools = _library()
    differences: Counter[tuple[str, str]] = Counter()
    with TemporaryDirectory() as folder:
        place = arguments.library or _archived(arguments.commit, Path(folder))
        process, streams = _oracle(place.resolve()), 0.5 if arguments.library else arguments.streams
        if arguments.replies:
            made = _replies(chance, arguments.replies, streams=streams)
        else:
            made = _questions(chance, arguments.seed, streams=streams)
        made = (one for one in made if not any(mark in one.text for mark in arguments.without))
        done = 0
        while questions := list(islice(made, min(_BATCH, arguments.texts - done))):
            done += len(questions)
            whole = [tuple(q if arguments.library else q._replace(cuts=())) for q in questions]
            assert process.stdin is not None
            assert process.stdout is not None
            print(json.dumps(whole), file=process.stdin, flush=True)
            own = [answer(q, readers, tools) for q in questions]
            theirs = json.loads(process.stdout.readline())
            own = json.loads(json.dumps(own))  # lists for tuples, as in theirs
            for question, ours, old in zip(questions, own, theirs, strict=True):
                _compare(question, ours, old, differences)
        process.stdin.close()  # type: ignore[union-attr]  # a pipe
    print(f"{done} texts, {sum(differences.values())} differences in fields")
    for (name, kind), count in differences.most_common():
        print(f"{count:6} {name:20} {kind}")
    return 1 if differences else 0


def _compare(
    question: Question,
    ours: dict[str, Any],
    old: dict[str, Any],
    differences: Counter[tuple[str, str]],
) -> None:
    for field, wanted in old.items():
        if ours[field] == wanted or (field == "events" and not wanted):
            continue
        if field == "content" and _words(ours[field]) == _words(wanted):
            differences[question.format, "white space and semicolons of content"] += 1
            return
        kind = _kind(wanted, ours[field]) if field == "diagnoses" else field
        if sum(count for (_, one), count in differences.items() if one == kind) < _SHOWN:
            print(f"{question!r:.1500}\n  {kind}")
            print(f"    old {wanted!r:.900}\n    new {ours[field]!r:.900}\n", flush=True)
        differences[question.format, kind] += 1
        return


def _kind(old: Sequence[Any], new: Sequence[Any]) -> str:
    """The class of a difference between diagnoses: which codes went, and which came."""
    before, after = Counter(one[0] for one in old), Counter(one[0] for one in new)
    if before == after:
        changed = [code for code, *rest in map(tuple, new) if [code, *rest] not in old]
        return f"diagnoses: other words, places or order of {', '.join(sorted(set(changed)))}"
    went, came = sorted((before - after).elements()), sorted((after - before).elements())
    return f"diagnoses: {', '.join(went) or 'none'} -> {', '.join(came) or 'none'}"


def _words(content: str) -> str:
    """Content without what may be between bare calls."""
    return "".join(content.replace(";", "").split())


def _archived(commit: str, folder: Path) -> Path:
    """Write the library of a commit into a folder."""
    packed = subprocess.run(
        ["git", "archive", commit, "tunaeval"],
        cwd=ROOT, capture_output=True, check=True,
    )  # fmt: skip
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def _oracle(folder: Path) -> subprocess.Popen[str]:
    """Start the other library, which says from which file it was read."""
    process = subprocess.Popen(
        [sys.executable, "-P", __file__, "--serve"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, text=True,
        env={**os.environ, "PYTHONPATH": str(folder)},
    )  # fmt: skip
    assert process.stdout is not None
    engine = process.stdout.readline().strip()
    print(f"read by {_engine()} and by {engine}", flush=True)
    if not Path(engine).is_relative_to(folder):
        sys.exit(f"{engine} was read instead of the library in {folder}")
    return process


def _engine() -> str:
    """The file of the engine that is imported here."""
    from tunaeval.parsing import judge

    return str(Path(judge.__file__).resolve())


# --- texts ---------------------------------------------------------------------------------------

_LOOPS = (
    "<|channel|>",
    "<tool_call>",
    "</tool_call>",
    "<think>",
    "```",
    "<|start|>",
    "{",
    "[",
    "...",
)
_PROSE = (
    "Let me look. ",
    "\n",
    "; ",
    " `",
    "`",
    "\u3000",
    "é ",
    "  ",
    "x = [f(1)]\n",
    "Done...",
    "",
)


def _questions(chance: random.Random, seed: int, *, streams: float) -> Iterator[Question]:
    """Texts without end."""
    from tunaeval.testing.selftest.measured import subjects
    from tunaeval.testing.selftest.texts import TextMaker
    from tunaeval.types.parsing import LEVELS

    makers = [
        (subject.reader.name, TextMaker(form, seed))
        for subject in subjects([])
        if subject.reader is not None
        for form in subject.forms
    ]
    while True:
        name, maker = chance.choice(makers)
        kind = chance.random()
        if kind < 0.45:
            text = chance.choice((maker.damaged, maker.damaged, maker.hostile))()
        else:
            name = chance.choice(("auto", "auto", name))
            text = _mix(chance, [chance.choice(makers)[1] for _ in range(3)])
        if chance.random() < 0.2:
            text = text[: chance.randrange(len(text) + 1)]
        cuts = _cuts(chance, len(text)) if chance.random() < streams else ()
        level = chance.choice(LEVELS) if chance.random() < 0.5 else "standard"
        yield Question(name, text, chance.random() < 0.5, level, cuts)


def _replies(chance: random.Random, folder: Path, *, streams: float) -> Iterator[Question]:
    """What real models wrote, in random order: by `auto`, and a third of it by another format."""
    from tunaeval.grammar.formats import FORMATS
    from tunaeval.types.parsing import LEVELS

    replies = list(_rows(folder / "replies.jsonl.gz"))
    prompts = {} if "want" in replies[0] else {
        (one["category"], one["index"]): one["functions"]
        for one in _rows(folder / "prompts.jsonl.gz")
    }  # fmt: skip
    chance.shuffle(replies)
    for reply in replies:
        text, labelled = reply["text"], "want" in reply
        tools = reply["tools"] if labelled else prompts[reply["category"], reply["index"]]
        if not labelled and not any(
            one["name"] in text for one in tools
        ):  # the model was shown other names
            tools = [{**one, "name": one["name"].replace(".", "_")} for one in tools]
        level = chance.choice(("standard", *LEVELS))
        for name in ("auto", *([chance.choice([*FORMATS])] if chance.random() < 0.3 else [])):
            cuts = _cuts(chance, len(text)) if chance.random() < streams else ()
            yield Question(name, text, tools, level, cuts)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def _mix(chance: random.Random, makers: Sequence[Any]) -> str:
    pieces = []
    for maker in makers:
        pieces.append(chance.choice((maker.damaged, maker.hostile))())
        pieces.append(chance.choice(_PROSE))
        if chance.random() < 0.15:
            pieces.append(chance.choice(_LOOPS) * chance.randrange(1, 40))
    chance.shuffle(pieces)
    return "".join(pieces)


def _cuts(chance: random.Random, size: int) -> tuple[int, ...]:
    step = chance.choice((1, 3, 7, 20, 100))
    cuts: list[int] = []
    while sum(cuts) < size:
        cuts.append(chance.randint(1, step))
    return tuple(cuts) or (1,)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="This engine against that of an older commit.")
    parser.add_argument("--commit", default=COMMIT, help=f"the older one ({COMMIT})")
    parser.add_argument("--texts", type=int, default=10_000, help="so many (10,000)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed, the same texts (0)")
    parser.add_argument("--library", type=Path, help="a folder with the other library, compiled")
    parser.add_argument("--replies", type=Path, help="a folder of published replies to read")
    parser.add_argument("--without", nargs="*", default=[], help="leave out texts with these marks")
    parser.add_argument("--streams", action="store_true", help="read here in random chunks")
    return parser.parse_args(argv)


if __name__ == "__main__":
    if "--serve" in sys.argv:
        serve()
    else:
        sys.exit(main())
