"""Variables of scenarios: where their rows come from, what is made of them, and what is refused."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tunaeval.errors import SuiteError
from tunaeval.tasks.suites.loading import write_suite
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.runs import Scenario, Suite

JsonObject = dict[str, Any]

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "days": {"type": "integer"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "at": {"type": "object", "properties": {"hour": {"type": "number"}}},
                    "any": {},
                },
            },
        },
    }
]

# "$" begins a matcher.
keys = st.text(st.characters(exclude_characters="$", exclude_categories=["Cs"]), max_size=3)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=2),
    max_leaves=5,
)  # fmt: skip
"""Any value of JSON."""
rows = st.lists(
    st.fixed_dictionaries({"a": values, "b": values}),
    min_size=1,
    max_size=6,
    unique_by=lambda row: json.dumps(row, sort_keys=True),
)


def suite(**scenario: Any) -> JsonObject:
    """A suite of one scenario with variables."""
    usual = {"id": "w", "prompt": "How is it in {{city}}?", "expect": {"none": True}}
    return {"name": "s", "tools": TOOLS, "scenarios": [{**usual, **scenario}]}


def loaded(given: JsonObject) -> tuple[Scenario, ...]:
    return tuple(tunaeval.load_suite(given).scenarios)


def written(folder: Path, given: JsonObject, **files: str) -> Path:
    """A suite file with files beside it, each named by its name with "_" for the point."""
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_bytes(text.encode())
    path = folder / "suite.json"
    path.write_text(json.dumps(given), "utf-8")
    return path


def call(**arguments: Any) -> JsonObject:
    return {"calls": [{"name": "weather", "arguments": arguments}]}


@given(rows)
def test_a_text_that_is_one_variable_becomes_its_value(rows: list[JsonObject]) -> None:
    expect = call(any=["{{a}}", {"x": "{{ b }}"}])
    made = loaded(suite(prompt="{{b}} or", expect=expect, vars=rows))
    for one, row in zip(made, rows, strict=True):
        assert one.expect.calls is not None
        found = one.expect.calls[0].arguments["any"]
        assert json.dumps(found) == json.dumps([row["a"], {"x": row["b"]}])
        assert one.vars == row


@given(rows, rows)
def test_ids_stay_when_rows_are_added(rows: list[JsonObject], more: list[JsonObject]) -> None:
    known = {json.dumps(row, sort_keys=True) for row in rows}
    new = [row for row in more if json.dumps(row, sort_keys=True) not in known]
    template = {"prompt": "{{a}} {{b}}."}
    ids = [one.id for one in loaded(suite(**template, vars=rows))]
    middle = len(new) // 2
    grown = [
        one.id for one in loaded(suite(**template, vars=[*new[:middle], *rows, *new[middle:]]))
    ]
    assert grown[middle : middle + len(rows)] == ids
    assert len(set(grown)) == len(grown)
    assert all(one.startswith("w/") and one != "w/" for one in grown)
    assert not set("".join(grown)) & set("[]*?\n")


@given(rows, st.booleans())
def test_what_is_written_is_read_again(rows: list[JsonObject], is_plain: bool) -> None:
    scenario = {"prompt": "{{a}} {% raw %}{{b}}{% endraw %} {{b}}", "vars": rows}
    header = {"system_prompt": "Be {{a}}."}
    first = tunaeval.load_suite({**suite(**({"prompt": "x"} if is_plain else scenario)), **header})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.jsonl"
        write_suite(first, path)
        again = tunaeval.load_suite(path)
    assert tuple(again.scenarios) == tuple(first.scenarios)
    assert again.digest == first.digest


@given(st.text(), st.text(alphabet="{}%#-+ ab\r\n\\'\"`\u2028"), values)
def test_a_text_around_variables_stays_as_it_is(text: str, odd: str, value: Any) -> None:
    safe = re.sub(r"\{[{%#]", "(", f"{text}{odd}").removesuffix("{") + "|"
    (one,) = loaded(suite(prompt=f"{safe}{{{{a}}}}{safe}", vars=[{"a": value}]))
    shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if "\ud800" <= max(shown + safe, default="") <= "\udfff":
        return
    assert one.prompt == f"{safe}{shown}{safe}"


def test_a_scenario_without_variables_is_no_template() -> None:
    text = "Write {{ x }} and {% if %} in Jinja"
    (one,) = loaded({**suite(prompt=text), "system_prompt": "{{ y }}"})
    assert (one.prompt, one.id, one.group, one.vars) == (text, "w", None, {})


def test_lists_of_an_object_are_combined_the_first_slowest() -> None:
    made = loaded(
        suite(
            prompt="{{city}} {{unit}} {{days}}",
            vars={"city": ["Lisbon", "Porto"], "unit": "C", "days": [1, 2]},
        )
    )
    assert [one.prompt for one in made] == ["Lisbon C 1", "Lisbon C 2", "Porto C 1", "Porto C 2"]
    assert made[0].id == "w/Lisbon-C-1"
    assert {one.group for one in made} == {"w"}


def test_values_of_the_header_are_for_all_and_a_rows_own_come_first() -> None:
    given = suite(
        prompt="{{city}} {{unit}}", vars=[{"city": "Lisbon"}, {"city": "Oslo", "unit": "F"}]
    )
    given["vars"] = {"unit": "C"}
    given["scenarios"].append({"prompt": "In {{unit}}.", "expect": {"none": True}})
    made = loaded(given)
    assert [one.prompt for one in made] == ["Lisbon C", "Oslo F", "In C."]
    assert [one.id for one in made] == ["w/Lisbon", "w/Oslo-F", "scenario-2"]
    assert [one.vars for one in made][::2] == [{"city": "Lisbon", "unit": "C"}, {"unit": "C"}]
    assert made[2].group is None


def test_every_text_is_a_template_but_tools_sources_notes_and_metadata() -> None:
    fixed = {"sources": ["{{a}}"], "notes": "{{a}}", "metadata": {"x": ["{{a}}"]}}
    (one,) = loaded(
        suite(
            **fixed,
            id="of-{{a}}",
            prompt="{{a}}",
            messages=[{"role": "user", "content": "{{a}}"}],
            tags=["tag-{{a}}", "{{a}}"],
            group="g{{a}}",
            difficulty="{{d}}",
            weight="{{w}}",
            expect={"tools": ["{{t}}"]},
            vars=[{"a": 5, "t": "weather", "d": "easy", "w": 2}],
        )
    )
    assert (one.id, one.prompt, one.tags, one.group) == ("of-5", "5", ("tag-5", "5"), "g5")
    assert one.messages == ({"role": "user", "content": "5"},)
    assert (one.difficulty, one.weight, one.expect.tools) == ("easy", 2.0, ("weather",))
    assert {"sources": list(one.sources), "notes": one.notes, "metadata": one.metadata} == fixed


def test_a_whole_expectation_may_be_a_value() -> None:
    wants = [{"none": True}, call(city="Lisbon", days=2)]
    rows = [{"q": str(n), "want": want} for n, want in enumerate(wants)]
    made = loaded(suite(prompt="{{q}}", expect="{{want}}", vars=rows))
    assert made[0].expect.none
    assert made[1].expect.calls is not None
    assert made[1].expect.calls[0].arguments == {"city": "Lisbon", "days": 2}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{{a.b[0].c}}!", "x!"),
        ("{{ a['b'][0].c }}!", "x!"),
        ("{{ n }} {{ t }} {{ z }} {{ l }}", '1.5 true null ["é", 2]'),
        ("{{ l | join(', ') }}.", "é, 2."),
        ("{{ l | length }}{{ s | length }}.", "27."),
        ("{{ s | lower }} {{ s | upper }} {{ s | title }}.", "a  b's  A  B'S  A  B's ."),
        ("{{ s | trim }}.", "A  b's."),
        ("{{ s | replace('A', 'the') }}.", "the  b's ."),
        ("{{ n | round }} {{ 2.46 | round(1) }} {{ n | int }} {{ '3' | float }}", "2.0 2.5 1 3.0"),
        ("{{ a | tojson }}.", '{"b": [{"c": "x"}]}.'),
        ("{{ missing | default('y') }} {{ a.x.y | default(z) }}", "y null"),
        ("{{ '' | default('e', true) }}{{ z | default('no') }}.", "enull."),
        ("{{- n -}} {# a comment #}{% raw %}{{ n }}{% endraw %}", "1.5{{ n }}"),
    ],
)
def test_variables_parts_and_filters_are_filled(text: str, shown: str) -> None:
    row = {"a": {"b": [{"c": "x"}]}, "n": 1.5, "t": True, "z": None, "l": ["é", 2], "s": "A  b's "}
    used = "".join(f"{{{{{name}}}}}" for name in row)
    (one,) = loaded(suite(prompt=f"{text}|{used}", vars=[row]))
    assert one.prompt.partition("|")[0] == shown


REFUSED = {
    "{{ 'a' * 999999999 }}": "arithmetic",
    "{{ a + 1 }}": "arithmetic",
    "{{ -a }}": "arithmetic",
    "{{ a ~ a }}": "arithmetic",
    "{{ a() }}": "a call",
    "{{ a.upper() }}": "a call",
    "{{ range(9) }}": "a call",
    "{% for x in a %}{{ x }}{% endfor %}": "a loop",
    "{% if a %}x{% endif %}": "a condition",
    "{{ a if a else 1 }}": "a condition",
    "{{ a is defined }}": "a condition",
    "{% include 'x' %}": "another file",
    "{% import '/etc/passwd' as x %}": "another file",
    "{% set x = 1 %}": "a statement",
    "{{ a.__class__ }}": "'__class__'",
    "{{ a['__class__'] }}": "'__class__'",
    "{{ _a }}": "'_a'",
    "{{ a | attr('x') }}": "filter",
    "{{ a | safe }}": "filter",
    "{{ a[1:2] }}": "expression",
    "{{ a | default }} {{ b | replace('x') }}": "'replace'",
    "{{ a | join(*a) }}": "an expression of another kind",
    "{{ a": "this is no template",
    "{{ " + "9" * 5000 + " }}": "this is no template",
    "{% nope %}": "this is no template",
    "{{ a | int }}": "'int'",
    "{{ a | round(-999999999) }}": "'round'",
    "{{ a | round(5) }}": "'round'",
    "{{ 1.0 | round(999999999) }}{{ a }}": "precision",
    "{{ a | join }}": "'join'",
    "{{ 'nan' | float }}{{a}}": "no finite number",
    "{{ a.upper }}": "no part 'upper'",
    "{{ a[0] }}": "no part 0",
    "{{ a }}{{ bb }}": "no variable is called 'bb'",
    "{{ a" + (" | replace('b', '" + "b" * 999 + "')") * 3 + " }}": "longer than",
    "{{ a" + " | tojson" * 99 + " }}": "longer than",
    "{{ l" + (" | join('" + "x" * 99_999 + "')") + " }}{{a}}": "longer than",
    ("{{ a | replace('', '" + "x" * 50_000 + "') }}") * 9: "longer than",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: text[:40])
def test_what_is_no_variable_is_refused(text: str) -> None:
    with pytest.raises(SuiteError, match=re.escape(REFUSED[text])) as error:
        loaded({**suite(prompt=text, vars=[{"a": "abc"}]), "vars": {"l": ["x"] * 99}})
    assert "suite, scenario 1" in str(error.value)
    assert len(str(error.value)) < 1000


def test_a_deep_template_is_refused() -> None:
    for text in ("{{ " + "(" * 20_000 + "a" + ")" * 20_000 + " }}", "{{ a" + ".b" * 50_000 + " }}"):
        with pytest.raises(SuiteError):
            loaded(suite(prompt=text, vars=[{"a": "x"}]))


def test_cells_of_csv_are_texts_and_fitted_to_the_schema_of_an_argument(tmp_path: Path) -> None:
    given = suite(
        prompt="{{city}} {{days}}",
        expect=call(
            city="{{city}}",
            days={"$any_of": ["{{days}}", 7]},
            tags=["{{city}}"],
            at={"hour": {"$approx": "{{hour}}"}},
            any="{{days}}",
        ),
        vars="cities.csv",
    )
    path = written(tmp_path, given, cities_csv="\ufeffcity, days,hour\r\n00501,2,1.5\r\n")
    (one,) = tunaeval.load_suite(path).scenarios
    assert one.expect.calls is not None
    assert one.prompt == "00501 2"
    assert one.expect.calls[0].arguments == {
        "city": "00501",
        "days": {"$any_of": [2, 7]},
        "tags": ["00501"],
        "at": {"hour": {"$approx": 1.5}},
        "any": "2",
    }
    assert one.vars == {"city": "00501", "days": "2", "hour": "1.5"}


def test_a_csv_file_may_have_an_odd_shape(tmp_path: Path) -> None:
    text = '\ufeffcity,note\r\n\r\n"a, ""b""","two\r\nlines"\r\n\nذرة,\r\n,x\n' + "c" * 300 + ",["
    path = written(tmp_path, suite(prompt="In {{city}}: {{note}}", vars="c.csv"), c_csv=text)
    made = tunaeval.load_suite(path).scenarios
    assert [one.prompt for one in made][:3] == ['In a, "b": two\r\nlines', "In ذرة: ", "In : x"]
    assert [one.id for one in made][1:3] == ["w/ذرة-", "w/-x"]
    assert all(set(one.id).isdisjoint("[]*?\n") for one in made)
    assert len(made) == 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.csv", "city\nLisbon\nPorto\n"),
        ("c.json", '[{"city": "Lisbon"}, {"city": "Porto"}]'),
        ("c.json", '{"city": ["Lisbon", "Porto"]}'),
        ("c.jsonl", '{"city": "Lisbon"}\n\n{"city": "Porto"}\n'),
    ],
)
def test_rows_are_read_from_a_file_beside_the_suite(tmp_path: Path, name: str, text: str) -> None:
    path = written(tmp_path, suite(vars=name), **{name.replace(".", "_"): text})
    assert [one.id for one in tunaeval.load_suite(path).scenarios] == ["w/Lisbon", "w/Porto"]


