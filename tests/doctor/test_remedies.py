"""Every flag that is advised is one that the servers' own argument parsers take.

`engine_options.json` has what the parsers of vLLM 0.33.0 and SGLang 0.5.23 take, as they said when
they were asked (they are too heavy to install for a test): the options that a remedy may name, and
their choices (None where any text is taken; vLLM checks the names of its parsers later).
"""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.doctor.loopback import Loopback
from tests.doctor.other_defects import DEFECTS
from tests.doctor.other_server import Defect
from tests.doctor.other_wire import Habits
from tests.doctor.test_flaky import examined
from tests.doctor.test_other_server import examined as examined_other
from tunaeval.doctor import asks
from tunaeval.doctor.blame import Seen, alike, blame, compare_pair, thought_in, trusted_raw
from tunaeval.doctor.checks import CHECKS, enforced
from tunaeval.doctor.remedies import OFFERED, REMEDIES, parser_name, remedy
from tunaeval.doctor.report import show_examination
from tunaeval.doctor.values import ApiCall, Ask, ServerAnswer, ServerIdentity
from tunaeval.grammar.formats import FORMATS
from tunaeval.parsing.api import formats

ENGINES = json.loads(Path(__file__).with_name("engine_options.json").read_text("utf-8"))
_FLAG = re.compile(r"(--[a-z][a-z-]+)(?: ([A-Za-z0-9_.-]+))?")
_OURS = {"--markdown"}
THOUGHTS = (
    "<think>x</think>",
    "[THINK]x[/THINK]",
    "<seed:think>x</seed:think>",
    "◁think▷x◁/think▷",
)


@pytest.mark.parametrize("kind", ENGINES)
def test_every_flag_is_taken_by_the_server_s_own_parser(kind: str) -> None:
    options = ENGINES[kind]["options"]
    server = ServerIdentity(kind, ENGINES[kind]["version"])
    advised = {
        flag
        for fault in REMEDIES
        for form in (None, *FORMATS)
        for thought in THOUGHTS
        for flag in _FLAG.findall(remedy(fault, server, form, thought=thought))
        if flag[0] not in _OURS
    }
    assert len(advised) > 20
    for option, value in advised:
        assert option in options, option
        choices = options[option]
        placeholder = value in ("P", "FILE") or not value or value.startswith("tunaeval")
        assert choices is None or placeholder or value in choices, (option, value)


@pytest.mark.parametrize("kind", ENGINES)
def test_the_names_are_those_of_the_version(kind: str) -> None:
    version, parsers, thinkers, _ = OFFERED[kind]
    options = ENGINES[kind]["options"]
    deprecated = {"qwen25", "glm45"} if kind == "SGLang" else set()
    assert version == ENGINES[kind]["version"]
    assert {*parsers} == {*options["--tool-call-parser"]} - deprecated - {"auto"}
    assert {*thinkers} == {*options["--reasoning-parser"]} - {"auto"}


@pytest.mark.parametrize("kind", ENGINES)
def test_every_parser_that_the_registry_knows_is_advised_for_some_format(kind: str) -> None:
    known = formats.aliases()
    for name in OFFERED[kind].parsers:
        form = known.get(name, name)
        assert form not in FORMATS or parser_name(kind, form), name


@pytest.mark.parametrize(
    ("kind", "form", "thought", "name"),
    [
        ("vLLM", "hermes", None, "hermes"),
        ("SGLang", "hermes", None, "qwen"),  # its qwen25 is deprecated
        ("SGLang", "glm45", None, "glm"),
        ("vLLM", "harmony", None, "openai"),
        ("vLLM", "hermes", "<think>", "qwen3"),
        ("vLLM", "deepseek-v3", "<think>", "deepseek_r1"),
        ("SGLang", "minimax-m2", "<think>", "minimax"),
        ("vLLM", None, "[THINK]", "mistral"),
        ("vLLM", "hermes", "<seed:think>", "seed_oss"),
        ("SGLang", None, "<|channel|>analysis", "gpt-oss"),
        ("SGLang", None, "◁think▷", "kimi"),
        ("vLLM", "mistral", None, "mistral"),
        # With another tokenizer, it reads what older models write.
        ("vLLM", "mistral-v11", None, "mistral --tokenizer-mode mistral"),
        ("vLLM", "no-such-format", None, None),
        ("Ollama", "hermes", None, None),
    ],
)
def test_a_parser_is_named(kind: str, form: str, thought: str | None, name: str | None) -> None:
    assert parser_name(kind, form, thought) == name


