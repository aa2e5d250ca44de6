"""Runs as records of Every Eval Ever, a common format of evaluation results.

    data/SUITE/DEVELOPER/MODEL/UUID.json            the score of a run
    data/SUITE/DEVELOPER/MODEL/UUID_samples.jsonl   its results, those without an answer left out

Format: https://github.com/evaleval/every_eval_ever, version 0.3.0. What is not known is "unknown"
or "other". A run has the same file each time it is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import get_args
from uuid import UUID

from tunaeval.files.keys import mapped
from tunaeval.files.new_files import new_bytes, write_text
from tunaeval.files.records import json_text
from tunaeval.types.calls import JsonObject
from tunaeval.types.exchange import text_of
from tunaeval.types.runs import CallRecord, Report, RunOutcome, ScenarioResult
from tunaeval.types.tables import INFRASTRUCTURE, expected_words

from .json import seconds, sound
from .tables import RunsWriter
from .wording import warnings

_VERSION = {"schema_version": "0.3.0"}
_UNKNOWN = "unknown"
_NOT_IN_NAMES = re.compile(r"[^!#-)+-.0-9;=@A-Z\[\]^-{}~]")
_RESERVED = re.compile(r"(data|con|prn|aux|nul|com[1-9]|lpt[1-9])(\..*)?", re.IGNORECASE)
_ASKED = ("format", "level", "profile", "ask", "attempts", "repeats", "seed", "prompt_digest")
_METRIC: JsonObject = {
    "evaluation_description": "the share of scenarios whose calls are those expected",
    "metric_id": "pass_rate", "metric_kind": "pass_rate", "metric_unit": "proportion",
    "lower_is_better": False, "score_type": "continuous", "min_score": 0, "max_score": 1,
}  # fmt: skip
_SOURCE = {"source_name": "tunaeval", "source_type": "evaluation_run",
           "source_organization_name": _UNKNOWN, "evaluator_relationship": "other"}  # fmt: skip


def _write_all(reports: Sequence[Report], path: Path) -> None:
    for report in reports:
        _write(report, path)


every_eval_ever_writer = RunsWriter("every-eval-ever", _write_all, writes_folder=True)


def _write(report: Report, path: Path) -> None:
    run, model = report.run, report.run.model or report.run.client
    developer, _, last = model.strip("/").rpartition("/")
    developer, _, rest = developer.partition("/")
    folder = map(_part, (run.suite, developer or _UNKNOWN, f"{rest}_{last}" if rest else last))
    key = sound(f"{run.run_id}\n{run.started_at}\n{run.suite}\n{model}")
    name = UUID(bytes=sha256(key.encode()).digest()[:16], version=4)
    place = "/".join(("data", *folder, str(name)))
    head = {**_VERSION, "evaluation_id": f"{run.suite}/{model}/{run.run_id}"}
    part = {"evaluation_name": run.suite, "evaluation_result_id": f"{run.run_id}/pass-rate"}
    about = {"deployment_type": _UNKNOWN, "model_availability": _UNKNOWN}
    at = str(seconds(run.started_at))
    document: JsonObject = {
        **head, "evaluation_timestamp": at, "retrieved_timestamp": at, "source_metadata": _SOURCE,
        "eval_library": {"name": "tunaeval", "version": run.versions.get("tunaeval", _UNKNOWN)},
        "model_info": {"name": model, "id": model, "developer": developer or _UNKNOWN,
                       "additional_details": about},
        "evaluation_results": [],
    }  # fmt: skip
    if report.summary.final.total:
        document["evaluation_results"] = [{**part, **_score(report)}]
        file, whole, rows = f"{place}_samples.jsonl", sha256(), 0
        with new_bytes(path / file) as write:
            for result in report.results:
                if result.outcome not in INFRASTRUCTURE:
                    line = _as_json({**head, **part, "model_id": model, **_sample(result)}).encode()
                    whole.update(line)
                    rows += bool(write(line))
        kept = {"format": "jsonl", "file_path": file, "hash_algorithm": "sha256"}
        kept |= {"checksum": whole.hexdigest()}
        document["detailed_evaluation_results"] = {**kept, "total_rows": rows}
    write_text(path / f"{place}.json", _as_json(document))


def _score(report: Report) -> JsonObject:
    run, summary, final = report.run, report.summary, report.summary.final
    details: JsonObject = {one: summary.outcomes.get(one, 0) for one in get_args(RunOutcome)}
    details |= {"no_answer": summary.infrastructure_failures, "passed": final.passed}
    details |= {f"score_{level}": rate.value for level, rate in summary.levels.items()}
    details |= {"heading": run.heading, "warnings": "; ".join(warnings(summary)) or None}
    is_plain = summary.repeats is None and all(one.group is None for one in report.results)
    interval: JsonObject = {"lower": final.low, "upper": final.high, "confidence_level": 0.95}
    interval["method"] = "wilson" if is_plain else "wilson, with the effective number of samples"
    given = {"temperature": run.temperature, "max_tokens": max(1, run.max_tokens)}
    return {
        "source_data": {"dataset_name": run.suite, "source_type": "other",
                        "additional_details": {"suite_digest": run.suite_digest}},
        "metric_config": _METRIC,
        "score_details": {
            "score": final.value, "details": _as_texts(details),
            "uncertainty": {"confidence_interval": interval, "num_samples": final.total},
        },
        "generation_config": {
            "generation_args": given,
            "additional_details": _as_texts({name: getattr(run, name) for name in _ASKED}),
        },
    }  # fmt: skip


def _sample(result: ScenarioResult) -> JsonObject:
    wanted, spent = (
        expected_words(result.expected),
        (result.prompt_tokens, result.completion_tokens),
    )
    replies = [text_of(one.message.get("content")) or json_text(one.message)
               for one in result.attempts[-1:]]  # fmt: skip
    messages = None if result.task is None else [*_messages(result)]
    last, latency = len(messages or " ") - 1, result.latency_seconds
    named = ("input_tokens", "output_tokens", "total_tokens")
    about = {name: getattr(result, name) for name in ("outcome", "reason", "repeat", "format")}
    found = {
        "turn_idx": last, "source": f"messages[{last}].content" if messages else "output.raw",
        "extracted_value": json_text({"calls": [_called(one) for one in result.got]}),
        "extraction_method": f"tunaeval, format {result.format or _UNKNOWN}", "is_terminal": True,
    }  # fmt: skip
    return {
        "sample_id": result.scenario,
        "sample_hash": sha256(sound(result.prompt + wanted).encode()).hexdigest(),
        "interaction_type": "single_turn" if messages is None else "agentic",
        "input": {"raw": result.prompt, "reference": [wanted]},
        "output": {"raw": replies or [""]} if messages is None else None,
        "messages": messages,
        "answer_attribution": [found],
        "evaluation": {"score": float(result.ok), "is_correct": result.ok,
                       "num_turns": max(1, len(result.attempts)),
                       "tool_calls_count": sum(len(one.calls) for one in result.attempts)},
        "token_usage": None if None in spent
        else dict(zip(named, (*spent, sum(one or 0 for one in spent)), strict=True)),
        "performance": None if latency is None else {"latency_ms": 1000 * latency},
        "metadata": _as_texts({**about, "tags": ", ".join(result.tags) or None}),
    }  # fmt: skip


def _messages(result: ScenarioResult) -> Iterator[JsonObject]:
    """Yield the messages of an episode: the prompt, then each reply with its calls' results."""
    messages: list[JsonObject] = [{"role": "user", "content": result.prompt}]
    for attempt in result.attempts:
        if attempt.user is not None:
            messages.append({"role": "user", "content": attempt.user})
        calls = [
            {"id": one.id or f"call_{n}", **_called(one)} for n, one in enumerate(attempt.calls)
        ]
        text = text_of(attempt.message.get("content"))
        messages.append({"role": "assistant", "content": text, "tool_calls": calls or None})
        for one in attempt.results:
            answers = None if one.id is None else [one.id]
            messages.append({"role": "tool", "content": one.content, "tool_call_id": answers})
    return ({"turn_idx": index, **one} for index, one in enumerate(messages))


def _called(call: CallRecord) -> JsonObject:
    return {"name": call.name, "arguments": _as_texts(call.arguments)}


def _as_texts(values: JsonObject) -> dict[str, str]:
    """Return values as texts, as the format wants them; those that are None are left out."""
    known = {name: one for name, one in values.items() if one is not None}
    return {name: one if isinstance(one, str) else json.dumps(one) for name, one in known.items()}


def _part(name: str) -> str:
    """Return a name as a part of a path that every system can have."""
    plain = _NOT_IN_NAMES.sub("_", name[:100]).rstrip(". ") or "_"
    return f"{plain}_" if _RESERVED.fullmatch(plain) else plain


def _as_json(document: JsonObject) -> str:
    return json_text(mapped(document, sound)) + "\n"
