"""What `dataset check` finds, and that it finds nothing in sound rows of any shape."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.data.rows import ASK, CALL, GOLDS, HERMES, OPENAI_TOOL, RESULT, SHAPES, openai, sharegpt
from tunaeval import load_suite
from tunaeval.data.checking import FINDINGS, Checker, Finding, check_rows
from tunaeval.data.shapes import read_rows

BROKEN = '<tool_call>{"name": "get_weather", "arguments": {"city": </tool_call>'


def written(**arguments: Any) -> str:
    call = {"name": "get_weather", "arguments": arguments}
    return f"<tool_call>{json.dumps(call)}</tool_call>"


def said(*replies: str) -> dict[str, Any]:
    return sharegpt(("human", ASK), *(("gpt", reply) for reply in replies))


def answered(
    calls: Sequence[str], results: Sequence[str | None], end: bool = True
) -> dict[str, Any]:
    function = {"name": "get_weather", "arguments": '{"city": "Oslo"}'}
    made = [{"id": one, "type": "function", "function": function} for one in calls]
    said: list[dict[str, Any]] = [{"role": "user", "content": ASK}]
    if made:
        said.append({"role": "assistant", "content": None, "tool_calls": made})
    said += [{"role": "tool", "tool_call_id": one, "content": RESULT} for one in results]
    return {"messages": [*said, *([{"role": "assistant", "content": "x"}] if end else [])]}


def toolace(reply: str) -> dict[str, Any]:
    tool = {
        "name": "Weather",
        "parameters": {"type": "dict", "properties": {"city": {"type": "string"}}},
    }
    said = [{"from": "user", "value": ASK}, {"from": "assistant", "value": reply}]
    return {"system": f"You have: {json.dumps([tool])}", "conversations": said}


def found(row: dict[str, Any]) -> list[Finding]:
    (one,) = read_rows([row])
    return [*Checker().check(one)]


def preferred(chosen: str, rejected: str) -> dict[str, Any]:
    return {"prompt": ASK, "chosen": chosen, "rejected": rejected, "tools": [OPENAI_TOOL]}


def bfcl(**gold: Any) -> dict[str, Any]:
    """A row in BFCL's own shape; each argument has its alternatives, "" means left out."""
    hour = {"type": "dict", "properties": {"hour": {"type": "integer"}}, "required": ["hour"]}
    properties = {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "unit": {"type": "string", "enum": ["C", "F"], "default": None},
        "near": {"type": "array", "items": {"type": "string"}},
        "at": hour,
        "stops": {"type": "array", "items": hour},
        "height": {"type": "float"},
        "sizes": {"type": "array", "items": {"type": "integer"}},
    }
    parameters = {"type": "dict", "properties": properties, "required": ["city"]}
    function = [{"name": "get_weather", "description": "", "parameters": parameters}]
    question = [[{"role": "user", "content": ASK}]]
    truth = [{"get_weather": gold}]
    return {"id": "simple_0", "question": question, "function": function, "ground_truth": truth}


def wanting(call: dict[str, Any]) -> dict[str, Any]:
    return {**GOLDS["gold"], "gold": [call]}


@pytest.mark.parametrize(
    "row", [*(row for rows in SHAPES.values() for row in rows), *GOLDS.values()]
)
def test_nothing_is_wrong_with_a_sound_row(row: dict[str, Any]) -> None:
    assert found(row) == []


