"""Whatever a plug-in's import does is its own failure, with its name; a signal is nobody's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interrupts import heed_interrupts
from tests.test_registry import FRESH, PARSER, ROOT, Site


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


LEAVING = {
    "GeneratorExit": "raise GeneratorExit('gone')",
    "SystemExit": "raise SystemExit(0)",
    "ExceptionGroup": "raise ExceptionGroup('two', [ValueError(1), ValueError(2)])",
    "BaseExceptionGroup": "raise BaseExceptionGroup('two', [KeyboardInterrupt(), SystemExit()])",
    "MemoryError": "raise MemoryError",
    "RecursionError": "def f(): f()\nf()",
}


@pytest.mark.parametrize("words", LEAVING)
def test_whatever_an_import_does_is_the_plugins_own_failure(site: Site, words: str) -> None:
    site.install("tuna-rogue", LEAVING[words], name="rogue")
    site.install("tuna-good", PARSER)
    said, listed = site.ask("[tried('rogue'), [[e.name, e.status] for e in plugins.entries()]]")
    assert said.startswith("PluginLoadError: parser 'rogue' of tuna-rogue 1.0 cannot be imported")
    assert words in said
    assert listed == [["built-in", "ok"], ["mine", "ok"], ["rogue", "broken"]]


def test_a_signal_during_an_import_is_nobodys_failure(site: Site) -> None:
    """Ctrl-C while a plug-in is imported ends what the user is doing."""
    site.install("tuna-slow", "import os, signal\nos.kill(os.getpid(), signal.SIGINT)", name="slow")
    caught = "[0 for _ in [0] if not stopped('slow')]"
    program = "def stopped(name):\n  try: tried(name)\n  except KeyboardInterrupt: return True\n"
    done = subprocess.run(
        [sys.executable, "-c", f"{FRESH}\n{program}print({caught})"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site.root), ROOT])},
        capture_output=True, text=True, check=True, timeout=30,
        preexec_fn=heed_interrupts,
    )  # fmt: skip
    assert done.stdout == "[]\n"
