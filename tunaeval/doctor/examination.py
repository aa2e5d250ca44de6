"""The examination of a server: each check is judged, each finding has evidence and a remedy.

Checks share requests. One that the server answers with an error is reported by the check that is
about it, which is the one with the fewest requests; other checks judge the rest of theirs.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

from tunaeval.clients.network import Network
from tunaeval.clients.server import KEY_VARIABLES, read_key
from tunaeval.clients.server import Server as Connection
from tunaeval.errors import ClientSetupError, UnknownNameError, UsageError
from tunaeval.files.keys import mapped
from tunaeval.reports.statistics import wilson
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.runs import Rate

from . import asks
from . import news as comparison
from .blame import CASES, Seen, misshapen, unanswered, worst
from .checks import (
    AS_WRITTEN,
    CHECKS,
    GROUPS,
    REPEATED,
    STREAM_FRAMES,
    TOOLS_ACCEPTED,
    TOOLS_IN_PROMPT,
    Check,
    same_in_both,
)
from .news import SCHEMA, News
from .remedies import remedy
from .runner import DoctorSettings, Runner, in_quick
from .values import Ask, Judgement, ServerAnswer, ServerFinding

FINE, SERVER_FAULT, UNTESTED, INCOMPLETE = 0, 1, 2, 3

_LONGEST = 4000
"""The most characters of a text that evidence keeps."""


@dataclass(frozen=True, slots=True)
class Examination:
    """The result of examining a server.

    `findings` are the checks that did not pass, in order of groups. `exit` is 0 if nothing is wrong
    with the server, 1 for a fault of the server, 2 if it could not be tested (it does not answer,
    or the model cannot copy a call), and 3 if more answers failed than `max_errors` allows.
    """

    server: JsonObject
    findings: tuple[ServerFinding, ...]
    passed: tuple[tuple[str, str], ...]
    """The group and name of each check that passed."""
    asked: Mapping[str, Sequence[str]] = field(default_factory=dict, kw_only=True)
    """The requests that each check that passed, or found a fault, was judged by."""
    rates: Mapping[str, Rate]
    exit: int
    stopped: str | None
    requests: int
    failed: Mapping[str, int] = field(default_factory=dict)
    """How many answers failed, by the checks that needed them; checks share requests."""
    failures: int = 0
    """How many of the `answers` failed, so that what they were to show is not known."""
    answers: int = 0
    retries: int = 0
    """How many requests were sent again because the server failed."""
    limited: int = 0
    """How many requests were sent again because the server limits their rate."""
    settings: JsonObject = field(default_factory=dict)
    started_at: str = ""
    seconds: float = 0.0
    news: News | None = None
    """What is new, if it was compared with known findings."""

    def against(self, known: JsonObject) -> Examination:
        """Return the examination compared with an earlier report: 1 is then the exit code of a new
        fault alone.
        """
        found = comparison.news(known, now := self.as_json())
        judged = INCOMPLETE if comparison.too_little(found, now) else int(bool(found.new))
        return replace(self, news=found, exit=self.exit if self.undecided else judged)

    @property
    def undecided(self) -> bool:
        """Whether too little could be examined for a verdict on the server."""
        return self.exit in (UNTESTED, INCOMPLETE)

    def is_new(self, finding: ServerFinding) -> bool:
        """Whether a finding is not among the known ones."""
        return self.news is None or finding.id not in self.news.known

    def as_json(self) -> JsonObject:
        """Return the report as JSON, for machines."""
        return {
            "schema": SCHEMA,
            "tunaeval": _version(),
            "started_at": self.started_at,
            "seconds": round(self.seconds, 3),
            "settings": self.settings,
            "news": asdict(self.news) if self.news else None,
            "server": self.server,
            "findings": [asdict(finding) for finding in self.findings],
            "exit": self.exit,
            "passed": [{"check": name, "group": group} for group, name in self.passed],
            "asked": {check: list(keys) for check, keys in self.asked.items()},
            "rates": {name: rate.model_dump() for name, rate in self.rates.items()},
            "requests": self.requests,
            "stopped": self.stopped,
            "failed": {"answers": self.failures, "of": self.answers, "by_check": dict(self.failed)},
            "retries": self.retries,
            "limited": self.limited,
        }


def _version() -> str | None:
    try:
        return version("tunaeval")
    except PackageNotFoundError:  # the sources alone, without an installation
        return None


async def examine(
    base_url: str,
    settings: DoctorSettings | None = None,
    *,
    only: str | Sequence[str] | None = None,
    skip: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    network: Network | None = None,
    key_variables: Sequence[str] = KEY_VARIABLES,
    on_answer: Callable[[ServerAnswer], None] | None = None,
) -> Examination:
    """Examine the server at `base_url` (http://127.0.0.1:8000/v1).

    `only` and `skip` are names of checks or groups, `network` says how the server is reached. The
    key is the first of `key_variables` in the environment, as for other clients; it is in no
    report. Raises ClientSetupError for an invalid address or key and UnknownNameError for an
    unknown check or group; what a server does raises nothing.
    """
    settings = settings or DoctorSettings()
    only = [only] if isinstance(only, str) else list(only or ())
    checks = chosen(only, skip, quick=settings.quick)
    started_at, began = datetime.now(UTC), time.monotonic()
    key, network = read_key(key_variables, environment), network or Network()
    connection = Connection(
        base_url,
        key=key,
        key_variables=key_variables,
        attempt_timeout=settings.timeout_seconds,
        network=network,
    )
    if (key or network.secrets) and connection.is_overheard and not settings.allow_plain_http:
        raise ClientSetupError(
            f"{connection.address} is reached without encryption, so that the key could be read on "
            "the way; use https, unset the key, or allow it with --allow-plain-http"
        )
    runner = Runner(connection, checks, settings, on_answer)
    try:
        seen = await runner.run()
    finally:
        await connection.close()
    return replace(
        _examined(seen, runner.checks, runner, connection),
        settings={
            **asdict(settings),
            "extra_body": list(settings.extra_body),  # without the values, which may be secrets
            "max_errors": str(settings.max_errors or 0),
            "only": only,
            "skip": list(skip),
        },
        started_at=started_at.isoformat(timespec="seconds"),
        seconds=time.monotonic() - began,
    )


def chosen(only: Sequence[str] = (), skip: Sequence[str] = (), *, quick: bool) -> tuple[Check, ...]:
    """Return the checks that `only` names, or whose group it names, or all; without those of
    `skip`. If `quick`, only quick ones with quick requests.
    """
    known = {*GROUPS, *(check.name for check in CHECKS)}
    for name in (*only, *skip):
        if name not in known:
            raise UnknownNameError("check or group of checks", name, known)
    checks = [
        check
        for check in CHECKS
        if (not only or {check.name, check.group} & {*only})
        and not {check.name, check.group} & {*skip}
    ]
    if quick:
        checks = [in_quick(check) for check in checks if check.quick and check.group != "stability"]
    if not checks:
        raise UsageError("no check is left: --skip or --quick leaves out all that --only names")
    return tuple(checks)


def _examined(
    seen: Seen, checks: Sequence[Check], runner: Runner, connection: Connection
) -> Examination:
    made = _with_cause(checks, seen)
    judged = [(check, judge(check, seen, made)) for check in made]
    findings = _with_causes(
        [
            _finding(check, one, seen)
            for check, reported in judged
            if reported.verdict != "pass"
            for one in (reported, *reported.others)
        ]
    )
    if seen.stopped is not None:
        advice, why = remedy("answers", seen.server), {"summary": seen.stopped}
        stopped = ServerFinding("answers", "reach", "not tested", why, advice, "answers")
        findings.insert(0, stopped)
    faults = any(finding.verdict == "server" for finding in findings)
    weak = not seen.capable and any(check.needs == "copying" for check in checks)
    broken = {check.asks[0].api for check, found in judged if found.fault == "frame-cut"}
    failed = {check.name: seen.failed(check.asks, broken)[0] for check in made}
    asked = {ask.key: ask for check in made for ask in check.asks}
    failures, answers = seen.failed(asked.values(), broken)
    budget = runner.settings.max_errors
    if seen.nobody:
        code = UNTESTED
    elif not (budget.allows(failures, answers) if budget else failures == 0):
        code = INCOMPLETE
    elif faults:
        code = SERVER_FAULT
    else:
        none = all(reported.verdict == "not tested" for _, reported in judged)
        code = UNTESTED if weak or none else FINE
    return Examination(
        server=_about(seen, runner, connection),
        findings=tuple(
            # A server may have repeated the key in its answers.
            replace(finding, evidence=mapped(finding.evidence, connection.hide))
            for finding in findings
        ),
        passed=tuple(
            (check.group, check.name) for check, reported in judged if reported.verdict == "pass"
        ),
        asked={
            check.name: [f"{ask.name}, {ask.mode}" for ask in wanted if not seen.failed([ask])[0]]
            for check, reported in judged
            for wanted, _ in [_asks_judged(check, seen, made)]
            if reported.verdict in ("pass", "server")
        },
        rates=_rates(seen, made),
        exit=code,
        stopped=connection.hide(seen.stopped) if seen.stopped else None,
        requests=runner.requests,
        failed={name: count for name, count in failed.items() if count},
        failures=failures,
        answers=answers,
        retries=runner.retries,
        limited=runner.put_off - runner.retries,
    )


def _with_cause(checks: Sequence[Check], seen: Seen) -> Sequence[Check]:
    """Add the check `stream-frames`, which reports why streams are missing, if any are."""
    missing = any(seen.streams_nothing(ask) for check in checks for ask in check.asks)
    if not missing or any(check.name.endswith(STREAM_FRAMES) for check in checks):
        return checks
    return (*checks, _named(STREAM_FRAMES))


def _asks_judged(check: Check, seen: Seen, checks: Sequence[Check]) -> tuple[Sequence[Ask], str]:
    """Return the requests that a check is judged by, and the reason in case there are none."""
    wanted: Sequence[Ask] = check.asks
    none = max(map(seen.streams_nothing, wanted))
    if none and not check.name.endswith(STREAM_FRAMES):
        wanted = [ask for ask in wanted if not seen.streams_nothing(ask)]
    if not any(ask.streamed or check.rule is not same_in_both for ask in wanted):
        return (), f"{none} ({STREAM_FRAMES})"
    if check.group != "prompt":
        wanted = _answered(check, wanted, checks, seen)
    return wanted, "every request of it fails, which other checks report"


def judge(check: Check, seen: Seen, checks: Sequence[Check] = CHECKS) -> Judgement:
    """Return the judgement of one check; `checks` are all checks of this examination.

    A check that needs a call copied is not tested if the model copied too few of `asks.GATE`.
    """
    if seen.nobody:
        return Judgement("not tested", seen.stopped or "not asked")
    if check.name != TOOLS_ACCEPTED and seen.refused is not None and check.group != "prompt":
        return Judgement("not tested", f"requests with tools are refused: {seen.refused}")
    wanted, why_none = _asks_judged(check, seen, checks)
    if not wanted:
        return Judgement("not tested", why_none)
    in_prompt = _named(TOOLS_IN_PROMPT)
    no_tools = in_prompt.rule(seen, in_prompt.asks).verdict == "server"
    if (check.needs == "nothing" or seen.capable) and not (no_tools and check.remedy == "context"):
        return check.rule(seen, wanted)
    answers = [answer for ask in wanted for answer in seen.all(ask)]
    plain = [found for answer in answers if (found := _model_free(answer)) is not None]
    if plain and (found := worst(plain)).verdict == "server":
        return found
    if seen.stopped is not None and all(answer.skipped for answer in answers):
        return Judgement("not tested", seen.stopped)
    if no_tools:
        return Judgement("not tested", "the tools never reach the prompt (tools-in-prompt)")
    counts = [seen.failed(pair) for pair in asks.GATE]
    lost = sum(bad == of for bad, of in counts)
    words = f"model too weak: {seen.right} of 3 calls copied, {CASES} are needed"
    found = check.rule(seen, wanted) if check.name.endswith(AS_WRITTEN) else None
    if found and found.undecided and found.answer and found.answer.calls:
        return replace(found, why=f"{found.why} ({words}, unless the server changed them)")
    if seen.right + lost >= CASES:
        words = f"{lost} of the 3 calls that show what the model can do were not answered"
    return Judgement("not tested", words)


def _named(name: str) -> Check:
    return next(check for check in CHECKS if check.name == name)


def _model_free(answer: ServerAnswer) -> Judgement | None:
    """Return a fault that no model can cause: a server error, or calls without the right shape."""
    if answer.ok:
        return misshapen(answer) if not answer.cut else None
    return unanswered(answer) if _crashed(answer) else None


def _crashed(answer: ServerAnswer) -> bool:
    return (answer.status or 0) >= 500


_PECULIAR = ("prompt", "choice", "schema", "history", "names")
"""Groups that ask for what a server may not be able to do."""


def _finding(check: Check, reported: Judgement, seen: Seen) -> ServerFinding:
    fixed = ""
    if reported.verdict in ("server", "note"):
        # The check knows better how to repair a refusal than the remedy for errors in general does,
        # but a crash has to do with it only if what it asks for is peculiar.
        knows = check.group == "names" or reported.fault in ("", "error")
        fault = check.remedy if knows else reported.fault
        if reported.answer and _crashed(reported.answer) and check.group not in _PECULIAR:
            fault = "error"
        thought = reported.answer.text if reported.answer else None
        fixed = remedy(fault, seen.server, seen.native, thought=thought, parses=seen.parses)
    elif reported.verdict == "model":
        fixed = remedy("model", seen.server)
    id_ = check.name
    if reported.verdict == "server":
        mode = "both" if check.rule is same_in_both else reported.mode
        id_ = f"{check.name}/{mode}/{reported.fault or check.remedy}"
    evidence = evidence_of(reported)
    return ServerFinding(check.name, check.group, reported.verdict, evidence, fixed, id_)


def evidence_of(reported: Judgement) -> JsonObject:
    """Return what a finding is based on: the request, the raw text, and what the API gave."""
    found: JsonObject = {"summary": reported.why}
    if reported.fault:
        found["fault"] = reported.fault
    if reported.undecided:
        found["undecided"] = True
    answer = reported.answer
    if answer is None:
        return found
    found |= {"ask": answer.ask.name, "mode": answer.ask.mode, "status": answer.status}
    read = reported.read or {}
    raw = answer.raw if answer.raw is not None else read.get("raw")
    if raw is not None:
        found["raw"] = _cut(raw)
    if answer.ok:
        found["api"] = {
            "content": _cut(answer.content),
            "tool_calls": [call.as_json() for call in answer.calls],
            "finish_reason": answer.finish,
        }
    if read:
        found["reads"] = {key: read[key] for key in ("outcome", "calls", "diagnoses")}
    return found


def _cut(value: JsonValue) -> JsonValue:
    text = value if value is None or isinstance(value, str) else json.dumps(value)
    return text[:_LONGEST] if text else text


def _about(seen: Seen, runner: Runner, connection: Connection) -> JsonObject:
    raw, good = seen.raw_share
    return {
        "base_url": connection.address,
        "model": runner.model,
        "answers_as": seen.server.answers_as,
        "name": seen.server.kind,
        "version": seen.server.version,
        "sign": seen.server.sign,
        "parser": seen.server.parser,
        "format": seen.native,
        "raw_text": f"{raw} of {good} answers",
        "gate": f"{seen.right} of 3",
        "facts": dict(seen.server.facts),
    }


def _rates(seen: Seen, checks: Sequence[Check]) -> dict[str, Rate]:
    """Return how often repeated answers were right, all and the streamed ones, with intervals.

    Questions that none of the checks is judged by, as they only try what the server can do, are not
    counted.
    """
    judged = {ask.key for check in checks for ask in check.asks}
    rates: dict[str, Rate] = {}
    for which in ("", ", streamed"):
        asked = [one for one in REPEATED if one.key in judged and (one.streamed or not which)]
        answers = [a for ask in asked for a in seen.answers.get(ask.key, ()) if a.ok]
        if not answers or not seen.capable:
            continue
        found = Counter(seen.blame(answer).verdict for answer in answers)
        sound = sum(
            bool(answer.calls) and all(call.object is not None for call in answer.calls)
            for answer in answers
        )
        counts = {
            "given as written": found["pass"],
            "sound arguments": sound,
            "lost or changed by the server": found["server"],
        }
        rates |= {f"{name}{which}": wilson(of, len(answers)) for name, of in counts.items()}
    return rates


SAME = "same_fault_as"
"""The evidence key of a repeated finding: it names the first check that found the fault."""


def _answered(
    check: Check, wanted: Sequence[Ask], checks: Iterable[Check], seen: Seen
) -> Sequence[Ask]:
    """Return the requests to judge, without failed ones that another check reports."""
    others = {
        ask.key for other in checks if len(other.asks) < len(check.asks) for ask in other.asks
    }

    def fails(ask: Ask) -> bool:
        answers = seen.all(ask)
        return not seen.streams_nothing(ask) and all(one.error is not None for one in answers)

    return [ask for ask in wanted if not (ask.key in others and fails(ask))]


def _with_causes(findings: Sequence[ServerFinding]) -> list[ServerFinding]:
    """Add to each server fault that another finding explains the name of that check.

    A fault of plain calls explains the same fault anywhere, another one that of the checks of its
    group, which ask for the same kind of thing. What explains most comes first.
    """
    first: dict[tuple[object, ...], tuple[str, str]] = {}
    explained: Counter[str] = Counter()
    found = []
    for finding in findings:
        fault, words = finding.evidence.get("fault"), finding.evidence["summary"]
        if finding.verdict == "server" and fault:
            asked = words if fault == "error" else finding.group
            found_in = (finding.check, finding.id)
            name, id_ = first.get((fault,)) or first.setdefault((fault, asked), found_in)
            if id_ != finding.id:
                explained[name] += name != finding.check
                found.append(replace(finding, evidence={**finding.evidence, SAME: name}))
                continue
            if finding.check == AS_WRITTEN:
                first[fault,] = found_in
        found.append(finding)
    return sorted(found, key=lambda finding: -explained[finding.check])