BAD: list[tuple[str, dict[str, Any]]] = [
    ("unreadable-row", {"a": 1}),
    ("unknown-tool", said(HERMES.replace("get_weather", "rm"))),
    ("unknown-tool", openai(tools=[{**OPENAI_TOOL, "function": {"name": "f"}}])),
    ("unknown-tool", toolace('[Weather(city="O"), Wind(city="P")]')),
    ("unknown-tool", toolace('[Wind(city="P")]')),
    ("unreadable-row", toolace('[Weather(city="O"), High Wind(city="P")]')),
    ("misfit", said(written(city="Oslo", days="two"))),
    ("misfit", said(written(days=2))),
    ("misfit", said(written(city="Oslo", place="x"))),
    ("broken-beside-good", said(HERMES + BROKEN)),
    ("broken-beside-good", said(HERMES + HERMES.replace("get_weather", "rm"))),
    ("broken-call", said(BROKEN)),
    ("broken-call", said('<tool_call>{"name": "get_weather", "argum')),
    ("repaired-call", said(written(city="Oslo", days="2"))),
    ("repaired-call", said(HERMES.replace("}}", "},}"))),
    ("unanswered-call", said(HERMES, "It rains.")),
    ("unanswered-call", sharegpt(("human", ASK), ("gpt", HERMES + HERMES), ("tool", "sunny"),
                                 ("gpt", "x"))),
    ("unanswered-call", answered(["c1", "c2"], ["c1"])),
    ("stray-result", answered(["c1"], ["c1", "c1"])),
    ("stray-result", answered(["c1"], ["c1", "c9"])),
    ("stray-result", answered([], ["c1"])),
    ("stray-result", answered([], [None])),
    ("faulty-rejected", preferred(HERMES, HERMES)),
    ("faulty-rejected", preferred(HERMES, BROKEN)),
    ("faulty-rejected", {"prompt": ASK, "chosen": HERMES, "rejected": [7]}),
    ("unreadable-gold", {**GOLDS["gold"], "gold": "sunny"}),
    ("unreadable-gold", {**GOLDS["verl"], "reward_model": {"ground_truth": "72"}}),
    ("unpayable-gold", wanting({"name": "rm", "arguments": {}})),
    ("unpayable-gold", wanting({**CALL, "arguments": {"city": "Oslo", "days": "2"}})),
    ("misfit", wanting({**CALL, "arguments": {"city": 5}})),
    ("misfit", wanting({**CALL, "arguments": {"city": "Oslo", "place": "x"}})),
    ("unknown-tool", {**GOLDS["bfcl"], "ground_truth": [{"rain": {}}]}),
    ("misfit", bfcl(city=["Oslo"], days=["2"])),
    ("misfit", bfcl(city=["Oslo", 5])),
    ("misfit", bfcl(city=["Oslo"], days=[2, 2.5, ""])),
    ("misfit", bfcl(days=[2])),
    ("misfit", bfcl(city=[""])),
    ("misfit", bfcl(city=["Oslo"], place=["x", ""])),
    ("misfit", bfcl(city=["Oslo"], unit=["C", "K"])),
    ("misfit", bfcl(city=["Oslo"], near=[["Moss", 3]])),
    ("misfit", bfcl(city=["Oslo"], at=[{"hour": [7, "seven"]}])),
    ("misfit", bfcl(city=["Oslo"], at=[{"minute": [7]}])),
    ("misfit", bfcl(city=["Oslo"], stops=[[{"hour": [7]}, {"hour": ["8"]}]])),
    ("misfit", bfcl(city=["Oslo"], days=[None, ""])),
    ("misfit", bfcl(city=["Oslo"], sizes=[[1, ""]])),
    ("unknown-tool", {**bfcl(), "ground_truth": [{"rain": {"city": ["Oslo"]}}]}),
    ("unreadable-row", {"messages": [{"role": "robot", "content": "x"}]}),
    ("unreadable-row", {"messages": [{"role": "user", "content": 5}]}),
    ("unreadable-row", {"messages": [{"role": "user", "content": {"a": 1}}]}),
    ("unreadable-row", {"messages": [{"role": "assistant", "content": 5}]}),
    ("unreadable-row", {"messages": [{"role": "assistant", "content": float("nan")}]}),
    ("unreadable-row", {"messages": [{"role": "assistant", "content": None}]}),
    ("unreadable-row", {"messages": [{"role": "assistant"}]}),
    ("unreadable-row", {"messages": [{"role": "assistant", "content": [{"type": "tool_use"}]}]}),
]  # fmt: skip


@pytest.mark.parametrize(("code", "row"), BAD)
def test_each_fault_is_found_with_its_reason(code: str, row: dict[str, Any]) -> None:
    codes = [finding.code for finding in found(row)]
    beside = {"unknown-tool", *({"misfit", "unpayable-gold"} if "gold" in row else ())}
    assert set(codes) == {code} | (beside & set(codes)), found(row)
    assert all(finding.reason for finding in found(row))


@pytest.mark.parametrize("arguments", ['{"city": ', "[1]", "Oslo", "5", '{"city": 1e999}'])
@pytest.mark.parametrize("as_text", [False, True])
def test_an_unknown_tool_with_broken_arguments_is_two_findings(
    arguments: str, as_text: bool
) -> None:
    item = {"type": "function", "function": {"name": "rm", "arguments": arguments}}
    made = {"role": "assistant", "content": "", "tool_calls": [item]}
    written = f"<tool_call>{json.dumps(item['function'])}</tool_call>"
    row = said(written) if as_text else openai()
    if not as_text:
        row["messages"] = [*row["messages"][:1], made]
    assert {one.code for one in found(row)} >= {"unknown-tool", "broken-call"}


