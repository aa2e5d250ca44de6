"""A report as annotations of GitHub Actions: workflow commands in the log of a step.

Their format: https://docs.github.com/actions/reference/workflow-commands-for-github-actions. A step
shows only the first 10 errors and the first 10 warnings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tunaeval.showing import visible
from tunaeval.types.runs import Report, ScenarioResult

from .files import write_text
from .results_as_rows import verdict_of
from .wording import calls_words, expected_words, interval, percent, remarks

SHOWN = 10
"""How many annotations of one kind GitHub shows for a step."""
LIMIT = 300
"""Characters of the longest text in an annotation."""

_COMMANDS = {"FAIL": "error", "ERROR": "warning"}


class GithubWriter:
    """Writes a notice for each run, and an annotation for each result that did not pass."""

    name = "github"

    def write(self, report: Report, path: Path) -> None:
        self.write_runs([report], path)

    def write_runs(self, reports: Sequence[Report], path: Path) -> None:
        write_text(path, "".join(f"{line}\n" for report in reports for line in _lines(report)))


github_writer = GithubWriter()


def _lines(report: Report) -> Iterable[str]:
    run, rate = report.run, report.summary.final
    title = f"{run.suite}: {run.model or run.client}"
    over = [run.heading] if run.heading else []
    score = f"{rate.passed} of {rate.total} passed, {percent(rate)}"
    if interval(rate):
        score += f" (95 % interval {interval(rate)})"
    yield _command("notice", title, "; ".join([*over, score, *remarks(report)]))
    left = dict.fromkeys(_COMMANDS.values(), SHOWN - 1)  # the last one counts the rest
    for result in report.results:
        kind = _COMMANDS.get(verdict_of(result))
        if kind is None:
            continue
        left[kind] -= 1
        if left[kind] >= 0:
            yield _annotation(kind, result)
    for kind, room in left.items():
        if room < 0:
            yield _command(kind, title, f"and {-room} more of this kind")


def _annotation(kind: str, result: ScenarioResult) -> str:
    if kind == "warning":
        return _command(kind, result.scenario, result.error or result.reason)
    again = f" #{result.repeat}" if result.repeat > 1 else ""
    words = (
        f"{result.outcome}: {visible(result.reason, LIMIT)}; "
        f"expected {expected_words(result.expected, LIMIT)}, got {calls_words(result.got, LIMIT)}"
    )
    return _command(kind, result.scenario + again, words)


def _command(kind: str, title: str, words: str) -> str:
    """Return a command on one line, with its texts escaped so that they cannot end it."""
    name = visible(title, LIMIT).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={name}::{visible(words, 3 * LIMIT).replace('%', '%25')}"
