"""A random sample of small changes to some files, made by the operators of cosmic-ray.

Places are drawn, not changes: of a `+`, which can become ten other operators, one is made, so that
arithmetic does not crowd out conditions. A change that cannot matter is not drawn: in an
annotation, under `if TYPE_CHECKING`, in `__slots__`, in what `@dataclass` is given (slots and
frozen are there for speed and for readers), one that leaves the syntax tree as it was, or one that
is no Python. Nor is one that puts `is` for `==` or the reverse: whether it matters is up to the
interpreter.
"""

from __future__ import annotations

import ast
import difflib
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

Position = tuple[int, int]
"""Line from 1 and column from 0."""


class Mutant(NamedTuple):
    """One changed file: `path` is relative to the checkout."""

    path: str
    line: int
    operator: str
    text: str

    @property
    def key(self) -> str:
        """The same for the same change of the same file."""
        return sha256(f"{self.path}\n{self.text}".encode()).hexdigest()[:16]

    def diff(self, root: Path) -> str:
        """What is changed, as lines that go and lines that come."""
        sound = (root / self.path).read_text("utf-8")
        lines = difflib.unified_diff(sound.splitlines(), self.text.splitlines(), lineterm="", n=0)
        return "\n".join(line for line in lines if line[:3] not in {"---", "+++"})


class Place(NamedTuple):
    """Where operators of one kind can change a file, each in its own way."""

    path: str
    start: Position
    end: Position
    kind: str


Ways = dict[Place, list[tuple[str, int]]]
"""The operators for each place, with which of its occurrences in the file that is."""


def drawn(root: Path, paths: Sequence[str], *, number: int, seed: int) -> Iterator[Mutant]:
    """So many mutants, one at a place; fewer where there are not so many places.

    A larger number begins with the mutants of a smaller one.
    """
    ways = {place: way for path in paths for place, way in _ways(root, path).items()}
    texts = {path: (root / path).read_text("utf-8") for path in paths}
    lots = _lots(sorted(ways), texts, seed)
    found = 0
    for place in sorted(ways, key=lambda place: (lots[place], place)):
        if found == number:
            return
        order = sorted(ways[place])
        random.Random(lots[place]).shuffle(order)
        tries = (_made(place, texts[place.path], *way) for way in order)
        made = next((mutant for mutant in tries if mutant), None)
        if made:
            found += 1
            yield made


def _lots(places: Sequence[Place], texts: dict[str, str], seed: int) -> dict[Place, str]:
    """Drawn for a place by what its line says, so that a change elsewhere changes no other's."""
    lots: dict[Place, str] = {}
    times: Counter[tuple[object, ...]] = Counter()
    for place in places:
        line = texts[place.path].splitlines()[place.start[0] - 1]
        told = (seed, place.path, line, place.start[1], place.kind)
        lots[place] = sha256(repr(told + ("again",) * times[told]).encode()).hexdigest()
        times[told] += 1
    return lots


def _made(place: Place, text: str, operator: str, occurrence: int) -> Mutant | None:
    """The mutant, if it is a program, and another one than the text."""
    changed = mutate_code(text, get_operator(operator)(), occurrence)
    try:
        if changed is None or ast.dump(ast.parse(changed)) == ast.dump(ast.parse(text)):
            return None
        compile(changed, place.path, "exec", dont_inherit=True)
    except SyntaxError:
        return None
    return Mutant(place.path, place.start[0], operator.partition("/")[2], changed)


def _ways(root: Path, path: str) -> Ways:
    text = (root / path).read_text("utf-8")
    idle = list(_idle(ast.parse(text), text))
    nodes = list(ast_nodes(get_ast(text)))
    found: Ways = {}
    for name in operator_names():
        if not _wanted(name):
            continue
        operator = get_operator(name)()
        spans = ((node, *span) for node in nodes for span in operator.mutation_positions(node))
        for occurrence, (node, start, end) in enumerate(spans):
            # The star of a signature is no product, which cosmic-ray takes it for.
            if node.parent is not None and node.parent.type in {"parameters", "lambdef"}:
                continue
            if not any(first <= start and end <= last for first, last in idle):
                place = Place(path, start, end, name.partition("_")[0])
                found.setdefault(place, []).append((name, occurrence))
    return found


def _wanted(name: str) -> bool:
    """Not those that want settings, and none between `is` and a comparison of values."""
    identities = sum(part in {"Is", "IsNot"} for part in name.split("_"))
    return not get_operator(name).arguments() and identities != 1


def _idle(tree: ast.Module, text: str) -> Iterator[tuple[Position, Position]]:
    """From where to where a change cannot matter."""
    for node in ast.walk(tree):
        match node:
            case ast.arg(annotation=ast.expr() as part):
                yield _span(part, text)
            case ast.FunctionDef(returns=ast.expr() as part):
                yield _span(part, text)
            case ast.AnnAssign(annotation=part):
                yield _span(part, text)
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield _span(node, text)
            case ast.Assign(targets=[ast.Name(id="__slots__")]):
                yield _span(node, text)
            case ast.Call(func=ast.Name(id="dataclass")):
                yield _span(node, text)
            case _:
                pass


def _span(node: ast.stmt | ast.expr, text: str) -> tuple[Position, Position]:
    """In characters, as cosmic-ray counts them; `ast` counts bytes."""
    lines = text.splitlines()
    last = node.end_lineno or node.lineno

    def characters(line: int, offset: int) -> int:
        return len(lines[line - 1].encode()[:offset].decode())

    start = (node.lineno, characters(node.lineno, node.col_offset))
    return start, (last, characters(last, node.end_col_offset or 0))
