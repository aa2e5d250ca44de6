"""BFCL's own answers, kept as its results are, pass when they are rescored; its real decoder.

Needs the package `bfcl-eval`, as `test_bfcl.py` does.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tasks.bfcl_checker import load_decoder
from tests.tasks.test_bfcl import answer, entries, first, root
from tunaeval.runs.rescore_bfcl import rescore_bfcl
from tunaeval.tasks.suites.bfcl import BFCL_DEFECTS


@pytest.mark.parametrize("category", ["simple", "parallel_multiple", "live_parallel"])
def test_answers_that_were_kept_as_results_pass(category: str, tmp_path: Path) -> None:
    """By the packaged prompts, as calls of a server and as a list of calls with dots in names."""
    root()
    file = f"BFCL_v4_{'simple_python' if category == 'simple' else category}_result.json"
    for model in ("server", "prompted"):
        lines = []
        for entry in entries(category):
            calls = answer(entry, first)
            names = [name for one in entry.gold for name in one]
            dotted = [
                f"{name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
                for name, (_, arguments) in zip(names, calls, strict=True)
            ]
            kept = [{name: json.dumps(arguments)} for name, arguments in calls]
            result = kept if model == "server" else f"[{', '.join(dotted)}]"
            lines.append(json.dumps({"id": entry.scenario.id, "result": result}))
        path = tmp_path / "result" / model / file
        path.parent.mkdir(parents=True)
        path.write_text("\n".join(lines))
    for found in rescore_bfcl(tmp_path):
        failed = {one.scenario for one in found.results if not one.ok}
        assert failed <= set(BFCL_DEFECTS), found.name
        assert (found.faults, found.notes) == ([], [])


def test_the_real_decoder_evaluates_nothing_here() -> None:
    decode = load_decoder(root())
    assert decode('[f.g(x=1, y="a")]') == [{"f.g": {"x": 1, "y": "a"}}]
    with pytest.raises(ValueError, match="would have to be evaluated"):
        decode("f(x=1/6)")
