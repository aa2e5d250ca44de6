"""A second server in another hand: no habit of a sound one is a fault, and each defect is found."""

from __future__ import annotations

import asyncio
import time
from dataclasses import fields, replace
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.doctor.other_defects import DEFECTS
from tests.doctor.other_server import Defect, OtherServer
from tests.doctor.other_wire import IDS, Habits
from tests.doctor.other_words import FORMATS
from tunaeval.doctor.examination import Examination, examine
from tunaeval.doctor.runner import REQUESTS, DoctorSettings

_CHOSEN: dict[str, Any] = {
    "ids": tuple(IDS),
    "form": tuple(FORMATS),
    "owner": ("somebody", "vllm", "sglang", "llamacpp"),
    "key": ("", "sk-another"),
    "fields": (
        frozenset(),
        frozenset({"logprobs", "top_logprobs"}),
        frozenset({"return_token_ids"}),
    ),
    "seconds": (0.0,),
}


def _values(name: str, hint: Any) -> tuple[Any, ...]:
    if name in _CHOSEN:
        return tuple(_CHOSEN[name])
    assert hint is bool or get_origin(hint) is Literal, name
    return (False, True) if hint is bool else get_args(hint)


HINTS = get_type_hints(Habits)
HABITS = st.builds(
    Habits, **{f.name: st.sampled_from(_values(f.name, HINTS[f.name])) for f in fields(Habits)}
)


def examined(habits: Habits, defect: Defect | None = None) -> tuple[Examination, OtherServer]:
    with OtherServer(habits, defect or Defect()) as server:
        found = asyncio.run(
            examine(
                server.url,
                DoctorSettings(model="scripted"),
                environment={"TUNAEVAL_API_KEY": habits.key} if habits.key else {},
            )
        )
    return found, server


def verdicts(found: Examination) -> dict[str, str]:
    return {finding.check: finding.verdict for finding in found.findings}


def no_fault(habits: Habits) -> None:
    found, server = examined(habits)
    blamed = [f for f in found.findings if f.verdict in ("server", "model")]
    assert blamed == []
    assert found.exit == 0
    assert found.stopped is None
    assert found.requests == len(server.seen) <= REQUESTS
    untested = {f.group for f in found.findings if f.verdict == "not tested"}
    assert untested <= {"prompt", "stream", "history"}
    assert "prompt" not in untested or habits.counts == "constant"
    assert "reach" not in untested
    assert ("usage" in verdicts(found)) == (habits.usage == "refused")


@given(habits=HABITS)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_habit_of_a_sound_server_is_a_fault(habits: Habits) -> None:
    no_fault(habits)


@pytest.mark.slow
@given(habits=HABITS)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_habit_of_200_sound_servers_is_a_fault(habits: Habits) -> None:
    no_fault(habits)


def test_a_slow_server_is_sound() -> None:
    started = time.monotonic()
    no_fault(Habits(raw="logprobs", seconds=0.05))
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_each_defect_is_found_and_blamed(defect: Defect) -> None:
    found, server = examined(Habits(raw="logprobs", owner="vllm"), defect)
    told = verdicts(found)
    assert {check: told.get(check) for check in defect.checks} == dict.fromkeys(
        defect.checks, defect.verdict
    ), found.findings
    assert found.exit == (1 if defect.verdict == "server" else 0)
    remedies = {finding.check: finding.remedy for finding in found.findings}
    assert all(remedies[check] for check in defect.checks)
    assert "model" not in told.values()
    assert len(server.seen) <= REQUESTS


@pytest.mark.slow
@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_without_raw_text_a_defect_is_found_or_nobody_is_blamed(defect: Defect) -> None:
    found, server = examined(Habits(), defect)
    told = verdicts(found)
    if defect.blind:
        assert {told.get(check) for check in defect.checks} == {defect.verdict}, found.findings
    else:
        assert "server" not in told.values(), found.findings
        assert found.exit != 1
    assert len(server.seen) <= REQUESTS


def test_there_are_more_than_25_defects() -> None:
    assert len({defect.name for defect in DEFECTS}) == len(DEFECTS) > 50


@pytest.mark.parametrize(("raw", "owner"), [("token_ids", "vllm"), ("sglext", "sglang")])
def test_ids_of_tokens_are_made_a_text_where_there_are_no_log_probabilities(
    raw: Any, owner: str
) -> None:
    lost = next(defect for defect in DEFECTS if defect.name == "large numbers rounded")
    found, server = examined(Habits(raw=raw, owner=owner), lost)
    finding = next(f for f in found.findings if f.check == "typed-values")
    assert finding.verdict == "server"
    assert "4611686018427387905" in finding.evidence["raw"]
    assert any(path == "/detokenize" for path, _ in server.seen)
    assert found.exit == 1
    assert len(server.seen) <= REQUESTS


