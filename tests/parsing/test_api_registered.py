"""`tunaeval.formats` is the registry of formats; a format parses by itself."""

from __future__ import annotations

import subprocess
import sys
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tunaeval import parse
from tunaeval.errors import TunaevalError
from tunaeval.grammar.formats import HERMES
from tunaeval.parsing.reader import Reader, reader_of
from tunaeval.parsing.sets import auto, qwen25
from tunaeval.registry import Registry
from tunaeval.tools.tool_prompts import tool_spec
from tunaeval.types.calls import Tools

CONSTANT = "from tunaeval.grammar.formats import HERMES"
ATTRIBUTE = "from tunaeval import formats"
PARSE = "import tunaeval; tunaeval.parse('x', 'hermes')"
REGISTRY = "from tunaeval.parsing.api import formats as R; R.names()"

SAME = """
import tunaeval
from tunaeval.grammar.formats import FORMATS, HERMES
from tunaeval import formats
assert formats is tunaeval.formats
assert formats.get("hermes") is HERMES is FORMATS["hermes"]
assert "hermes" in formats and len(formats) == len([*formats]) > 80
print(type(formats).__mro__[1].__name__)
"""


def python(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("first", ["", CONSTANT, ATTRIBUTE, PARSE, REGISTRY])
def test_it_is_one_object_whichever_way_it_is_come_by_first(first: str) -> None:
    assert python(first + SAME) == "Registry\n"


def test_several_threads_come_by_it_at_once() -> None:
    program = f"""
import sys, threading, tunaeval
from concurrent.futures import ThreadPoolExecutor
sys.setswitchinterval(1e-6)
ways = {[CONSTANT, ATTRIBUTE, PARSE, REGISTRY]!r}
gate = threading.Barrier(len(ways))
def come(way):
    gate.wait()
    exec(way, {{}})
    from tunaeval import formats
    return formats.get("hermes")
with ThreadPoolExecutor(len(ways)) as pool:
    print(len({{*map(id, pool.map(come, ways))}}))
"""
    assert python(program) == "1\n"


def test_it_is_a_registry_to_which_others_can_add() -> None:
    assert isinstance(tunaeval.formats, Registry)
    program = """
import tunaeval
from tunaeval.grammar.formats import HERMES
tunaeval.formats.add("mine", HERMES)
print(tunaeval.parse('<tool_call>{"name": "f"}</tool_call>', "mine").calls[0].name)
"""
    assert python(program) == "f\n"


ADDED = """
import tunaeval
from tunaeval.errors import TunaevalError

def said(work):
    try:
        return work()
    except TunaevalError as error:
        return str(error)

CALL = '<act>{"name": "f", "arguments": {}}</act>'
MINE = tunaeval.Format.of("mine", "<act>⟨call⟩</act>", aliases=("aka", "also_aka"))
"""


def test_the_aliases_of_an_added_format_are_names() -> None:
    program = """
print(tunaeval.formats.add("mine", MINE) is MINE)
print([tunaeval.parse(CALL, one).calls[0].format for one in ("mine", "aka", "also_aka")])
print("aka" in tunaeval.formats.names(), tunaeval.formats.aliases()["aka"])
print(said(lambda: tunaeval.formats.add("aka", MINE)))
"""
    names, calls, known, clash = python(ADDED + program).splitlines()
    assert (names, calls, known) == ("True", "['mine', 'mine', 'mine']", "False mine")
    assert clash.startswith("format or parser 'aka' cannot be added: 'mine' (as an alias) has that")


@pytest.mark.parametrize("taken", ["hermes", "qwen", "auto", "aka"])
def test_an_alias_that_is_taken_is_refused_and_nothing_is_added(taken: str) -> None:
    program = f"""
from dataclasses import replace
tunaeval.formats.add("mine", MINE)
other = replace(MINE, name="other", aliases=("new", {taken!r}))
print(said(lambda: tunaeval.formats.add("other", other)))
print([one in tunaeval.formats for one in ("other", "new")])
"""
    clash, added = python(ADDED + program).splitlines()
    assert clash.startswith(f"format or parser {taken!r} cannot be added: ")
    assert added == "[False, False]"


def test_a_format_has_the_name_under_which_it_is_registered() -> None:
    program = """
print(tunaeval.formats.add("other", MINE).name, "aka" in tunaeval.formats)
print(tunaeval.parse(CALL, "other").calls[0].format, tunaeval.formats.get("other").aliases)
"""
    assert python(ADDED + program) == "other False\nother ()\n"


def test_it_is_pickled_by_its_name() -> None:
    assert ForkingPickler.loads(ForkingPickler.dumps(tunaeval.formats)) is tunaeval.formats


# --- a format's own `parse` ----------------------------------------------------------------------


def ls(depth: int) -> None:
    """List files."""


TEXT = '<tool_call>{"name": "ls", "arguments": {"depth": "3"}}</tool_call>'
SPEC = tool_spec(ls)
OWN: list[Reader] = [reader_of(HERMES), auto, qwen25]


@pytest.mark.parametrize("own", OWN, ids=lambda own: f"{type(own).__name__}-{own.name}")
@pytest.mark.parametrize("tools", [[SPEC.as_openai()], [ls], [SPEC]])
def test_it_takes_tools_in_every_shape(own: Reader, tools: Any) -> None:
    for given in (tools, tuple(tools), iter(tools), Tools([SPEC])):
        result = own.parse(TEXT, tools=given)
        assert result.calls[0].arguments == {"depth": 3}
        assert result == parse(TEXT, own, tools) == parse(TEXT, own.name, tools)
    assert own.parse(TEXT, tools=[{"name": "cd"}], level="strict").detail == "unknown-tool"
    assert own.parse(TEXT, tools=tools, abstain=["ls"]).detail == "abstained"


@pytest.mark.parametrize("own", OWN, ids=lambda own: f"{type(own).__name__}-{own.name}")
@pytest.mark.parametrize(
    ("text", "given"),
    [
        (b"x", {}),
        (None, {}),
        (["x"], {}),
        ({"content": "x"}, {}),
        ("x", {"tools": [5]}),
        ("x", {"tools": 5}),
        ("x", {"tools": "ls"}),
        ("x", {"level": "loud"}),
        ("x", {"abstain": "ls"}),
    ],
)
def test_it_refuses_what_parse_refuses_in_the_same_words(
    own: Reader, text: Any, given: dict[str, Any]
) -> None:
    with pytest.raises(TunaevalError) as wanted:
        parse(text, own.name, **given)
    with pytest.raises(type(wanted.value)) as caught:
        own.parse(text, **given)
    assert str(caught.value) == str(wanted.value)


def test_a_reader_of_levels_and_of_streams_takes_the_same() -> None:
    levels = auto.parse_levels(TEXT, tools=[SPEC.as_openai()])
    assert levels == tunaeval.parse_levels(TEXT, tools=[ls])
    stream = auto.stream(tools=[ls], abstain=["ls"])
    stream.feed(TEXT)
    assert stream.finish().detail == "abstained"
    with pytest.raises(TunaevalError, match="a text is a str"):
        auto.parse_levels(b"x")  # type: ignore[arg-type]  # what is wrong


TYPED = """\
import tunaeval
from tunaeval.grammar.formats import HERMES

other: tunaeval.Format = HERMES
found = tunaeval.formats.get("hermes")
names: tuple[str, ...] = tunaeval.formats.names()
result: tunaeval.ParseResult = tunaeval.parse("x", HERMES, tools=[{"name": "ls"}], abstain=["none"])
again: tunaeval.ParseResult = tunaeval.qwen25.parse("x", tools=[{"name": "ls"}])
"""


@pytest.mark.parametrize("checker", [("mypy", "--strict"), ("pyright",)])
def test_type_checkers_know_it(checker: tuple[str, ...], tmp_path: Path) -> None:
    pytest.importorskip(checker[0], reason=f"{checker[0]} is not installed")
    program = tmp_path / "typed.py"
    program.write_text(TYPED)
    where = ("--pythonpath", sys.executable) if checker[0] == "pyright" else ()
    done = subprocess.run(
        [sys.executable, "-m", *checker, *where, str(program)],
        capture_output=True, text=True, cwd=Path(tunaeval.__file__).parent.parent, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
