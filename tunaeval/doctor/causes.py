"""Merge findings with one cause: which check reports an ask, and which findings are the same.

Checks share asks. An ask that the server answers with an error is reported by the check that is
about it, the one with the fewest asks; the others judge the rest of their asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from .checks import Check
from .seen import Seen
from .values import Ask, Finding

SAME = "same_fault_as"
"""The evidence key of a repeated finding: it names the first check that found the fault."""


def answered(
    check: Check, wanted: Sequence[Ask], checks: Iterable[Check], seen: Seen
) -> Sequence[Ask]:
    """Return the asks that this check judges: those that succeed, and its own failing ones."""
    others = [other for other in checks if len(other.asks) < len(check.asks)]
    return [ask for ask in wanted if not (_fails(ask, seen) and _asked_by(others, ask))]


def _fails(ask: Ask, seen: Seen) -> bool:
    answers = seen.all(ask)
    return not seen.streams_nothing(ask) and all(answer.error is not None for answer in answers)


def _asked_by(checks: Iterable[Check], ask: Ask) -> bool:
    return any(ask.key == own.key for check in checks for own in check.asks)


def with_causes(findings: Sequence[Finding]) -> list[Finding]:
    """Mark each server fault that an earlier finding already has with the check of that finding."""
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
