"""Plug-ins that work, break, clash, print and have the wrong shape, each really installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tunaeval.errors import PluginClashError, PluginShapeError, UnknownNameError
from tunaeval.registry import Registry
from tunaeval.types.calls import JsonValue
from tunaeval.types.parsing import ParseResult
from tunaeval.types.roles import Parser, Scorer
from tunaeval.types.shapes import instance_of

ROOT = str(Path(tunaeval.__file__).parents[1])
PARSERS = "tunaeval.parsers"
PARSER = """
class Reader:
    name = "mine"
    def parse(self, text, *, tools=None, level="standard"):
        return None
mine = Reader()
"""
FRESH = """
import json, sys
from tunaeval.errors import TunaevalError
from tunaeval.registry import Registry
from tunaeval.types.shapes import instance_of
from tunaeval.types.roles import Parser
plugins = Registry("tunaeval.parsers", "parser",
                   builtins={"built-in": "base64:b64decode"}, aliases={"b64": "built-in"})
checked = Registry("tunaeval.parsers", "parser", builtins={}, check=instance_of(Parser))
def tried(name, registry=plugins):
    try:
        return type(registry.get(name)).__name__
    except TunaevalError as error:
        return f"{type(error).__name__}: {error}"
"""


class Site:
    """A directory on a child's path, with distributions in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def install(
        self, distribution: str, source: str, *, name: str = "mine", version: str = "1.0"
    ) -> None:
        module = distribution.replace("-", "_")
        (self.root / f"{module}.py").write_text(source)
        info = self.root / f"{module}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
        )
        (info / "entry_points.txt").write_text(f"[{PARSERS}]\n{name} = {module}:mine\n")

    def ask(self, expression: str) -> JsonValue:
        """What `expression` comes to in a fresh process that has these distributions."""
        done = subprocess.run(
            [sys.executable, "-c", f"{FRESH}\nprint(json.dumps({expression}))"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(self.root), ROOT])},
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        )
        return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


class Reader:
    name = "reader"

    def parse(self, text: str, *, tools: object = None, level: str = "standard") -> ParseResult:
        return ParseResult(content=f"{text}{tools}{level}")


def parsers() -> Registry[Parser]:
    return Registry(PARSERS, "parser", builtins={}, check=instance_of(Parser))


def test_an_installed_plugin_is_found_by_its_name(site: Site) -> None:
    site.install("tuna-good", PARSER)
    assert site.ask("[tried('mine', checked), 'mine' in checked, list(checked)]") == [
        "Reader",
        True,
        ["mine"],
    ]


def test_a_plugin_whose_import_fails_is_an_error_only_when_asked_for(site: Site) -> None:
    site.install("tuna-good", PARSER)
    site.install("tuna-bad", "import no_such_module", name="bad")
    site.install("tuna-exit", "raise SystemExit('bye')", name="exit")
    good, bad, leaving, count = site.ask(
        "[tried('mine'), tried('bad'), tried('exit'), len(plugins)]"
    )
    assert good == "Reader"
    assert bad.startswith("PluginLoadError: parser 'bad' of tuna-bad 1.0 cannot be imported")
    assert "ModuleNotFoundError" in bad
    assert "SystemExit: bye" in leaving
    assert count == 4


def test_a_listing_says_what_is_broken_and_goes_on(site: Site) -> None:
    site.install("tuna-good", PARSER, version="2.5")
    site.install("tuna-bad", "1 / 0", name="bad")
    site.install("tuna-exit", "import sys; sys.exit(3)", name="exit")
    assert site.ask("[[e.name, e.source, e.status] for e in plugins.entries()]") == [
        ["bad", "tuna-bad 1.0", "broken"],
        ["built-in", "tunaeval", "ok"],
        ["exit", "tuna-exit 1.0", "broken"],
        ["mine", "tuna-good 2.5", "ok"],
    ]


def test_a_name_that_two_distributions_claim_is_refused_naming_both(site: Site) -> None:
    site.install("tuna-one", PARSER)
    site.install("tuna-two", PARSER)
    message, listed = site.ask(
        "[tried('mine'), [[e.source, e.status] for e in plugins.entries() if e.name == 'mine']]"
    )
    assert message.startswith("PluginClashError")
    assert "tuna-one 1.0" in message
    assert "tuna-two 1.0" in message
    assert listed == [["tuna-one 1.0", "clash"], ["tuna-two 1.0", "clash"]]


@pytest.mark.parametrize("name", ["built-in", "b64"])
def test_a_plugin_cannot_take_a_built_in_name(site: Site, name: str) -> None:
    site.install("tuna-greedy", PARSER, name=name)
    found, listed = site.ask(
        f"[tried({name!r}), [[e.status, e.reason] for e in plugins.entries() "
        "if e.source == 'tuna-greedy 1.0']]"
    )
    assert found.startswith(f"PluginClashError: parser {name!r} is a name of tunaeval itself")
    assert "tuna-greedy 1.0" in found
    assert listed[0][0] == "clash"
    assert "also claimed by tunaeval" in listed[0][1]