def test_files_of_a_suite_given_as_values_are_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, {}, c_csv="city\nLisbon\n")
    monkeypatch.chdir(tmp_path)
    assert loaded(suite(vars="c.csv"))[0].prompt == "How is it in Lisbon?"


IN_FILES: dict[str, tuple[str, Sequence[str]]] = {
    "a wrong length": ("city,days\nLisbon,1\nPorto\n", ["c.csv", "line 3", "1 cells"]),
    "a column twice": ("city,city\nLisbon,1\n", ["c.csv", "line 1", "'city'", "twice"]),
    "a column without a name": ("city,\nLisbon,1\n", ["c.csv", "line 1", "column 2", "no name"]),
    "a row twice": ("city\nLisbon\nPorto\nLisbon\n", ["c.csv", "line 4", "line 2"]),
    "no rows": ("city\n\n", ["c.csv", "no rows"]),
    "nothing": ("", ["c.csv", "no rows"]),
    "promptfoo's": ("city,__expected\nLisbon,equals: x\n", ["c.csv", "__expected", "expect"]),
    "an open quote": ('city\nLisbon\n"Porto\n', ["c.csv", "line 3", "no CSV"]),
    "a quote inside": ('city\n"a"b\n', ["c.csv", "line 2", "no CSV"]),
    "a variable missing": ("town\nLisbon\n", ["c.csv", "line 2", "'city'", "prompt"]),
    "another separator": ("city;days\nLisbon;1\n", ["c.csv", "line 2", "'city'", "city;days"]),
    "against the schema": ("city,n\nLisbon,two\n", ["c.csv", "line 2", "'two'", "integer"]),
}


