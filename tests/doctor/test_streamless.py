"""A server that does not stream has one fault, and each check judges what came whole."""

from __future__ import annotations

import asyncio

import pytest

from tests.doctor.loopback import Loopback
from tests.doctor.scripted_model import MODELS
from tunaeval.doctor.examination import Examination, chosen, examine
from tunaeval.doctor.runner import DoctorSettings
from tunaeval.doctor.values import ServerFinding

STREAMLESS = ("stream-answered-whole", "stream-refused")

pytestmark = pytest.mark.parametrize("defect", STREAMLESS)


def examined(server: Loopback, *, only: str | None = None, quick: bool = False) -> Examination:
    return asyncio.run(
        examine(server.base_url, DoctorSettings(quick=quick), only=only, environment={})
    )


def faults(found: Examination) -> list[ServerFinding]:
    return [finding for finding in found.findings if finding.verdict == "server"]


@pytest.mark.parametrize("model", sorted(MODELS))
def test_it_is_blamed_once_whatever_the_model(defect: str, model: str) -> None:
    with Loopback(defect, model=model) as server:
        found = examined(server, quick=True)
    (fault,) = faults(found)
    assert fault.check == "stream-frames"
    assert "stream: false" in fault.remedy
    assert found.exit == 1


@pytest.mark.parametrize("raw", [True, False], ids=["raw text", "no raw text"])
def test_what_came_whole_is_judged_and_what_needs_a_stream_is_not_tested(
    defect: str, raw: bool
) -> None:
    with Loopback(defect, raw=raw) as server:
        found = examined(server)
    rows = {finding.check: finding for finding in found.findings}
    assert {name: row.verdict for name, row in rows.items()} == {
        "stream-frames": "server",
        "stream-fragments": "not tested",
        "stream-as-whole": "not tested",
    }
    for name in ("stream-fragments", "stream-as-whole"):
        assert "the server does not stream" in str(rows[name].evidence["summary"])


@pytest.mark.parametrize("group", ["calls", "stream", "choice", "history"])
def test_a_group_alone_says_the_cause_once_if_streams_were_asked_for(
    defect: str, group: str
) -> None:
    with Loopback(defect) as server:
        found = examined(server, only=group)
    asked = any(ask.streamed for check in chosen([group], quick=False) for ask in check.asks)
    assert [fault.check for fault in faults(found)] == ["stream-frames"] * asked
