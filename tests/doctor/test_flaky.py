"""Servers that fail now and then: never a fault of tool calling, and never all right in silence."""

from __future__ import annotations

import asyncio
import time
from io import StringIO
from random import Random
from typing import Any

import pytest

from tests.doctor.answering import Reply
from tests.doctor.loopback import Loopback
from tunaeval.doctor.examination import INCOMPLETE, UNTESTED, Examination, examine
from tunaeval.doctor.report import markdown, show_examination
from tunaeval.doctor.runner import DoctorSettings
from tunaeval.errors import ClientSetupError
from tunaeval.types.error_budget import ErrorBudget

HANG = 1.6
"""Seconds for which an answer is kept back; half of it is waited for."""
BAD_GATEWAY = Reply.error(502, "Bad Gateway")


class Flaky(Loopback):
    """A sound server of which some answers are spoilt: by a gateway, a cut, or silence."""

    def __init__(self, spoils: str, seed: int = 0, **more: Any) -> None:
        super().__init__(seed=seed, **more)
        self.spoils, self.luck, self.count = spoils, Random(seed), 0

    def post(self, path: str, body: Any, authorization: str | None) -> Reply | None:
        reply = super().post(path, body, authorization)
        self.count += 1
        third = self.count % 3 == 0
        if reply is None or not (third if "third" in self.spoils else self.luck.random() < 0.3):
            return reply
        if "502" in self.spoils:
            return BAD_GATEWAY
        if "hang" in self.spoils:
            time.sleep(HANG)
            return reply
        return reply._replace(cut=self.luck.randrange(1, len(reply.body)))


def examined(server: Loopback, **settings: Any) -> Examination:
    return asyncio.run(examine(server.base_url, DoctorSettings(**settings), environment={}))


def words(found: Examination) -> str:
    page = StringIO()
    show_examination(found, page)
    return page.getvalue() + markdown(found)


def no_false_alarm(spoils: str, seed: int) -> Examination:
    with Flaky(spoils, seed) as server:
        hangs = "hang" in spoils
        found = examined(server, timeout_seconds=HANG / 2 if hangs else 20.0, quick=hangs)
    assert [f for f in found.findings if f.verdict in ("server", "model")] == [], (spoils, seed)
    assert "nothing is wrong" not in words(found), (spoils, seed)
    assert "too weak" not in words(found), (spoils, seed)
    assert bool(found.failures) == (found.exit in (UNTESTED, INCOMPLETE))
    return found


@pytest.mark.parametrize("spoils", ["third 502", "502", "third cut", "cut", "third hang"])
def test_a_flaky_server_is_neither_blamed_nor_all_right(spoils: str) -> None:
    no_false_alarm(spoils, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("spoils", ["502", "cut", "hang", "third 502", "third cut"])
def test_100_flaky_servers_are_neither_blamed_nor_all_right(spoils: str) -> None:
    for seed in range(20):
        no_false_alarm(spoils, seed)


def test_what_is_asked_again_is_answered_and_told() -> None:
    found = no_false_alarm("third 502", 2)
    assert found.exit == found.failures == 0
    assert found.retries > 20
    assert f"{found.retries} requests failed and had to be sent again" in words(found)


def test_answers_that_failed_are_counted_by_check_up_to_a_limit() -> None:
    with Flaky("third hang", 3) as server:
        found = examined(server, timeout_seconds=HANG / 2, quick=True)
        limit = ErrorBudget(100, is_percentage=True)
        allowed = examined(server, timeout_seconds=HANG / 2, quick=True, max_errors=limit)
    assert (found.exit, allowed.exit) == (INCOMPLETE, 0)
    assert found.failed
    assert f"{found.failures} of {found.answers} answers failed" in words(found)
    assert "the server hangs: no whole reply within" in words(found)
    assert found.as_json()["failed"]["by_check"] == found.failed


def test_a_server_that_goes_away_is_not_a_weak_model() -> None:
    with Loopback(lives=12) as server:
        found = examined(server)
    assert found.exit == INCOMPLETE
    assert "too weak" not in words(found)


def test_a_hang_is_not_asked_again_and_streams_that_hang_are_not_asked_for_long() -> None:
    class Hanging(Loopback):
        def post(self, path: str, body: Any, authorization: str | None) -> Reply | None:
            reply = super().post(path, body, authorization)
            if body.get("stream"):
                time.sleep(HANG)
            return reply

    with Hanging() as server:
        found = examined(server, timeout_seconds=HANG / 2, quick=True)
    streams = [body for _, body in server.requests if body and body.get("stream")]
    assert len(streams) == 2
    finding = next(one for one in found.findings if one.check == "stream-frames")
    assert (finding.verdict, found.exit) == ("server", INCOMPLETE)
    assert "hangs" in str(finding.evidence["summary"])


def test_a_key_goes_to_no_other_machine_in_plain_text() -> None:
    elsewhere = "http://model.example.com:8000/v1"
    with pytest.raises(ClientSetupError, match="--allow-plain-http"):
        asyncio.run(examine(elsewhere, environment={"TUNAEVAL_API_KEY": "sk-something"}))


def test_fields_of_the_body_are_in_every_request() -> None:
    pinned = {"provider": {"only": ["Chutes"]}}
    with Loopback() as server:
        found = examined(server, extra_body=pinned, quick=True)
    asked = [body for path, body in server.requests if path.endswith("completions")]
    assert found.exit == 0
    assert all(body["provider"] == pinned["provider"] for body in asked)