@pytest.mark.parametrize("name", IN_FILES)
def test_a_fault_in_a_file_is_named_with_its_line(tmp_path: Path, name: str) -> None:
    text, words = IN_FILES[name]
    expect = call(days="{{n}}") if name == "against the schema" else {"none": True}
    path = written(tmp_path, suite(expect=expect, vars="c.csv"), c_csv=text)
    with pytest.raises(SuiteError) as error:
        tunaeval.load_suite(path)
    assert all(word in str(error.value) for word in words), error.value


INLINE: dict[str, tuple[Any, Sequence[str]]] = {
    "a variable missing": ([{"city": "x"}, {"town": "y"}], ["vars[1]", "town"]),
    "missing alone": ([{"city": "x"}, {"city": "y", "cty": 1}], ["vars[1]", "cty"]),
    "written and unused": ([{"city": "x", "mood": "good"}], ["vars[0]", "mood"]),
    "unused in an object": ({"city": ["x"], "mood": 1}, ["vars[0]", "mood"]),
    "a row twice": ([{"city": "x"}, {"city": "x"}], ["vars[1]", "vars[0]"]),
    "an item twice": ({"city": ["x", "x"]}, ["vars[1]", "vars[0]"]),
    "no rows": ([], ["vars", "no rows"]),
    "no items": ({"city": []}, ["vars", "no rows", "city"]),
    "an empty object": ({}, ["vars", "no value"]),
    "an empty row": ([{}], ["vars[0]", "no value"]),
    "no row": ([{"city": "x"}, ["y"]], ["vars[1]", "['y']"]),
    "promptfoo's": ([{"city": "x", "__expected": "y"}], ["vars[0]", "__expected"]),
    "too many": ({"city": list(range(1001)), "b": list(range(1000))}, ["vars", "1,001,000"]),
    "a number": (5, ["vars", "found 5"]),
    "no such file": ("x.csv", ["vars", "x.csv"]),
    "outside": ("../x.csv", ["vars", "../x.csv"]),
    "another kind": ("x.parquet", ["vars", "x.parquet", ".csv"]),
    "promptfoo's address": ("file://x.csv", ["vars", "file://x.csv"]),
}