def test_an_addition_cannot_take_a_plugin_name(site: Site) -> None:
    site.install("tuna-good", PARSER)
    site.install(
        "tuna-adder",
        "from tunaeval.errors import PluginClashError\n"
        "def mine(registry):\n"
        "    try:\n        registry.add('mine', 1)\n"
        "    except PluginClashError as error:\n        return str(error)\n",
        name="adder",
    )
    assert "tuna-good 1.0 has that name" in str(site.ask("plugins.get('adder')(plugins)"))


def test_a_plugin_of_the_wrong_shape_is_refused_with_both_signatures(site: Site) -> None:
    site.install(
        "tuna-shape", "class A:\n  name='mine'\n  def parse(self, text): ...\nmine = A()\n"
    )
    said = str(site.ask("tried('mine', checked)"))
    assert said.startswith("PluginShapeError: parser 'mine' of tuna-shape 1.0 is refused")
    assert "def parse(text)" in said
    assert "def parse(self, text, *, tools=None, level='standard')" in said


def test_a_name_in_the_wrong_spelling_is_refused(site: Site) -> None:
    site.install("tuna-shout", PARSER, name="MINE")
    assert "lower-case" in str(site.ask("tried('MINE')"))


def test_a_package_with_unreadable_metadata_hides_no_other(site: Site) -> None:
    site.install("tuna-good", PARSER)
    site.install("tuna-torn", PARSER, name="torn")
    (site.root / "tuna_torn-1.0.dist-info" / "entry_points.txt").write_text("[tunaeval.parsers\nx")
    assert site.ask("tried('mine')") == "Reader"


def test_entry_points_are_read_with_the_first_name_and_not_before(site: Site) -> None:
    assert site.ask(
        "['importlib.metadata' in sys.modules, tried('built-in'), tried('b64'), "
        "'importlib.metadata' in sys.modules]"
    ) == [False, "function", "function", True]


def test_an_unknown_name_gets_its_near_misses() -> None:
    registry: Registry[Parser] = parsers()
    registry.add("hermes", Reader())
    with pytest.raises(UnknownNameError, match="did you mean 'hermes'"):
        registry.get("hermse")


def test_an_unknown_name_that_is_like_none_gets_a_few_names_and_where_all_are() -> None:
    registry = parsers()
    for number in range(10):
        registry.add(f"reader-{number}", Reader())
    with pytest.raises(UnknownNameError) as few:
        registry.get("zzz")
    assert str(few.value).endswith("reader-8, reader-9")
    registry.add("reader-x", Reader())
    with pytest.raises(UnknownNameError) as many:
        registry.get("zzz")
    assert str(many.value).endswith(
        "reader-8, reader-9 and 1 more; `tunaeval plugins --group parsers` lists all"
    )


def test_an_unknown_format_is_refused_in_a_short_line() -> None:
    with pytest.raises(UnknownNameError) as unknown:
        tunaeval.parse("", format="zzzzzz")
    said = str(unknown.value)
    assert said.endswith("more; `tunaeval formats` lists all")
    assert said.count(",") == 9
    assert len(said) < 250


def test_an_added_thing_is_had_back() -> None:
    registry, reader = parsers(), Reader()
    assert registry.add("reader", reader) is reader
    assert registry.get("reader") is reader
    assert [(e.name, e.source, e.status) for e in registry.entries()] == [
        ("reader", "added in code", "ok")
    ]


def test_a_taken_name_cannot_be_added_again() -> None:
    registry = parsers()
    registry.add("reader", Reader())
    with pytest.raises(PluginClashError, match="something added before"):
        registry.add("reader", Reader())


@pytest.mark.parametrize("name", ["", "Upper", "a b", "-a", "a-", "a--b", "../x", "a\n", "ä"])
def test_names_are_kebab_case(name: str) -> None:
    with pytest.raises(PluginShapeError, match="wanted lower-case"):
        parsers().add(name, Reader())


class WrongScorers:
    class NoWeight:
        name = "x"

        async def score(self, transcript: object) -> None: ...

    class TooMany:
        name, weight = "x", 1.0

        async def score(self, transcript: object, judge: object) -> None: ...

    class NoMethod:
        name, weight, score = "x", 1.0, 3

    class NoName:
        name, weight = None, 1.0

    class Worded:
        name, weight = "x", "0.1"


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (WrongScorers.NoWeight(), "has no weight"),
        (WrongScorers.TooMany(), "missing a required argument: 'judge'"),
        (WrongScorers.NoMethod(), "has no method score"),
        (WrongScorers.NoName(), "its name is None; wanted a str"),
        (WrongScorers.Worded(), "its weight is '0.1'; wanted a float"),
        (WrongScorers.NoWeight, "wanted an instance"),
        (7, "has no name and no weight"),
    ],
)
def test_a_scorer_of_the_wrong_shape_says_how(thing: object, said: str) -> None:
    assert said in str(instance_of(Scorer, either=("score",))(thing))


def test_a_thing_that_cannot_be_looked_at_is_refused() -> None:
    class Rude(Reader):
        @property
        def parse(self) -> Any:
            raise OSError("no\nsuch disk")

    with pytest.raises(PluginShapeError, match="'rude' is refused: looking at it raised OSError: "):
        parsers().add("rude", Rude())
