"""The laws that tunaeval asks of everybody, and what is Acme's own."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from acme_format.backwards import Backwards
from acme_format.brevity import brevity
from acme_format.client import AcmeClient
from acme_format.diary import DIARY
from acme_format.gadgets import Gadget
from acme_format.lines import PARSER
from acme_format.once import no_call_twice
from acme_format.polite import POLITE
from acme_format.slowest import SLOWEST
from acme_format.wire import ACME

import tunaeval
from tunaeval.testing import check_format, check_parser
from tunaeval.types import Reply, Request


def test_the_format_keeps_the_laws() -> None:
    check_format(ACME)


def test_the_parser_keeps_the_laws() -> None:
    check_parser(PARSER, examples=["!read_file filepath=a.txt", "Sure.\n!ls\n!cat file=b"])


def test_a_call_is_read() -> None:
    text = 'Sure.\n<<acme 7>>{"do": "ls", "with": {"path": "."}}<<end>>'
    result = tunaeval.parse(text, format=ACME)
    assert [(call.name, call.arguments) for call in result.calls] == [("ls", {"path": "."})]


def test_a_line_is_read() -> None:
    result = tunaeval.parse("So:\n!ls path=. all=yes\nDone.", format=PARSER)
    assert [(call.name, call.arguments) for call in result.calls] == [
        ("ls", {"path": ".", "all": "yes"})
    ]
    assert result.content == "So:\nDone."


def test_few_calls_score_high() -> None:
    call = {"type": "function", "function": {"name": "ls", "arguments": "{}"}}
    made = {"role": "assistant", "content": None, "tool_calls": [call] * 6}
    history = tunaeval.history([{"role": "user", "content": "Go."}, made])
    score = brevity(history)
    assert (score.value, score.evidence) == (0.5, (1,))
    assert brevity(tunaeval.history([])) is None


def test_a_gadget_is_recorded() -> None:
    def bore(depth: int) -> str:
        return f"{depth} cm"

    recorder = tunaeval.Recorder()
    drill = tunaeval.wrap_tool(Gadget("drill", bore), recorder)
    assert tunaeval.wrap_tool(drill, recorder) is drill
    assert drill.job(depth=3) == "3 cm"
    (run,) = recorder.executions
    assert (run.tool, run.arguments, run.ok) == ("drill", {"depth": 3}, True)


def test_the_last_scenario_is_asked_first() -> None:
    client = tunaeval.ScriptedClient(["No."] * 12)
    harness = Backwards(tunaeval.RunOptions(attempts=1))
    report = tunaeval.run("smoke", client=client, harness=harness, out=None)
    assert (report.total, report.run.harness) == (12, "Backwards")


def test_the_client_answers_in_the_format() -> None:
    request = Request([{"role": "user", "content": "What is in notes.md?"}])
    reply = asyncio.run(AcmeClient().complete(request))
    (call,) = tunaeval.parse(reply.message["content"], format=ACME).calls
    assert call.arguments == {"filepath": "notes.md"}


class Tiring(AcmeClient):
    """Takes a second longer for each answer."""

    asked = 0

    async def complete(self, request: Request) -> Reply:
        self.asked += 1
        return replace(await super().complete(request), latency_seconds=float(self.asked))


def test_the_slowest_come_first(tmp_path: Path) -> None:
    report = tunaeval.run("smoke", client=Tiring(), format=ACME, out=None, attempts=1)
    SLOWEST.write(report, tmp_path / "slowest.txt")
    lines = (tmp_path / "slowest.txt").read_text("utf-8").splitlines()
    assert [float(line.split()[0]) for line in lines] == [12, 11, 10, 9, 8, 7, 6, 5, 4, 3]


def test_a_tool_that_is_sorry_has_failed() -> None:
    recorder = tunaeval.Recorder(classifiers=[POLITE])
    for text in ("Sorry, no such file.", "a file"):
        tunaeval.wrap_tool(lambda text=text: text, recorder)()
    assert [(one.ok, one.ok_reason) for one in recorder.executions] == [
        (False, "sorry"),
        (True, "assumed"),
    ]


def test_a_diary_is_a_transcript() -> None:
    diary = {"acme diary": [["user", "Go."], ["agent", "Done."]]}
    assert DIARY.reads(diary)
    assert not DIARY.reads([{"role": "user", "content": "Go."}])
    user, reply = {"role": "user", "content": "Go."}, {"role": "assistant", "content": "Done."}
    assert list(DIARY.read(diary)) == [[user, reply]]


def test_the_same_call_twice_fails() -> None:
    call = tunaeval.ToolCall("ls", {"path": "."})
    once = tunaeval.FinalState("Look.", "Done.", calls=(call,))
    twice = tunaeval.FinalState("Look.", "Done.", calls=(call, call))
    assert no_call_twice(once)[0]
    assert not no_call_twice(twice)[0]
    assert no_call_twice(twice, spared=["ls"])[0]