@pytest.mark.parametrize("name", INLINE)
def test_a_fault_in_written_rows_is_named_with_its_index(tmp_path: Path, name: str) -> None:
    rows, words = INLINE[name]
    path = written(tmp_path, suite(vars=rows))
    with pytest.raises(SuiteError) as error:
        tunaeval.load_suite(path)
    assert all(word in str(error.value) for word in ["suite.json", "scenario 1", *words]), (
        error.value
    )


def test_a_missing_variable_and_a_value_against_the_schema_name_the_row() -> None:
    for row, words in (({}, ["prompt", "'city'"]), ({"n": "2"}, ["arguments.days", "'2'"])):
        made = [{"city": "x", "n": 1}, {"city": "y", "n": 2, **row}]
        if not row:
            del made[1]["city"]
        with pytest.raises(SuiteError) as error:
            loaded(suite(expect=call(days="{{n}}"), vars=made))
        assert all(word in str(error.value) for word in ["vars[1]", *words]), error.value


def test_a_variable_of_the_header_that_nothing_uses_is_an_error() -> None:
    with pytest.raises(SuiteError, match=r"suite, vars\.mood"):
        loaded({**suite(vars=[{"city": "x"}]), "vars": {"mood": "good"}})


def test_a_column_that_nothing_uses_is_a_note(tmp_path: Path) -> None:
    path = written(tmp_path, suite(vars="c.csv"), c_csv="city,who,why\nLisbon,a,b\n")
    (note,) = tunaeval.load_suite(path).notes
    assert all(word in note for word in ("c.csv", "'who'", "'why'"))


