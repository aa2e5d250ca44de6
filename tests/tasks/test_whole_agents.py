"""Whole agents do the tasks: a function, and a command of its own process, against the endpoint."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.faults.runs import within
from tests.tasks.repair_scripts import NOTHING, SCRIPTS
from tests.tasks.small_agent import worked
from tests.tasks.test_repair_tasks import SUITE, written
from tunaeval.errors import ClientSetupError, UsageError
from tunaeval.runs.directory import load_report
from tunaeval.runs.options import RunOptions
from tunaeval.types import AgentRun, AgentTask
from tunaeval.types.runs import Report, ScenarioResult

AGENT = [sys.executable, str(Path(__file__).parent / "small_agent.py"), "{base_url}", "{prompt}"]
OPTIONS = RunOptions(concurrency=4)


def scripts(kind: str) -> dict[str, Any]:
    def of(task: str) -> Any:
        return NOTHING if kind == "nothing" else getattr(SCRIPTS[task], kind)

    return {one.id: [written(turn) for turn in of(one.id)] for one in SUITE.scenarios}


def report_of(client: Any, suite: Any = SUITE) -> Report:
    return tunaeval.run(suite, client=client, options=OPTIONS, out=None)


@pytest.fixture(autouse=True)
def _found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(tunaeval.__file__).parent.parent))


@pytest.mark.parametrize(("kind", "passed"), [("reference", 12), ("nothing", 0), ("shortcut", 0)])
def test_a_command_does_what_its_scripted_model_says(kind: str, passed: int) -> None:
    client = tunaeval.CommandClient(AGENT, script=scripts(kind), pass_env=["PYTHONPATH"])
    report = report_of(client)
    wrong = [(one.scenario, one.reason) for one in report.results if one.ok != (passed == 12)]
    assert wrong == []
    assert (report.passed, report.total) == (passed, 12)
    ended = {one.task.ended for one in report.results if one.task is not None}
    assert ended == {"answer"}


def two() -> Any:
    rest = [one.id for one in SUITE.scenarios if one.id not in {"fix-pages", "find-timeout"}]
    return tunaeval.load_suite("repair-tasks", exclude=rest)


def leaves(*_: str) -> str:
    sys.exit(0)


async def leaves_a_loop(*_: str) -> str:
    sys.exit(0)


def test_a_command_with_an_open_quotation_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'python \"x' cannot be read: no closing quotation"):
        tunaeval.CommandClient('python "x')


@pytest.mark.parametrize("word", ["{prmpt}", "--url={url}", "{base_url}{Prompt}", "{{prompt}}{x}"])
def test_a_placeholder_that_nothing_fills_is_refused_with_those_there_are(word: str) -> None:
    wanted = r"{\w+}.*known: {base_url}, {model}, {prompt}, {workspace}"
    with pytest.raises(UsageError, match=wanted):
        tunaeval.CommandClient([sys.executable, word])
    with pytest.raises(UsageError, match=wanted):
        tunaeval.run("repair-tasks", client=f"command:{sys.executable} {word}", out=None)


def test_braces_come_to_the_command_as_they_were_meant() -> None:
    code = "import sys; print(sys.argv[1:])"
    words = [sys.executable, "-c", code, "${HOME}", "{{prompt}}", "{}", "<{model}{model}>"]
    client = tunaeval.CommandClient(words, model="{prompt}")
    first = report_of(client, two()).results[0].task
    assert first is not None
    assert first.answer == "['${HOME}', '{prompt}', '{}', '<{prompt}{prompt}>']"


@pytest.mark.parametrize("agent", [leaves, leaves_a_loop])
def test_an_agent_that_exits_ends_its_episodes_and_no_run(agent: Any) -> None:
    report = report_of(tunaeval.AgentClient(agent), two())
    assert (report.passed, report.total) == (0, 2)
    assert {one.task.ended for one in report.results if one.task is not None} == {"error"}
    said = report.results[0].attempts[0].message["content"]
    assert "raised SystemExit: 0" in said


def test_a_function_is_an_agent_and_what_passes_its_model_is_known(tmp_path: Path) -> None:
    def agent(prompt: str, workspace: str, base_url: str) -> str:
        here = Path.cwd()
        os.chdir(workspace)
        try:
            return worked(base_url, prompt)
        finally:
            os.chdir(here)

    client = tunaeval.AgentClient(agent, script=scripts("reference"))
    options = RunOptions(concurrency=1)
    report = tunaeval.run(two(), client=client, options=options, out=tmp_path)
    assert (report.passed, report.total) == (2, 2)
    by_name = {one.scenario: one for one in report.results}
    assert [call.name for call in by_name["fix-pages"].got] == [
        "bash", "read_file", "update_file", "bash",
    ]  # fmt: skip
    assert {call.format for call in by_name["fix-pages"].got} == {"structured"}


def ended(program: str, *, seconds: float = 60, **more: Any) -> ScenarioResult:
    rest = [one.id for one in SUITE.scenarios if one.id != "fix-pages"]
    suite = tunaeval.load_suite("repair-tasks", exclude=rest)
    client = tunaeval.CommandClient([sys.executable, "-c", program, "{prompt}"], **more)
    options = RunOptions(deadline_seconds=seconds)
    return tunaeval.run(suite, client=client, options=options, out=None).results[0]


def test_an_agent_that_exits_is_graded_by_what_it_left() -> None:
    result = ended(
        "p='pages.py'; s=open(p).read().replace('items // size + 1', '-(items // -size)')\n"
        "open(p, 'w').write(s); raise SystemExit(3)"
    )
    assert result.task is not None
    assert (result.task.ended, result.ok) == ("error", True)
    assert result.reason == "4 checks passed, in 1 turn; the command exits with 3"
    failed = ended("import sys; print('no such model', file=sys.stderr); raise SystemExit(3)")
    assert not failed.ok
    assert failed.reason.startswith("the command exits with 3: no such model; turn 1: returns ")


def test_an_agent_that_hangs_is_ended_with_all_that_it_started() -> None:
    with within(20):
        program = "import subprocess, time; subprocess.Popen(['sleep', '60']); time.sleep(60)"
        result = ended(program, seconds=1.5)
    assert result.task is not None
    assert (result.task.ended, result.ok) == ("seconds", False)
    assert result.reason.startswith("it took over 1.5 s; turn 1: ")


SEES = (
    "import json, os\nnames = sorted(os.environ)\nhome = os.environ['HOME']\n"
    "open(os.path.join(home, 'x'), 'w').close()\n"
    "print(json.dumps([names, home, os.getcwd() != home, os.environ.get('MINE')]))"
)


def test_a_command_has_a_clean_environment_and_a_home_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("SECRET_KEY", "OPENAI_API_KEY", "MINE", "AWS_PROFILE"):
        monkeypatch.setenv(name, f"value-of-{name}")
    result = ended(SEES, script=["never asked"], pass_env=["MINE"])
    assert result.task is not None
    names, home, apart, mine = json.loads(result.task.answer)
    ours = {"HOME", "MINE", "OPENAI_API_KEY", "OPENAI_BASE_URL", "PYTHONDONTWRITEBYTECODE"}
    assert ours <= {*names} <= {*ours, "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR", "TZ"}
    assert (mine, apart, Path(home).exists()) == ("value-of-MINE", True, False)
    assert Path(home).resolve() != Path.home().resolve()


def test_a_variable_that_is_not_set_is_not_passed_on_in_silence() -> None:
    with pytest.raises(UsageError, match="pass_env names the variable 'NO_SUCH_ONE', which is not"):
        tunaeval.CommandClient([sys.executable], pass_env=["NO_SUCH_ONE"])
    with pytest.raises(UsageError, match="pass_env"):
        tunaeval.CommandClient([sys.executable], pass_env="PATH")  # noqa: S106 - no password


def test_the_report_says_that_a_command_is_not_isolated() -> None:
    report = report_of(tunaeval.CommandClient([sys.executable, "-c", "print('Done.')"]), two())
    assert str(report.run.heading).startswith("not isolated: ")
    assert report_of(tunaeval.AgentClient(leaves), two()).run.heading is None


@pytest.mark.skipif(sys.platform != "linux", reason="supervisors need Linux")
def test_a_child_in_a_session_of_its_own_ends_with_its_agent(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    child = (
        "import os, time\nos.setsid()\nos.closerange(0, 3)\n"
        f"open({str(mark)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)"
    )
    ended(
        f"import os, subprocess, sys, time\nsubprocess.Popen([sys.executable, '-c', {child!r}])\n"
        f"while not os.path.exists({str(mark)!r}) or not open({str(mark)!r}).read():\n"
        "    time.sleep(0.01)"
    )
    status = Path(f"/proc/{mark.read_text()}/stat")
    assert not status.exists() or status.read_text().rpartition(")")[2].split()[0] in "ZX"


def test_an_agent_that_ignores_its_model_made_no_call_and_is_graded() -> None:
    result = ended("print('Done.')", script=["never asked"])
    assert result.task is not None
    assert (result.task.answer, result.got, result.ok) == ("Done.", (), False)


def test_an_agent_that_raises_ended_in_an_error_and_ends_no_run() -> None:
    def broken(*_: str) -> str:
        raise ValueError("no such model")

    report = report_of(tunaeval.AgentClient(broken), two())
    assert (report.passed, report.total) == (0, 2)
    first = report.results[0]
    assert first.task is not None
    assert first.task.ended == "error"
    assert "no such model" in str(first.attempts[0].message["content"])
    said = "agent 'agent' raised ValueError: no such model"
    assert first.reason.startswith(f"{said}; turn 1: ")
    assert first.task.ended_by == said


def test_words_of_how_an_agent_ended_are_there_after_rescoring(tmp_path: Path) -> None:
    def broken(*_: str) -> str:
        raise ValueError("no such model")

    report = tunaeval.run(two(), client=tunaeval.AgentClient(broken), out=tmp_path)
    assert report.directory is not None
    again = tunaeval.rescore(report.directory, level="strict")
    assert again.report.directory is not None
    assert [one.reason for one in load_report(again.report.directory).results] == [
        one.reason for one in report.results
    ]


def test_a_command_that_is_none_and_a_question_for_an_agent_are_refused() -> None:
    with pytest.raises(ClientSetupError, match="no program"):
        tunaeval.run("repair-tasks", client="command:no-such-agent {base_url}", out=None)
    with pytest.raises(ClientSetupError, match="a whole agent needs tasks"):
        report_of(tunaeval.AgentClient(lambda *_: ""), "smoke")


class Clerk:
    """An agent, and no client of a model: it cannot answer a single request."""

    name = "clerk"

    async def work(self, task: AgentTask) -> AgentRun:
        Path(task.workspace, "notes.md").write_text("done", "utf-8")  # noqa: ASYNC240 - it waits for nobody
        return AgentRun("I wrote notes.md.")

    async def close(self) -> None: ...


NOTES = {
    "name": "notes",
    "scenarios": [
        {"id": "write", "prompt": "Write notes.md.",
         "task": {"files": {}, "checks": [{"file": "notes.md", "equals": "done"}]}},
    ],
}  # fmt: skip


def test_an_object_with_work_alone_is_an_agent() -> None:
    assert tunaeval.run(NOTES, client=Clerk(), out=None).passed == 1


def test_an_agent_is_not_asked_a_single_question() -> None:
    with pytest.raises(ClientSetupError, match="is a single question, but a whole agent needs"):
        tunaeval.run("smoke", client=Clerk(), out=None)