def test_what_a_server_does_already_is_not_advised() -> None:
    for parser, wanted in (("qwen", False), ("qwen25", False), ("hermes", True), (None, True)):
        server = ServerIdentity("SGLang", "0.5.23", parser)
        assert ("--tool-call-parser qwen" in remedy("calls-lost", server, "hermes")) == wanted
    server = ServerIdentity("SGLang", "0.5.23", facts={"reasoning_parser": "qwen3"})
    assert "--reasoning-parser" not in remedy(
        "reasoning-leaks", server, "hermes", thought="<think>"
    )
    words = remedy("calls-in-content", ServerIdentity("vLLM", "0.33.0"), "hermes", parses=True)
    assert "--tool-call-parser hermes" not in words


def test_the_parser_of_tunaeval_is_named_behind_the_server_s_own_flags() -> None:
    """With the format of the model, whose texts it reads."""
    for kind, auto in (("vLLM", "--enable-auto-tool-choice "), ("SGLang", "")):
        server = ServerIdentity(kind, OFFERED[kind].version)
        for fault in ("calls-in-content", "arguments-broken", "stream-differs", "cut-complete"):
            words = remedy(fault, server, "glm45")
            assert f"start with {auto}--tool-call-parser tunaeval-glm45" in words
            assert "tunaeval-" not in remedy(fault, server)
        words = remedy("calls-in-content", server, "glm45")
        assert words.index("parser glm") < words.index("parser tunaeval") < words.index("yourself")
        for form, name in (("glm45", "tunaeval-glm45"), (None, "tunaeval")):
            words = remedy("calls-lost", server, form)
            assert f"--tool-call-parser {name}" in words
            assert "parse the text yourself" not in words
        behind = ServerIdentity(kind, OFFERED[kind].version, "tunaeval-glm45")
        assert "tunaeval-" not in remedy("arguments-broken", behind, "glm45")
    assert "tunaeval-" not in remedy("arguments-broken", ServerIdentity("vLLM"), "harmony")


def test_where_the_client_gets_no_text_it_is_not_told_to_parse_it() -> None:
    for kind in ("Ollama", "llama.cpp", "unknown"):
        words = remedy("calls-lost", ServerIdentity(kind), "hermes")
        assert "parse the text yourself" not in words
        assert "tunaeval-" not in words


def test_threads_are_those_of_the_server() -> None:
    for kind in ("vLLM", "SGLang", "llama.cpp", "unknown"):
        for fault in REMEDIES:
            cited = re.findall(r"([\w.-]+)/[\w.-]+#\d+", remedy(fault, ServerIdentity(kind)))
            owner = {"vLLM": "vllm-project", "SGLang": "sgl-project", "llama.cpp": "ggml-org"}
            assert {*cited} <= {owner.get(kind)}, fault


@pytest.mark.parametrize("kind", ["vLLM", "SGLang"])
def test_a_missing_reasoning_parser_is_the_first_finding(kind: str) -> None:
    with Loopback("reasoning-in-content", model="thinking", kind=kind) as server:
        found = examined(server)
    faults = [finding for finding in found.findings if finding.verdict == "server"]
    assert "--reasoning-parser qwen3" in faults[0].remedy
    assert {one.evidence["fault"] for one in faults} == {"reasoning-leaks"}
    assert {one.evidence.get("same_fault_as") for one in faults[1:]} == {faults[0].check}


@pytest.mark.parametrize(
    "text",
    ["[THINK]a[/THINK]b", "<seed:think>a</seed:think>b", "<reasoning>a</reasoning>b",
     "◁think▷a◁/think▷b", "<|channel|>analysis<|message|>a<|end|>"],
)  # fmt: skip
def test_reasoning_in_the_content_is_seen_by_any_marker(text: str) -> None:
    assert thought_in(text)
    assert blame(ServerAnswer(asks.HELLO[0], 200, content=text)).fault == "reasoning-leaks"
    assert not thought_in("I think that <b>this</b> is reasoning.")


def test_a_server_without_flags_is_asked_once_for_its_format() -> None:
    with Loopback("no-flags-but-none") as server:
        found = examined(server)
    assert found.exit == 1
    finding = next(one for one in found.findings if one.verdict == "server")
    assert "--enable-auto-tool-choice --tool-call-parser hermes" in finding.remedy
    asked = [body for _, body in server.requests if body and "tool_choice" in body]
    assert len(asked) == 1
    why = {one.evidence["summary"] for one in found.findings if one.group == "prompt"}
    assert why == {found.stopped}


# --- no false alarm ------------------------------------------------------------------------------


def answer(ask: Ask = asks.ONE[0], *, finish: str = "tool_calls", **more: object) -> ServerAnswer:
    calls = (ApiCall("get_weather", '{"city": "Oslo", "days": 2}', "c1", "function"),)
    return ServerAnswer(ask, 200, **{"finish": finish, "calls": calls, **more})  # type: ignore[arg-type] # any