def test_two_ids_of_a_template_that_are_equal_are_an_error() -> None:
    rows = [{"city": "x", "n": 1}, {"city": "x", "n": 2}]
    with pytest.raises(SuiteError, match=r"vars\[1\], id: 'of-x' is taken by .*vars\[0\]"):
        loaded(suite(id="of-{{city}}", prompt="{{n}}", vars=rows))


@pytest.mark.parametrize(
    "city", ["مدينة لشبونة", "x" * 300, "x" * 5000, "a*[b]?", "a\nb", "a\u202eb"]
)
def test_any_text_is_part_of_an_id(city: str) -> None:
    (one,) = loaded(suite(vars=[{"city": city}]))
    assert one.id.startswith("w/")
    assert set(one.id).isdisjoint("[]*?\n\u202e")
    assert one.id == f"w/{city}" or len(one.id) < 330
    assert tunaeval.load_suite(suite(vars=[{"city": city}])).where(like=one.id).scenarios


def test_shapes_of_older_tools_may_have_variables() -> None:
    made = loaded({
        "tools": TOOLS,
        "scenarios": [
            {"prompt": "{{city}}", "expected_tool": "weather",
             "expected_args": {"city": "{{city}}"}, "vars": [{"city": "Lisbon"}]},
            {"task_id": 7, "query": "{{city}}", "expected_tool_sequence": ["{{t}}"],
             "vars": [{"city": "Oslo", "t": "weather"}], "other": "{{city}}"},
        ],
    })  # fmt: skip
    assert [one.id for one in made] == ["scenario-1/Lisbon", "7/Oslo-weather"]
    assert made[0].expect.calls is not None
    assert made[0].expect.calls[0].arguments == {"city": "Lisbon"}
    assert (made[1].expect.tools, made[1].group) == (("weather",), "7")
    assert made[1].metadata == {"other": "{{city}}"}


