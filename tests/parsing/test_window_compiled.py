"""What compiled code does in another way than Python is not in the modules that are compiled.

Each of these was read wrongly, some in silence: a star in a pattern, which raises; `is` between
items of a list of tuples, which are made anew; `cached_property`, which caches nothing; a cheap
constructor of a compiled class, whose instances cannot become others. Keys that are no strings
raise where a dictionary of strings is promised:
`parsing/repair/test_hostile_schemas.py` has one, and `.ci/compiled` runs it on the compiled engine.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import tunaeval

ROOT = Path(__file__).parents[2]
HOOK = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"][
    "targets"
]["wheel"]["hooks"]["custom"]
MODULES: list[str] = HOOK["modules"]
TREES = {name: ast.parse((ROOT / name).read_text("utf-8")) for name in MODULES}
CLASSES = {
    node.name
    for tree in TREES.values()
    for node in ast.walk(tree)
    if isinstance(node, ast.ClassDef)
}


def traps(tree: ast.Module, classes: set[str]) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.MatchStar():
                yield f"line {node.lineno}: a star in a pattern"
            case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[other]):
                sides, is_constant = (node.left, other), isinstance(other, ast.Constant)
                if not is_constant and any(isinstance(one, ast.Subscript) for one in sides):
                    yield f"line {node.lineno}: an item compared by identity"
            case ast.ClassDef(body=body) if any(map(_sets_several, body)):
                yield f"line {node.lineno}: several names set at once in a class"
            case ast.Name(id="cached_property") | ast.Attribute(attr="cached_property"):
                yield f"line {node.lineno}: cached_property"
            case ast.Call(func=ast.Name(id="cheap"), args=[ast.Name(id=name)]) if name in classes:
                yield f"line {node.lineno}: cheap() of the compiled {name}"


def _sets_several(line: ast.stmt) -> bool:
    return isinstance(line, ast.Assign) and len(line.targets) > 1


@pytest.mark.parametrize("name", MODULES)
def test_a_compiled_module_has_nothing_that_compiled_code_does_otherwise(name: str) -> None:
    assert [*traps(TREES[name], CLASSES)] == []


@pytest.mark.parametrize(
    "code",
    [
        "match a:\n    case A(words=(first, *rest)):\n        pass",
        "first = piece is pieces[0]",
        "class A:\n    a = b = 0",
        "class A:\n    @cached_property\n    def b(self): ...",
        "class A:\n    @functools.cached_property\n    def b(self): ...",
        "new = cheap(Window)",
    ],
)
def test_each_trap_is_seen(code: str) -> None:
    assert len([*traps(ast.parse(code), CLASSES)]) == 1


def test_the_wheel_is_pure_unless_the_compiled_one_is_asked_for() -> None:
    assert HOOK["enable-by-default"] is False
    assert isinstance(tunaeval.compiled, bool)