RAW = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo", "days": 2}}\n</tool_call>'


def test_pairs_that_were_cut_are_compared_up_to_the_cut() -> None:
    open_call = (ApiCall("get_weather", '{"city": "Os', "c1", "function"),)
    whole = answer(finish="length", calls=open_call)
    streamed = answer(asks.ONE[1], finish="length", calls=(), content="<tool_call>")
    assert alike(whole, streamed)
    assert compare_pair([whole] * 5, [streamed] * 5).verdict == "pass"
    other = answer(asks.ONE[1], calls=(ApiCall("get_weather", '{"city": "Rome"}', "c1"),))
    assert not alike(answer(finish="length"), other)


def test_a_raw_text_that_lacks_tokens_is_not_trusted() -> None:
    assert trusted_raw(answer(raw=RAW, raw_tokens=30, completion_tokens=31)) == RAW
    assert trusted_raw(answer(raw=RAW[:-30], raw_tokens=20, completion_tokens=31)) is None
    lacking = answer(raw=RAW[30:], raw_tokens=20, completion_tokens=31)
    assert blame(lacking).verdict == "pass"


def test_a_choice_is_judged_by_the_raw_text_beside_the_answer() -> None:
    required = asks.REQUIRED[0]
    lost = answer(required, calls=(), raw=RAW, finish="stop")
    seen = Seen(ServerIdentity("vLLM"))
    judged = enforced(seen, lost)
    assert (judged.verdict, judged.fault) == ("server", "calls-lost")
    prose = answer(required, calls=(), raw="Hello!", content="Hello!", finish="stop")
    assert enforced(seen, prose).fault == "choice-ignored"


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [("llama.cpp", "server"), ("vLLM", "note"), ("SGLang", "note"), ("unknown", "note")],
)
def test_a_forced_call_has_to_keep_its_schema(kind: str, verdict: str) -> None:
    """vLLM 0.33 and SGLang 0.5 force a call; its schema they force if a tool is strict."""
    seen = Seen(ServerIdentity(kind))
    required = asks.REQUIRED[0]
    assert enforced(seen, answer(required)).verdict == "pass"
    for arguments in ('{"city": "Oslo"}', '{"city": "Oslo", "days": "two"}'):
        forced = answer(required, calls=(ApiCall("get_weather", arguments, "c1", "function"),))
        judged = enforced(seen, forced)
        assert (judged.verdict, judged.fault) == (verdict, "schema-forced")


def test_two_calls_where_one_was_asked_for_are_a_note_about_the_model() -> None:
    twice = answer().calls * 2
    judged = blame(answer(calls=twice, raw=f"{RAW}\n{RAW}"))
    assert judged.verdict == "note"
    assert "the model made 2 calls, and was asked for 1" in judged.why


def test_a_prompt_that_lacks_a_plain_message_is_not_the_one_that_was_rendered() -> None:
    check = next(one for one in CHECKS if one.name == "tools-in-prompt")

    def judged(shown: str) -> str:
        prompts = {asks.PLAIN: (40, shown), asks.CONTROL: (120, shown), asks.ONE_TOOL: (160, "")}
        answers = {
            ask.key: [ServerAnswer(ask, 200, prompt_tokens=count, prompt=prompt or "Say hello.")]
            for ask, (count, prompt) in prompts.items()
        }
        return check.rule(Seen(ServerIdentity(), answers), check.asks).verdict

    assert judged(asks.TEXT) == "server", "the text of a message is shown, and the tool is not"
    assert judged("a template that shows nothing") == "pass", "its tokens are counted"


def test_a_crash_is_repaired_like_a_crash_and_its_remedy_is_shown_once() -> None:
    def crashes(body: dict[str, Any]) -> tuple[int, str] | None:
        return (500, "list index out of range") if "Call the tool" in str(body) else None

    found, _ = examined_other(Habits(), Defect(refuse=crashes))
    faults = [one for one in found.findings if one.verdict == "server"]
    plain = [one for one in faults if one.group in ("reach", "calls", "parallel", "values")]
    advice = remedy("error", ServerIdentity())
    assert len(plain) > 5
    assert {one.remedy for one in plain} == {advice}
    lines = io.StringIO()
    show_examination(found, lines)
    assert lines.getvalue().count("remedy ") == 1 + ("fails (200)" in lines.getvalue())


def test_an_error_in_a_stream_is_quoted() -> None:
    broken = next(one for one in DEFECTS if one.name == "error in a stream")
    found, _ = examined_other(Habits(), broken)
    finding = next(one for one in found.findings if one.check == "stream-frames")
    assert "peg-native format was not matched" in str(finding.evidence["summary"])
