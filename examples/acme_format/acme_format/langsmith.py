"""An adapter of transcripts: runs of LangSmith, as `Run.model_dump(mode="json")` writes them.

Each request to a model is a run of the type "llm" with all messages before it, so the last one of a
trace has the whole conversation. It is given to tunaeval in the shape of the API that was asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


class LangSmith:
    """Reads a run, or a list of runs of any traces."""

    name = "acme-langsmith"

    def reads(self, document: object) -> bool:
        return any("run_type" in run and "dotted_order" in run for run in _runs(document))

    def read(self, document: object) -> Iterator[object]:
        traces: dict[object, list[Any]] = {}
        for run in sorted(_runs(document), key=lambda run: str(run["dotted_order"])):
            if run["run_type"] == "llm":
                traces.setdefault(run["trace_id"], []).append(run)
        for runs in traces.values():
            yield [*_asked(runs[-1]["inputs"]), *_replied(runs[-1]["outputs"] or {})]


def _runs(document: Any) -> list[Mapping[str, Any]]:
    items: Any = [document] if isinstance(document, Mapping) else document
    is_many = hasattr(items, "__iter__")
    return [item for item in items if isinstance(item, Mapping)] if is_many else []


def _asked(inputs: Mapping[str, Any]) -> list[Any]:
    """The messages of a request; LangChain puts them into a list of batches."""
    messages = inputs["messages"]
    return list(messages[0] if messages and isinstance(messages[0], list) else messages)


def _replied(outputs: Mapping[str, Any]) -> list[Any]:
    if "generations" in outputs:  # LangChain
        return [outputs["generations"][0][0]["message"]]
    return [outputs["choices"][0]["message"]] if "choices" in outputs else []


LANGSMITH = LangSmith()
