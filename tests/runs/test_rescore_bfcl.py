"""Results that BFCL kept are read here: every layout, and what is wrong with a folder of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.runs.bfcl_folders import (
    FUNCTION,
    LAYOUTS,
    write_lines,
    write_prompts,
    write_results,
    write_scores,
)
from tunaeval.errors import RecordError, SuiteError, UnknownNameError


def called(number: int, name: str = "area_of") -> str:
    arguments = json.dumps({"base": number})
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


def only(path: Path, prompts: Path, **options: Any) -> tunaeval.BfclModel:
    (model,) = tunaeval.rescore_bfcl(path, prompts=prompts, **options)
    return model


def outcomes(model: tunaeval.BfclModel) -> list[tuple[str, bool]]:
    return [(one.outcome, one.ok) for one in model.results]


@pytest.mark.parametrize("version", LAYOUTS)
def test_results_of_each_version_are_read(version: str, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts"
    for category in ("simple", "parallel", "irrelevance"):
        write_prompts(prompts, version, category, 2)
    project = tmp_path / "project"
    write_results(project, version, "simple", [called(0), called(7)])
    write_results(project, version, "parallel", [called(0) + called(0), called(1)])
    write_results(project, version, "irrelevance", ["No tool fits.", called(1)])
    model = only(project, prompts)
    assert (model.name, model.faults, model.notes) == ("m-7b", [], [])
    assert model.categories == {"simple": 2, "parallel": 2, "irrelevance": 2}
    verdicts: dict[str, list[bool]] = {one.tags[0]: [] for one in model.results}
    for one in model.results:
        verdicts[one.tags[0]].append(one.ok)
    assert verdicts == {category: [True, False] for category in verdicts}
    assert model.summary.formats["hermes"] == 5


@pytest.mark.parametrize("part", ["", "result", "result/m-7b"])
def test_a_project_its_results_and_one_model_may_be_named(part: str, tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v4", "simple", 1)
    write_results(tmp_path / "project", "v4", "simple", [called(0)])
    assert only(tmp_path / "project" / part, prompts).name == "m-7b"


@pytest.mark.parametrize("part", ["", "result", "result/m-7b", "result/m-7b/non_live"])
def test_a_folder_may_be_named_from_within(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v4", "simple", 1)
    write_scores(write_results(tmp_path / "project", "v4", "simple", [called(0)]), [], 1)
    monkeypatch.chdir(tmp_path / "project" / part)
    model = only(Path(), prompts)
    assert (model.name, model.verdicts) == ("m-7b", {"simple_python_0": True})


def test_models_come_one_after_the_other(tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v3", "simple", 1)
    for model in ("b", "a"):
        write_results(tmp_path, "v3", "simple", [called(0)], model)
    assert [one.name for one in tunaeval.rescore_bfcl(tmp_path, prompts=prompts)] == ["a", "b"]


@pytest.mark.parametrize("name", ["area.of", "area_of"])
def test_names_are_those_that_the_model_was_shown(name: str, tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v3", "simple", 2)
    write_results(tmp_path / "r", "v3", "simple", [called(0, name), called(1, name)])
    assert outcomes(only(tmp_path / "r", prompts)) == [("calls", True)] * 2


@pytest.mark.parametrize(
    "result",
    [
        [{"area_of": '{"base": 0}'}],
        [{"area_of": {"base": 0}}],
        [{"tool_name": "area_of", "parameters": {"base": 0}}],
        [{"name": "area_of", "arguments": {"base": 0}}],
    ],
)
def test_calls_that_a_server_parsed_are_structured(result: Any, tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v4", "simple", 1)
    write_results(tmp_path / "r", "v4", "simple", [result])
    model = only(tmp_path / "r", prompts)
    assert outcomes(model) == [("calls", True)]
    assert model.summary.sources == {"structured": 1}


def test_structured_arguments_may_be_broken_and_calls_be_none(tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v4", "simple", 2)
    write_results(tmp_path / "r", "v4", "simple", [[{"area_of": '{"base": x}'}], []])
    assert [one for one, _ in outcomes(only(tmp_path / "r", prompts))] == ["malformed", "no_call"]


def test_an_idx_is_a_place(tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "2024", "simple", 2)
    path = write_results(tmp_path / "r", "2024", "simple", [])
    write_lines(path, [{"idx": 1, "result": called(1)}, {"id": 0, "result": called(0)}])
    assert outcomes(only(tmp_path / "r", prompts)) == [("calls", True)] * 2


def test_a_request_that_failed_is_no_reply(tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v4", "simple", 1)
    write_results(tmp_path / "r", "v4", "simple", ["Error during inference: 429"])
    model = only(tmp_path / "r", prompts)
    assert outcomes(model) == [("transport_failure", False)]
    assert model.summary.final.total == 0


def test_tokens_and_seconds_are_kept(tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v3", "simple", 1)
    path = write_results(tmp_path / "r", "v3", "simple", [])
    row = {"id": "simple_0", "result": called(0), "latency": 1.5}
    write_lines(path, [{**row, "input_token_count": 90, "output_token_count": 9}])
    (result,) = only(tmp_path / "r", prompts).results
    assert (result.latency_seconds, result.prompt_tokens, result.completion_tokens) == (1.5, 90, 9)


def test_the_level_and_the_format_are_asked_for(tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v3", "simple", 1)
    write_results(tmp_path / "r", "v3", "simple", [called(0).replace('"', "'")])
    assert outcomes(only(tmp_path / "r", prompts)) == [("calls", True)]
    assert outcomes(only(tmp_path / "r", prompts, level="strict")) == [("malformed", False)]
    assert outcomes(only(tmp_path / "r", prompts, format="mistral"))[0][1] is False
    with pytest.raises(UnknownNameError, match="strict"):
        tunaeval.rescore_bfcl(tmp_path / "r", prompts=prompts, level="strct")  # type: ignore[arg-type] # what is tested


@pytest.mark.parametrize(("version", "failed"), [("v4", "simple_python_1"), ("2024", 2)])
def test_bfcls_own_verdict_is_beside_ours(version: str, failed: object, tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", version, "simple", 2)
    path = write_results(tmp_path / "r", version, "simple", [called(0), called(1)])
    if version == "2024":
        path = path.with_name("simple_result.json")  # the name of its scores lacks the prefix
    write_scores(path, [failed], 2)
    model = only(tmp_path / "r", prompts)
    assert list(model.verdicts.values()) == [True, False]
    assert [one.ok for one in model.results] == [True, True]


def test_scores_of_other_results_are_left_out(tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v4", "simple", 2)
    path = write_results(tmp_path / "r", "v4", "simple", [called(0)])
    scores = write_scores(path, [], 2)
    model = only(tmp_path / "r", prompts)
    assert model.verdicts == {}
    assert model.faults == [
        f"{scores}, line 1: it counts 2 replies, {path} has 1; run bfcl evaluate again"
    ]


# What is wrong with a folder


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[1, 2]", "line 2: found [1, 2], wanted an object with id and result"),
        ('{"id": "simple_0", "resu', "line 2, column 20: this is no JSON"),
        ('{"id": "simple_0", "result": "x"}', "line 2: the id is taken by line 1"),
        (
            '{"id": "multiple_1", "result": "x"}',
            "line 2: found the id 'multiple_1', wanted one of the category simple",
        ),
        ('{"result": "x"}', "line 2: found the id None"),
        ('{"id": "simple_1", "result": 5}', "line 2, result: found 5; wanted a text, or a list"),
        ('{"id": "simple_1", "result": ["f"]}', "line 2, result: found ['f']; wanted"),
        ('{"id": "simple_7", "result": "x"}', "line 2: there is no prompt '7' of simple; give the"),
        ('{"id": "simple_1", "result": ' + "[" * 100_000, "line 2"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_the_others_count(
    line: str, words: str, tmp_path: Path
) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v3", "simple", 2)
    path = write_results(tmp_path / "r", "v3", "simple", [called(0)])
    path.write_text(f"{path.read_text()}{line}\n")
    model = only(tmp_path / "r", prompts)
    assert outcomes(model) == [("calls", True)]
    (fault,) = model.faults
    assert fault.startswith(str(path))
    assert words in fault


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v3", "simple", 1)
    write_results(tmp_path / "r", "v3", "multiple", []).write_bytes(b"\xff\xfe")
    write_results(tmp_path / "r", "v3", "simple", [called(0)])
    write_prompts(prompts, "v3", "multiple", 1)
    model = only(tmp_path / "r", prompts)
    assert outcomes(model) == [("calls", True)]
    assert "line 1: found the byte 0xff, which is no UTF-8" in model.faults[0]


def test_half_a_folder_is_counted_as_it_is(tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v3", "simple", 3)
    path = write_results(tmp_path / "r", "v3", "simple", [called(0)])
    model = only(tmp_path / "r", prompts)
    assert (model.summary.scenarios, model.faults) == (1, [])
    assert model.notes == [f"{path}: 1 of 3 prompts have a reply"]


def test_prompts_that_are_missing_are_named(tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v3", "simple", 1)
    path = write_results(tmp_path / "r", "v3", "multiple", ["x"])
    write_results(tmp_path / "r", "v3", "simple", [called(0)])
    model = only(tmp_path / "r", prompts)
    assert outcomes(model) == [("calls", True)]
    (fault,) = model.faults
    assert fault.startswith(f"{path}: its prompts are missing: {prompts}: there is no BFCL_v4_mult")
    with pytest.raises(SuiteError, match="nowhere: is no directory"):
        tunaeval.rescore_bfcl(tmp_path / "r", prompts=tmp_path / "nowhere")


def test_prompts_of_others_are_noticed_by_the_names_in_the_calls(tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v3", "simple", 6)
    path = write_results(tmp_path / "r", "v3", "simple", [called(0, "get_price")] * 6)
    (fault,) = only(tmp_path / "r", prompts).faults
    assert fault.startswith(f"{path}: the replies call no tool of their prompts")


def test_results_of_another_version_are_read_and_it_is_said(tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v4", "simple", 1)
    path = write_results(tmp_path / "r", "v3", "simple", [called(0)])
    model = only(tmp_path / "r", prompts)
    assert (outcomes(model), model.faults) == ([("calls", True)], [])
    assert model.notes[0].startswith(f"{path}: these are results of v3 and the prompts are of v4")


def test_a_prompt_whose_answer_cannot_be_is_left_out(tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v3", "simple", 2)
    answers = prompts / "possible_answer" / "BFCL_v3_simple.json"
    answers.write_text(answers.read_text().replace('"area.of": {"base": [1]}', '"deck": {}'))
    write_results(tmp_path / "r", "v3", "simple", [called(0), called(1)])
    model = only(tmp_path / "r", prompts)
    assert (outcomes(model), model.faults) == ([("calls", True)], [])
    assert "no function is called 'deck'" in model.notes[0]


def test_categories_that_are_not_judged_are_named(tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v4", "simple", 1)
    write_results(tmp_path / "r", "v4", "simple", [called(0)])
    write_results(tmp_path / "r", "v4", "web_search_base", [[["x"]]])
    write_results(tmp_path / "r", "v4", "simple_java", ["x"])
    model = only(tmp_path / "r", prompts)
    assert (model.left_out, model.faults) == (("simple_java", "web_search_base"), [])


def test_of_two_versions_of_a_category_the_newer_counts(tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v4", "simple", 1)
    old = write_results(tmp_path / "r", "v3", "simple", ["Well."])
    new = write_results(tmp_path / "r", "v4", "simple", [called(0)])
    model = only(tmp_path / "r", prompts)
    assert outcomes(model) == [("calls", True)]
    assert model.faults == [f"{old}: is left out, {new} has this category, too"]


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    prompts = write_prompts(tmp_path / "prompts", "v4", "simple", 1)
    with pytest.raises(RecordError, match="there are no results of BFCL"):
        tunaeval.rescore_bfcl(tmp_path, prompts=prompts)
    stray = tmp_path / "r" / "m" / "simple_result.json"
    write_lines(stray, [])
    with pytest.raises(RecordError, match="there are no results of BFCL"):
        tunaeval.rescore_bfcl(tmp_path, prompts=prompts)
    write_results(tmp_path / "r", "v4", "simple", [called(0)])
    models = {one.name: one for one in tunaeval.rescore_bfcl(tmp_path, prompts=prompts)}
    assert models["m"].faults[0].startswith(f"{stray}: is no file of BFCL's by its name")


def test_version_2_had_one_list_of_messages(tmp_path: Path) -> None:
    row = {"id": "simple_0", "question": [{"role": "user", "content": "?"}], "function": [FUNCTION]}
    answer = {"id": "simple_0", "ground_truth": [{"area.of": {"base": [0]}}]}
    write_lines(tmp_path / "p" / "BFCL_v2_simple.json", [row])
    write_lines(tmp_path / "p" / "possible_answer" / "BFCL_v2_simple.json", [answer])
    write_lines(tmp_path / "result" / "m" / "BFCL_v2_simple_result.json",
                [{"id": "simple_0", "result": called(0)}])  # fmt: skip
    assert outcomes(only(tmp_path / "result", tmp_path / "p")) == [("calls", True)]