def test_a_sound_answer_of_bfcl_has_no_finding() -> None:
    whole = {
        "city": ["Oslo", "oslo"],
        "days": [2, 3, ""],
        "unit": ["C", None, ""],
        "near": [["Moss"], [], ""],
        "at": [{"hour": [7, 19]}, ""],
        "stops": [[{"hour": [7]}, {"hour": [8, 20]}]],
        "height": [10, 10.5, ""],
    }
    for row in (bfcl(**whole), bfcl(city=["Oslo"]), {**bfcl(), "ground_truth": []}):
        assert found(row) == []


def test_every_alternative_of_bfcl_is_judged_and_each_reason_told_once() -> None:
    reasons = [one.reason for one in found(bfcl(city=["Oslo", 5, 5, 6], unit=["C", "K"]))]
    assert [reason.partition(": ")[2] for reason in reasons] == [
        "$.city: 5 read as string '5'",
        "$.city: 6 read as string '6'",
        "$.unit: 'K' is none of ['C', 'F']",
    ]
    (undeclared,) = found(bfcl(city=["Oslo"], place=["x"]))
    assert undeclared.reason == "get_weather: 'place' is not declared"


def test_a_row_of_only_alternatives_is_judged_in_bounded_time() -> None:
    words = [f"{number} Oslo" for number in range(2_000)]
    assert found(bfcl(city=words, near=[words, [*words, ""]])) == []


def test_a_gold_that_no_reply_matches_says_why() -> None:
    (_, unpayable) = found(wanting({**CALL, "arguments": {"city": "Oslo", "days": "2"}}))
    assert unpayable.reason.endswith("wanted days='2', got 2")


def test_a_wrong_call_is_what_a_rejected_reply_is_for() -> None:
    for worse in ("No.", HERMES.replace("Oslo", "Rome"), HERMES.replace("get_weather", "rm")):
        assert found(preferred(HERMES, worse)) == []


def test_the_last_call_may_be_unanswered_and_one_result_may_answer_several() -> None:
    assert found(said(HERMES)) == []
    two = HERMES + HERMES.replace("Oslo", "Rome")
    results = json.dumps([RESULT, RESULT])
    assert found(sharegpt(("human", ASK), ("gpt", two), ("tool", results), ("gpt", "x"))) == []


@pytest.mark.parametrize("end", [True, False])
def test_results_are_of_the_calls_with_their_ids(end: bool) -> None:
    assert found(answered(["c1", "c2"], ["c2", "c1"], end)) == []
    codes = ["unanswered-call", "stray-result"]
    for calls, results in ((["c1"], ["c9"]), (["c1", "c2"], ["c1", "c1"])):
        assert [one.code for one in found(answered(calls, results, end))] == codes
    assert [one.message for one in found(answered(["c1"], ["c9"], end))] == [1, 2]


def test_duplicates_and_questions_of_a_suite_are_found() -> None:
    suite = load_suite("tunacode")
    asked = suite.scenarios[0].prompt
    rows = [
        openai(id=1),
        openai(id=2),
        sharegpt(("human", f"  {asked.upper()}\n"), ("gpt", "Well.")),
        sharegpt(("human", f"Not {asked}"), ("gpt", "Well.")),
    ]
    report = check_rows(read_rows(rows), suites=[suite])
    assert report.counts == {"duplicate-row": 1, "contaminated": 1}
    assert report.examples["duplicate-row"] == [(2, "the same as row 1")]
    assert (report.rows, report.faulty) == (4, 2)


def test_rows_are_counted_once_for_each_code() -> None:
    report = check_rows(read_rows([said(BROKEN, BROKEN), {"a": 1}]))
    assert report.counts["broken-call"] == 1
    assert report.shapes == {"sharegpt": 1, "unreadable": 1}
    assert set(report.counts) <= FINDINGS.keys()


def test_numbers_beyond_64_bits_are_told_apart() -> None:
    rows = [said(written(city="Oslo", days=2**70 + n)) for n in range(2)]
    assert "duplicate-row" not in check_rows(read_rows(rows)).counts
