"""The pytest plug-in: a model endpoint as a fixture, suites as tests, and gates over them.

pytest loads this file in every session, so it imports only pytest; what a hook needs is imported
when it runs. It reads no environment variables and uses no network unless a test does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tunaeval

from .options import ASKER, FAILED, MEASURED, OPTIONS, VERDICTS, check_options, gates_asked

if TYPE_CHECKING:
    from tunaeval import ModelEndpoint, Recorder, ScoringSession

    from .expectations import ExpectedInFile
    from .suites import CollectedSuite
    from .workspace import Workspace

_SUITE_ENDINGS = (".tunaeval.json", ".tunaeval.jsonl", ".tunaeval.yaml", ".tunaeval.yml")
_MARKER = (
    "tunaeval(script=None, cassette=None, faults=(), masks=None, format='auto', match='exact', "
    "leftover='fail', allow_unasked=False): "
    "how the fixture tunaeval_model answers in this test"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tunaeval", "tunaeval: models that call tools")
    for name, words, settings in OPTIONS:
        group.addoption(f"--tunaeval-{name}", help=words, **settings)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    check_options(config)
    config.stash[MEASURED] = list[dict[str, Any]]()
    config.pluginmanager.register(_Collected(config), "tunaeval-collected")


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Explain a failed comparison with `expect(...)`: each expected call and the nearest one."""
    expecting = sys.modules.get("tunaeval.matching.api")
    if op != "==" or expecting is None:  # without the module there are no expectations
        return None
    for expected, calls in ((right, left), (left, right)):
        if isinstance(expected, expecting.Expected):
            return [f"calls == {expected!r}", *expected.explain(calls)]
    return None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CollectedSuite | None:
    """Collect `NAME.tunaeval.json|jsonl|yaml` as a suite: a test for each scenario and repeat."""
    if not file_path.name.endswith(_SUITE_ENDINGS):
        return None
    from .parts import CollectedSuite  # noqa: PLC0415 - see the module's docstring

    return CollectedSuite.from_parent(parent, path=file_path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    """Attach a scenario's result to its report, which also crosses from xdist's workers."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or bool(report.failed)
    workspace = getattr(item, "funcargs", {}).get("tunaeval_workspace")
    if workspace is not None and report.when == "call" and report.failed:
        report.sections.append(("tunaeval_workspace", workspace.report()))
    measured = getattr(item, "tunaeval_measured", None)
    if measured is not None and report.when == "call":
        report.tunaeval = measured
    return report


class _Collected:
    """Collects the results of scenarios in the main process, where the gates are judged."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        measured = getattr(report, "tunaeval", None)
        if measured is not None:
            self._config.stash[MEASURED].append(measured)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    measured = config.stash[MEASURED]
    if hasattr(config, "workerinput") or config.option.collectonly:
        return
    if not measured and not gates_asked(config):
        return
    from .parts import judged  # noqa: PLC0415 - see the module's docstring

    verdicts = judged(config, measured)
    config.stash[VERDICTS] = verdicts
    if session.exitstatus == pytest.ExitCode.OK and any(one.fails for one in verdicts):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    verdicts = config.stash.get(VERDICTS, [])
    if verdicts:
        terminalreporter.section("tunaeval")
    for one in verdicts:
        terminalreporter.line(str(one), green=one.gate == "passed", red=one.fails)


def pytest_unconfigure(config: pytest.Config) -> None:
    asker = config.stash.get(ASKER, None)
    if asker is not None:
        asker.close()


@pytest.fixture
def tunaeval_model(request: pytest.FixtureRequest) -> Iterator[ModelEndpoint]:
    """A model endpoint that replays `cassettes/MODULE/TEST.jsonl` beside the test.

    `--tunaeval-record` records that file from `--tunaeval-base-url`. The marker
    `tunaeval(script=..., cassette=..., faults=..., masks=...)` changes the defaults.
    """
    from .parts import served  # noqa: PLC0415 - see the module's docstring

    yield from served(request)


@pytest.fixture
def tunaeval_expected(request: pytest.FixtureRequest) -> Iterator[ExpectedInFile]:
    """The calls that `expectations/MODULE/TEST.json` beside the test expects; compare it by `==`.

    `--tunaeval-update` writes the file from the calls that it is compared with.
    """
    from .parts import ExpectedInFile, fault_of  # noqa: PLC0415 - as the docstring says

    asks = "tunaeval_model" in request.fixturenames
    model = request.getfixturevalue("tunaeval_model") if asks else None
    expected = ExpectedInFile.of(request)
    yield expected
    if model is None or fault_of(model) is None:
        expected.save()


@pytest.fixture
def tunaeval_workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A new directory for an agent to work in, which can report changes in it."""
    from .parts import Workspace  # noqa: PLC0415 - see the module's docstring

    workspace = Workspace(tmp_path / "files")
    yield workspace
    workspace.close()


@pytest.fixture
def tunaeval_recorder() -> Recorder:
    """A recorder for wrapped tools: `tunaeval.wrap_tool(tool, tunaeval_recorder)`."""
    return tunaeval.Recorder()


@pytest.fixture
def tunaeval_session(tunaeval_recorder: Recorder) -> Callable[..., ScoringSession]:
    """A function that makes enabled scoring sessions: `with session(query) as scored:`."""

    def made(query: str, **settings: Any) -> ScoringSession:
        return tunaeval.scoring_session(
            query, **{"enabled": True, "recorder": tunaeval_recorder, **settings}
        )

    return made