def test_the_verbose_field_of_a_whole_answer_has_the_raw_text() -> None:
    lost = next(defect for defect in DEFECTS if defect.name == "null as a word")
    found, server = examined(Habits(raw="verbose", owner="llamacpp"), lost)
    assert verdicts(found)["typed-values"] == "server"
    assert not any(body and body.get("logprobs") for _, body in server.seen)
    streamed = [body for _, body in server.seen if body and body.get("stream")]
    assert not any(body.get("verbose") for body in streamed), "a stream has none"


@pytest.mark.parametrize(("owner", "raw"), [("vllm", "none"), ("llamacpp", "verbose")])
@pytest.mark.parametrize(
    "name", ["tools unseen", "results unseen", "past unseen", "content unseen", ""]
)
def test_a_prompt_that_is_shown_says_what_is_in_it_whatever_is_counted(
    name: str, owner: str, raw: Any
) -> None:
    habits = Habits(raw=raw, owner=owner, shows=True, counts="constant")
    defect = next((one for one in DEFECTS if one.name == name), Defect())
    found, _ = examined(habits, defect)
    told = {check: v for check, v in verdicts(found).items() if check.endswith("-in-prompt")}
    blamed = {check for check, verdict in told.items() if verdict == "server"}
    assert set(defect.checks) <= blamed
    assert bool(blamed) == bool(name)
    untested = {check for check, verdict in told.items() if verdict == "not tested"}
    assert untested == ({"many-tools-in-prompt"} if name == "tools unseen" else set())


def test_fields_that_are_refused_are_left_out_from_then_on() -> None:
    habits = Habits(raw="token_ids", owner="vllm", strict=True, usage="refused")
    _, server = examined(habits)
    asked = [body for path, body in server.seen if path.endswith("completions") and body]
    extra = {"logprobs", "return_token_ids", "stream_options", "return_prompt_text"}
    with_extra = [body for body in asked if extra & body.keys()]
    assert with_extra
    assert asked.index(with_extra[-1]) <= 20  # the last way to ask a first stream for its text
    assert len(with_extra) <= 12


def test_a_field_that_is_known_is_kept_where_another_is_refused() -> None:
    known = frozenset({"logprobs", "top_logprobs"})
    habits = Habits(raw="logprobs", owner="vllm", strict=True, usage="refused", fields=known)
    found, _ = examined(habits)
    raw, answers = map(int, str(found.server["raw_text"]).split(" answers")[0].split(" of "))
    assert raw > answers / 2


def _refuses(words: str) -> Any:
    def refuse(body: dict[str, Any]) -> tuple[int, str] | None:
        return (400, f"Unsupported: {words}") if words.split(" ", maxsplit=1)[0] in body else None

    return refuse


@pytest.mark.parametrize(
    "words",
    ["max_tokens is not supported with this model, use max_completion_tokens instead",
     "temperature does not support 0 with this model"],
)  # fmt: skip
def test_models_that_take_other_limits_are_asked_in_their_words(words: str) -> None:
    room = frozenset({"max_completion_tokens"})
    found, _ = examined(Habits(fields=room), Defect("other words", refuse=_refuses(words)))
    assert found.exit == 0
    assert "server" not in verdicts(found).values()


def test_an_error_is_one_finding_and_the_checks_that_share_the_ask_judge_the_rest() -> None:
    broken = next(defect for defect in DEFECTS if defect.name == "500 in between")
    found, _ = examined(Habits(), broken)
    blamed = [f.check for f in found.findings if f.verdict == "server"]
    assert "two-calls" in blamed
    assert {"call-ids", "finish-reason", "stream-as-whole", "stability"}.isdisjoint(blamed)


def test_findings_of_one_fault_name_the_first() -> None:
    ignored = next(defect for defect in DEFECTS if defect.name == "choices ignored")
    found, _ = examined(Habits(), ignored)
    same = {f.check: f.evidence.get("same_fault_as") for f in found.findings}
    assert same["choice-none"] is None
    assert same["choice-required"] == same["choice-named"] == "choice-none"


def test_a_defect_with_any_habit_is_found() -> None:
    """The same fault is found however the server writes what is sound."""
    lost = next(defect for defect in DEFECTS if defect.name == "index is 0")
    for chunks in get_args(HINTS["chunks"]):
        for transfer in get_args(HINTS["transfer"]):
            habits = replace(Habits(), chunks=chunks, transfer=transfer, extras=True)
            found, _ = examined(habits, lost)
            assert verdicts(found)["stream-fragments"] == "server", habits
