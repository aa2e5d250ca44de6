"""One cause, one finding: which check answers for an ask, and which findings are the same fault.

Checks share asks. An ask that the server answers with an error is blamed by the check that is about
it, the one with the fewest asks; the others judge what else they asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from .checks import Check
from .seen import Seen
from .values import Ask, Finding

SAME = "same_fault_as"
"""In the evidence of a finding: the first check that found the fault."""


def answered(
    check: Check, wanted: Sequence[Ask], checks: Iterable[Check], seen: Seen
) -> Sequence[Ask]:
    """The asks that this check answers for, or that got no error."""
    others = [other for other in checks if len(other.asks) < len(check.asks)]
    return [ask for ask in wanted if not (_fails(ask, seen) and _asked_by(others, ask))]


def _fails(ask: Ask, seen: Seen) -> bool:
    answers = seen.all(ask)
    return not seen.streams_nothing(ask) and all(answer.error is not None for answer in answers)


def _asked_by(checks: Iterable[Check], ask: Ask) -> bool:
    return any(ask.key == own.key for check in checks for own in check.asks)


def with_causes(findings: Sequence[Finding]) -> list[Finding]:
    """The findings, each fault of the server after its first time with the check that had it."""
    first: dict[tuple[object, ...], str] = {}
    found = []
    for finding in findings:
        fault = finding.evidence.get("fault")
        if finding.verdict == "server" and fault:
            words = finding.evidence["summary"] if fault == "error" else ""
            name = first.setdefault((fault, finding.remedy, words), finding.check)
            if name != finding.check:
                found.append(replace(finding, evidence={**finding.evidence, SAME: name}))
                continue
        found.append(finding)
    return found
