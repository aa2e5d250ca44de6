"""A wrapper: the runs of Acme's gadgets are recorded like those of any tool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import tunaeval


@dataclass(frozen=True, slots=True)
class Gadget:
    """A tool of Acme's framework: a label, and the function that it runs."""

    label: str
    job: Callable[..., Any]


class GadgetWrapper:
    """Wraps gadgets, which tunaeval does not know."""

    name = "acme-gadgets"

    def fits(self, tool: object) -> bool:
        return isinstance(tool, Gadget)

    def wrap(self, tool: Gadget, recorder: tunaeval.Recorder) -> Gadget:
        return replace(tool, job=tunaeval.record_runs(tool.job, recorder, name=tool.label))

    def runs(self, tool: Gadget) -> tuple[object, ...]:
        return (tool.job,)


GADGETS = GadgetWrapper()
