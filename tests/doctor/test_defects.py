"""A server that is wrong in one way is found, named and blamed; one that is right is not.

Each check is against a real server on loopback, over the same transport as any other.
"""

from __future__ import annotations

import asyncio
import time

import pytest

from tests.doctor.answering import BEHIND_TUNAEVAL
from tests.doctor.defects import DEFECTS, Defect
from tests.doctor.loopback import Loopback
from tests.doctor.scripted_model import MODELS, WEAK
from tunaeval.doctor.checks import GROUPS
from tunaeval.doctor.examination import Examination, examine
from tunaeval.doctor.runner import REQUESTS, DoctorSettings
from tunaeval.doctor.values import APIS

SEEDS_IN_CI, SEEDS = 6, 100


def examined(server: Loopback, concurrency: int = 1) -> Examination:
    settings = DoctorSettings(concurrency=concurrency)
    return asyncio.run(examine(server.base_url, settings, environment={}))


def blamed(found: Examination) -> dict[str, str]:
    """The checks that the server is blamed by, with their remedies."""
    return {f.check: f.remedy for f in found.findings if f.verdict == "server"}


def by_name(defect: Defect) -> str:
    return defect.name


def model_for(defect: Defect) -> str:
    return "thinking" if "reasoning" in defect.name else "able"


def test_there_are_enough_defects() -> None:
    assert len({defect.name for defect in DEFECTS}) >= 25


@pytest.mark.parametrize("defect", DEFECTS, ids=by_name)
def test_a_defect_is_found_by_its_check_with_its_remedy(defect: Defect) -> None:
    with Loopback(defect.name, model=model_for(defect), seed=1) as server:
        found = examined(server)
    remedies = blamed(found)
    assert set(defect.checks) <= remedies.keys(), found.findings
    assert defect.remedy in remedies[defect.checks[0]]
    assert found.exit == 1
    assert len(server.requests) <= REQUESTS


@pytest.mark.parametrize("model", ["able", "thinking"])
def test_behind_the_parser_of_tunaeval_a_sound_model_has_no_finding(model: str) -> None:
    with Loopback(BEHIND_TUNAEVAL, model=model, seed=1) as server:
        found = examined(server)
    assert not blamed(found) or (model == "thinking" and {*blamed(found)} == {"reasoning-apart"})


@pytest.mark.parametrize("defect", DEFECTS, ids=by_name)
def test_without_raw_text_only_what_no_model_can_do_is_blamed(defect: Defect) -> None:
    with Loopback(defect.name, model=model_for(defect), seed=2, raw=False) as server:
        found = examined(server)
    assert (defect.blind in blamed(found)) if defect.blind else not blamed(found), found.findings
    assert len(server.requests) <= REQUESTS


@pytest.mark.parametrize("raw", [True, False], ids=["raw text", "no raw text"])
@pytest.mark.parametrize("model", ["able", "thinking"])
def test_a_sound_server_has_no_findings(model: str, raw: bool) -> None:
    for seed in range(SEEDS_IN_CI):
        with Loopback(seed=seed, model=model, raw=raw) as server:
            found = examined(server)
        assert found.findings == (), (seed, found.findings)
        assert found.exit == 0


@pytest.mark.slow
def test_a_sound_server_has_no_findings_over_100_seeds() -> None:
    for seed in range(SEEDS):
        with Loopback(seed=seed, model=("able", "thinking")[seed % 2], raw=seed % 3 > 0) as server:
            found = examined(server, concurrency=1 + seed % 4)
        assert found.findings == (), (seed, found.findings)


@pytest.mark.parametrize("raw", [True, False], ids=["raw text", "no raw text"])
@pytest.mark.parametrize("model", WEAK)
def test_a_weak_model_is_not_the_servers_fault(model: str, raw: bool) -> None:
    assert model in MODELS
    with Loopback(model=model, raw=raw) as server:
        found = examined(server)
    assert blamed(found) == {}, found.findings
    assert found.findings, "a weak model is at least reported"
    assert found.exit != 1


def test_the_whole_check_is_short() -> None:
    started = time.process_time()
    with Loopback() as server:
        found = examined(server)
    seconds = time.process_time() - started
    assert found.requests == len(server.requests) <= REQUESTS
    assert seconds < 60, f"{seconds:.1f} s of the processor"


def test_quick_is_a_third_of_it() -> None:
    with Loopback("last-brace-lost") as server:
        found = asyncio.run(examine(server.base_url, DoctorSettings(quick=True), environment={}))
    assert "stream-as-whole" in blamed(found)
    assert len(server.requests) <= 32


def test_quick_has_no_findings_on_a_sound_server() -> None:
    with Loopback(seed=5) as server:
        found = asyncio.run(examine(server.base_url, DoctorSettings(quick=True), environment={}))
    assert found.findings == ()
    assert len(found.passed) > 15


def test_a_group_alone_asks_less() -> None:
    with Loopback("boolean-subschema-400") as server:
        found = asyncio.run(examine(server.base_url, only="schema", environment={}))
    assert {finding.group for finding in found.findings} == {"schema"}
    assert blamed(found).keys() == {"schema-boolean"}
    assert len(server.requests) < 40


def test_asking_several_at_once_finds_the_same() -> None:
    with Loopback(seed=3) as server:
        assert blamed(examined(server, concurrency=8)) == {}
    with Loopback("index-always-0", seed=3) as server:
        assert blamed(examined(server, concurrency=8)).keys() == {"stream-fragments"}


@pytest.mark.parametrize("group", [one for one in GROUPS if one not in APIS])
def test_each_group_alone_has_no_findings_on_a_sound_server(group: str) -> None:
    with Loopback(seed=4) as server:
        found = asyncio.run(examine(server.base_url, only=group, environment={}))
    assert found.findings == ()
    assert {name for name, _ in found.passed} == {group}
    assert found.exit == 0


def test_a_result_that_the_model_never_sees_is_a_note_where_its_tokens_are_counted() -> None:
    with Loopback("results-unseen", seed=1) as server:
        found = examined(server)
    told = {finding.check: finding.verdict for finding in found.findings}
    assert told == {"result-reaches-model": "note"}
    assert "quay-7193" in found.findings[0].evidence["summary"]


def test_a_lost_call_is_not_a_choice_that_is_ignored() -> None:
    with Loopback("no-parser", seed=1) as server:
        found = examined(server)
    faults = {f.evidence["fault"] for f in found.findings if f.verdict == "server"}
    assert faults == {"calls-in-content"}
    named = {f.evidence.get("same_fault_as") for f in found.findings[1:]}
    assert named == {found.findings[0].check}
