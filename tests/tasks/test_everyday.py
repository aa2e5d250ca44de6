"""The suite `everyday`: counts, notes, and that its answers pass where lazy models fail."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date

import pytest

import tunaeval
from tunaeval.matching.answers import own_answer
from tunaeval.matching.calls import match
from tunaeval.types.calls import JsonValue, ToolCall, Tools
from tunaeval.types.runs import Scenario

SUITE = tunaeval.load_suite("everyday")
KINDS = {
    "no-call": 24,
    "one-call": 40,
    "parallel": 18,
    "in-order": 10,
    "near-miss": 10,
    "types": 10,
    "nested": 4,
    "dates": 4,
}
DOMAINS = {
    "calendar": "create_event list_events move_event cancel_event set_reminder",
    "mail": "send_mail save_draft search_mail reply_to_mail move_mail",
    "files": "list_files search_in_files copy_file move_file create_folder",
    "search": "web_search",
    "weather": "current_weather weather_forecast",
    "shop": "search_products add_to_cart place_order order_status",
    "database": "query_table count_rows insert_row",
}
TODAY = date(2026, 3, 12)

Answer = Callable[[Scenario, Tools], str]


def tools_of(scenario: Scenario) -> Tools:
    return SUITE.tools if scenario.tools is None else scenario.tools


def written(calls: Sequence[ToolCall]) -> str:
    return tunaeval.render(calls, "hermes") if calls else "There is nothing to call."


def passed(answer: Answer) -> set[str]:
    """The ids of the scenarios that a scripted model passes."""
    replies = [answer(one, tools_of(one)) for one in SUITE.scenarios]
    client = tunaeval.ScriptedClient(replies)
    report = tunaeval.run(SUITE, client=client, format="hermes", ask="prompt", attempts=1, out=None)
    return {result.scenario for result in report.results if result.ok}


def no_calls() -> set[str]:
    return {one.id for one in SUITE.scenarios if one.expect.none}


def test_there_are_120_scenarios_with_ids_of_their_own() -> None:
    ids = [one.id for one in SUITE.scenarios]
    assert len(ids) == len(set(ids)) == 120
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", one) for one in ids)


def test_each_scenario_has_one_kind_its_domains_a_difficulty_and_a_reason() -> None:
    for one in SUITE.scenarios:
        kind, *domains = one.tags
        assert kind in KINDS, one.id
        assert domains, one.id
        assert set(domains) <= DOMAINS.keys(), one.id
        assert len(domains) == len(set(domains)), one.id
        assert one.difficulty is not None, one.id
        assert re.fullmatch(r"[A-Z].{40,}\.", one.notes), one.id
    assert Counter(one.tags[0] for one in SUITE.scenarios) == KINDS
    reasons = [one.notes.removesuffix(" All tools are offered.") for one in SUITE.scenarios]
    assert len(set(reasons)) == 120


def test_each_domain_and_each_difficulty_is_there_often_enough() -> None:
    domains = Counter(tag for one in SUITE.scenarios for tag in one.tags[1:])
    assert domains.keys() == DOMAINS.keys()
    assert min(domains.values()) >= 8
    difficulties = Counter(one.difficulty for one in SUITE.scenarios)
    assert min(difficulties.values()) >= 15
    assert len(difficulties) == 3


def test_kinds_and_domains_say_what_is_expected() -> None:
    domain_of = {tool: domain for domain, tools in DOMAINS.items() for tool in tools.split()}
    assert domain_of.keys() == SUITE.tools.keys()
    for one in SUITE.scenarios:
        expect, kind = one.expect, one.tags[0]
        calls = expect.calls or ()
        assert (kind == "no-call") == expect.none, one.id
        assert (len(calls) > 1) == (kind in {"parallel", "in-order"}), one.id
        assert (expect.match == "any_order") == (kind == "parallel"), one.id
        assert {domain_of[call.name] for call in calls} <= set(one.tags), one.id
        if kind != "near-miss" and calls:
            assert {domain_of[call.name] for call in calls} == set(one.tags[1:]), one.id


def test_every_tool_is_expected_and_described_in_sentences() -> None:
    expected = Counter(call.name for one in SUITE.scenarios for call in one.expect.calls or ())
    assert expected.keys() == SUITE.tools.keys()
    for spec in SUITE.tools.values():
        assert re.fullmatch(r"[A-Z].*\.", spec.description), spec.name
        assert spec.parameters["additionalProperties"] is False
        for name, schema in spec.parameters["properties"].items():
            assert re.fullmatch(r"[A-Z].*\.", schema["description"]), (spec.name, name)


def test_a_scenario_offers_all_tools_or_some_with_the_one_that_is_right() -> None:
    offered = Counter(len(tools_of(one)) for one in SUITE.scenarios)
    assert offered[25] >= 12
    assert min(offered) >= 2
    for one in SUITE.scenarios:
        names = [call.name for call in one.expect.calls or ()]
        assert set(names) <= tools_of(one).keys(), one.id
        assert len(tools_of(one)) > len(set(names)), one.id


def test_ids_addresses_and_numbers_have_to_be_copied_from_the_prompt() -> None:
    copied = re.compile(r"\b(?:[EMP]-\d+|ORD-\d+|\S+@\S+|\d{4,5})\b")
    for one in SUITE.scenarios:
        for text in plain_texts([call.arguments for call in one.expect.calls or ()]):
            if copied.fullmatch(text):
                assert text in one.prompt, (one.id, text)


def test_dates_are_in_the_prompt_or_follow_from_the_date_in_the_system_prompt() -> None:
    assert f"{TODAY:%A, %d %B %Y}" in SUITE.system_prompt
    relative = set()
    for one in SUITE.scenarios:
        for text in plain_texts([call.arguments for call in one.expect.calls or ()]):
            if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
                day = date.fromisoformat(text)
                if not re.search(rf"\b{day.day}\b.*\b{day:%B}\b", one.prompt):
                    relative.add(one.id)
                    assert 0 <= (day - TODAY).days <= 7, one.id
    assert relative == {one.id for one in SUITE.scenarios if one.tags[0] == "dates"}


def plain_texts(value: JsonValue) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [text for item in value.values() for text in plain_texts(item)]
        case list():
            return [text for item in value for text in plain_texts(item)]
    return []


def test_the_expected_calls_written_in_a_format_pass_everywhere() -> None:
    assert tunaeval.check_suite(SUITE) == ()
    gold = passed(lambda one, tools: written(own_answer(one.expect, tools)))
    assert gold == {one.id for one in SUITE.scenarios}


@pytest.mark.parametrize("says", ["", "abc"])
def test_a_model_that_never_calls_passes_where_no_call_is_wanted(says: str) -> None:
    assert passed(lambda _, __: says) == no_calls()
    assert len(no_calls()) == 24


def test_a_model_that_repeats_the_prompt_never_calls() -> None:
    assert passed(lambda one, _: one.prompt) == no_calls()


def first_tool(_: Scenario, tools: Tools) -> str:
    return written([ToolCall(next(iter(tools)), {})])


def right_tools(one: Scenario, tools: Tools) -> str:
    names = [call.name for call in one.expect.calls or ()] or [next(iter(tools))]
    return written([ToolCall(name, {}) for name in names])


def right_tool(one: Scenario, tools: Tools) -> str:
    calls = one.expect.calls
    return written([ToolCall(calls[0].name if calls else next(iter(tools)), {})])


def every_tool(_: Scenario, tools: Tools) -> str:
    return written([ToolCall(name, {}) for name in tools])


def required_only(one: Scenario, tools: Tools) -> str:
    """The right calls without what is optional: less lazy, and still not right everywhere."""
    calls = [
        ToolCall(
            call.name, {key: call.arguments[key] for key in required(call.name, call.arguments)}
        )
        for call in own_answer(one.expect, tools)
    ]
    return written(calls or [ToolCall(next(iter(tools)), {})])


def required(tool: str, given: dict[str, JsonValue]) -> list[str]:
    return [key for key in SUITE.tools[tool].parameters["required"] if key in given]


@pytest.mark.parametrize("lazy", [first_tool, right_tools, right_tool, every_tool])
def test_a_lazy_model_that_calls_passes_nothing(lazy: Answer) -> None:
    assert passed(lazy) == set()


def test_optional_arguments_decide_in_more_than_a_quarter_of_the_calls() -> None:
    wanting = 120 - len(no_calls())
    assert len(passed(required_only)) < 0.75 * wanting


def test_the_calls_of_a_sequence_fail_in_the_other_order_and_parallel_ones_pass() -> None:
    for one in SUITE.scenarios:
        calls = own_answer(one.expect, tools_of(one))
        turned = match(one.expect, calls[::-1], profile="strict", tools=tools_of(one)).ok
        assert turned == (one.tags[0] != "in-order"), one.id


def test_a_value_of_another_type_fails() -> None:
    """A number or a boolean that is written as text is the usual mistake under `types`."""
    wrong = [
        (one, call.name, key, value)
        for one in SUITE.scenarios
        for call in one.expect.calls or ()
        for key, value in call.arguments.items()
        if isinstance(value, bool | int | float) and len(one.expect.calls or ()) == 1
    ]
    assert len(wrong) >= 15
    for one, name, key, value in wrong:
        (call,) = own_answer(one.expect, tools_of(one))
        told = ToolCall(name, {**call.arguments, key: json.dumps(value)})
        assert not match(one.expect, [told], profile="strict", tools=tools_of(one)).ok, one.id


def test_the_suite_chooses_the_tools_of_each_scenario_by_name() -> None:
    for one in SUITE.scenarios:
        assert tools_of(one).items() <= SUITE.tools.items(), one.id
    assert SUITE.profile == "strict"