def test_a_tasks_files_and_checks_are_templates() -> None:
    task = {
        "files": {"a.txt": "Hello {{name}}"},
        "checks": [{"file": "a.txt", "contains": "{{name}}"}],
    }
    scenario = {
        "id": "t",
        "prompt": "Greet {{name}}.",
        "task": task,
        "vars": {"name": ["Ada", "Bo"]},
    }
    made = tunaeval.load_suite([scenario]).scenarios
    assert [one.task.files["a.txt"] for one in made if one.task] == ["Hello Ada", "Hello Bo"]


def asked(suite: Suite, **more: Any) -> list[str]:
    """The system prompts that a model is asked with."""
    seen: list[str] = []

    class Listening:
        name = "listening"

        async def complete(self, request: Request) -> Reply:
            seen.append(request.messages[0]["content"])
            return Reply({"role": "assistant", "content": "No."})

        async def close(self) -> None: ...

    tunaeval.run(suite, client=Listening(), out=None, attempts=1, concurrency=1, **more)
    return seen


def test_the_system_prompt_is_filled_for_each_row() -> None:
    given = suite(vars=[{"city": "Lisbon", "tone": "kind"}, {"city": "Oslo", "tone": "terse"}])
    given["scenarios"].append({"id": "plain", "prompt": "x", "expect": {"none": True}})
    given["system_prompt"] = "Be {{tone}}."
    made = tunaeval.load_suite(given)
    assert asked(made) == ["Be kind.", "Be terse.", "Be {{tone}}."]
    assert made.system_prompt == "Be {{tone}}."


def test_a_variable_that_only_another_prompt_uses_is_no_error() -> None:
    given = suite(vars=[{"city": "Lisbon", "tone": "kind"}])
    with pytest.raises(SuiteError, match="tone"):
        tunaeval.load_suite(given)
    clients = [tunaeval.ScriptedClient(["No."] * 9)]
    prompts = {"a": "Be {{tone}}.", "b": "In {{city}}."}
    matrix = tunaeval.run_matrix(given, models=clients, system_prompts=prompts, out=None)
    assert [report.total for report in matrix.cells] == [1, 1]
    with pytest.raises(SuiteError, match=r"'c'.*'w/Lisbon-kind'.*'mood'"):
        tunaeval.run_matrix(
            given, models=clients, system_prompts={"a": "{{tone}}", "c": "{{mood}}"}, out=None
        )


def test_a_suite_of_a_program_may_have_functions_as_tools_and_is_not_changed() -> None:
    def weather(city: str) -> str:
        """Say how it is."""
        return city

    given = {**suite(vars=[{"city": "x"}], expect=call(city="{{city}}")), "tools": [weather]}
    before = json.dumps(given["scenarios"])
    made = tunaeval.load_suite(given)
    assert (made.name, list(made.tools)) == ("s", ["weather"])
    assert json.dumps(given["scenarios"]) == before
    assert (
        tunaeval.load_suite(
            given["scenarios"][:0] or [{"prompt": "x", "expect": {"none": True}}]
        ).name
        == "suite"
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "no scenario"),
        ({}, "no scenario"),
        ([{"prompt": "x", "expect": {"none": True}, "weight": float("nan")}], "nan"),
        ([{"prompt": b"x"}], "b'x'"),
        ([{1: "x"}], "the key 1"),
        ({"scenarios": {}}, "a list of scenarios"),
        ({"scenariso": []}, "scenariso"),
    ],
)
def test_what_is_no_suite_is_refused(given: Any, words: str) -> None:
    with pytest.raises(SuiteError, match=re.escape(words)) as error:
        tunaeval.load_suite(given)
    assert str(error.value).startswith("suite")
