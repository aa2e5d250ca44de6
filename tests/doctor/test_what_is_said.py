"""What a report says of what is not proven: undecided values, weak models, rate limits."""

from __future__ import annotations

import asyncio
from io import StringIO

from tests.doctor.loopback import Loopback
from tunaeval.doctor.examination import Examination, examine
from tunaeval.doctor.report import show_examination
from tunaeval.doctor.runner import DoctorSettings
from tunaeval.doctor.values import ServerFinding


def examined(server: Loopback) -> Examination:
    return asyncio.run(examine(server.base_url, DoctorSettings(quick=True), environment={}))


def page(found: Examination) -> str:
    stream = StringIO()
    show_examination(found, stream)
    return stream.getvalue()


def of(check: str, found: Examination) -> ServerFinding:
    return next(one for one in found.findings if one.check == check)


def test_what_could_not_be_decided_is_not_called_all_right() -> None:
    with Loopback("blanks-stripped", raw=False) as server:
        found = asyncio.run(examine(server.base_url, only="schema", environment={}))
    assert of("typed-values", found).evidence["undecided"] is True
    assert "no fault could be shown; in 1 check it could not be decided (exit 0)" in page(found)


def test_a_model_that_seems_too_weak_is_shown_by_an_answer() -> None:
    with Loopback("all-values-strings", raw=False) as server:
        found = examined(server)
    note = of("calls-as-written", found)
    assert (note.verdict, found.exit) == ("note", 2)
    assert str(note.evidence["summary"]).startswith('get_weather.days: 2 became "2"; without')
    assert "api" in note.evidence
    assert "model too weak: 1 of 3" in str(of("two-calls", found).evidence["summary"])


def test_an_id_that_comes_again_in_another_answer_is_a_note() -> None:
    with Loopback("ids-again") as server:
        found = examined(server)
    note = of("call-ids", found)
    assert (note.verdict, found.exit, len(found.findings)) == ("note", 0, 1)
    assert "there are 5 calls with the id 'call_0'" in str(note.evidence["summary"])


def test_tools_that_never_reach_the_prompt_are_one_fault() -> None:
    with Loopback("tools-dropped") as server:
        found = asyncio.run(examine(server.base_url, only="prompt", environment={}))
    faults = [one.check for one in found.findings if one.verdict == "server"]
    assert faults == ["tools-in-prompt"]
    assert "(tools-in-prompt)" in str(of("many-tools-in-prompt", found).evidence["summary"])


def test_rate_limits_are_told() -> None:
    with Loopback(busy_every=4) as server:
        found = examined(server)
    assert found.limited > 5
    assert f"{found.limited} requests met a rate limit" in page(found)
    assert "nothing is wrong" in page(found)
