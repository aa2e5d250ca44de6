"""Plug-ins that hang, end the process or patch it: others are listed, and they are named."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import environment
from tests.faults.runs import within
from tests.interrupts import heed_interrupts
from tests.test_registry import PARSER, Site

SOURCES = {
    "hangs": "import time\nwhile True: time.sleep(9)",
    "deaf": "import time\nwhile True:\n  try: time.sleep(9)\n  except BaseException: pass",
    "leaves": "import os\nos._exit(0)",
    "quits": "import sys\nsys.exit(0)",
    "dies": "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "loud": f"import os\nprint('loud words')\nos.write(1, b'loud bytes')\n{PARSER}",
    "patches": f"import builtins, json, os, sys\njson.dumps = os.write = print = None\n"
    f"sys.exit = sys.stdout = sys.stderr = None\nos.environ.clear()\n{PARSER}",
    "forks": f"import os, time\nif os.fork() == 0:\n  time.sleep(60)\n  os._exit(0)\n{PARSER}",
    "stays": "import os, time\nif os.fork() == 0:\n  os.setsid()\n  os.closerange(0, 3)\n"
    f"  time.sleep(30)\n  os._exit(0)\n{PARSER}",
    "shut": "import os, time\nos.closerange(0, 99)\n"
    "while True:\n  try: time.sleep(9)\n  except BaseException: pass",
    "mute": f"import signal\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\n{PARSER}",
    "sound": PARSER,
}
GOOD = {"loud", "patches", "forks", "stays", "mute", "sound"}
WHY = {
    "hangs": "it did not end within 1 s",
    "shut": "it did not end within 1 s",
    "deaf": "it did not end within 1 s",
    "leaves": "it ended the process that looked at it (exit code 0)",
    "quits": "SystemExit: 0",
    "dies": "it ended the process that looked at it (signal 9)",
}
LATE = """
import os, time
class Late:
    name = "late"
    def parse(self, text, *, tools=None, level="standard"):
        {}
mine = Late()
"""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def started(site: Site, *words: str, seconds: float = 1) -> subprocess.Popen[str]:
    (site.root / "a.txt").write_text("hello")
    return subprocess.Popen(
        [sys.executable, "-m", "tunaeval", *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=site.root,
        env={**environment(site.root), "TUNAEVAL_IMPORT_SECONDS": str(seconds)},
        preexec_fn=heed_interrupts,  # noqa: PLW1509 - nothing here that a fork could break
    )  # fmt: skip


def done(site: Site, *words: str) -> tuple[int | None, str, str]:
    with started(site, *words) as child:
        out, err = child.communicate(timeout=60)
    return child.returncode, out, err


@pytest.mark.parametrize(
    "command", [("plugins", "--group", "parsers", "--json"), ("formats", "--json")]
)
def test_whatever_a_plugin_does_the_others_are_listed(site: Site, command: tuple[str, ...]) -> None:
    # A listing of formats uses those that work.
    used = {"forks", "loud", "patches", "shut", "stays"} if command[0] == "formats" else set()
    names = SOURCES.keys() - used
    for name in names:
        site.install(f"tuna-{name}", SOURCES[name], name=name)
    code, out, err = done(site, *command)
    rows = {row["name"]: row for row in json.loads(out)[command[0]]}
    assert {name for name in names if rows[name]["status"] == "ok"} == GOOD - used
    for name in WHY.keys() - used:
        assert f"parser {name!r} of tuna-{name} 1.0" in rows[name]["reason"]
        assert WHY[name] in rows[name]["reason"]
    assert (rows["hermes"]["status"], code) == ("ok", 1 if command[0] == "plugins" else 0)
    assert "loud" not in out.replace('"tuna-loud 1.0"', "").replace('"loud"', "")
    assert ("loud bytes" in err) == ("loud" in names)


def test_a_format_is_shown_without_a_look_at_the_others(site: Site) -> None:
    site.install("tuna-hangs", SOURCES["hangs"], name="hangs")
    with within(20), started(site, "formats", "hermes", seconds=60) as child:
        child.communicate(timeout=120)
    assert child.returncode == 0


def test_using_one_that_exits_is_a_sentence(site: Site) -> None:
    site.install("tuna-quits", SOURCES["quits"], name="quits")
    code, out, err = done(site, "parse", "a.txt", "--format", "quits")
    assert (code, out) == (2, "")
    assert err.startswith("tunaeval: format or parser 'quits' of tuna-quits 1.0 cannot be imported")
    assert WHY["quits"] in err
    assert err.count("\n") == 1


HUNG = "open('hung', 'w').close()"
"""A plug-in's first line, which says that it was reached: on a busy machine that takes its time."""


def interrupted(site: Site, child: subprocess.Popen[str], times: int = 1) -> str:
    """What is said on stderr after so many Ctrl-C, the first once the plug-in hangs."""
    give_up = time.monotonic() + 60
    while not (site.root / "hung").exists() and time.monotonic() < give_up:
        time.sleep(0.05)
    for _ in range(times):
        time.sleep(1)
        child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=120)
    assert child.returncode == 130
    return err


@pytest.mark.parametrize(
    "source", [f"{HUNG}\n{SOURCES['hangs']}", LATE.format(f"{HUNG}; time.sleep(99)")]
)
def test_an_interrupt_ends_one_that_hangs(site: Site, source: str) -> None:
    site.install("tuna-slow", source, name="slow")
    with started(site, "parse", "a.txt", "--format", "slow", seconds=60) as child:
        err = interrupted(site, child)
    assert err == "tunaeval: interrupted\n"


def test_two_interrupts_end_one_that_does_not_heed_the_first(site: Site) -> None:
    site.install("tuna-deaf", f"{HUNG}\n{SOURCES['deaf']}", name="deaf")
    with started(site, "parse", "a.txt", "--format", "deaf", seconds=60) as child:
        err = interrupted(site, child, 2)
    assert "interrupted at once" in err


def test_an_interrupt_names_the_one_that_hangs_a_listing(site: Site) -> None:
    site.install("tuna-hangs", f"{HUNG}\n{SOURCES['hangs']}", name="hangs")
    with started(site, "plugins", seconds=60) as child:
        err = interrupted(site, child)
    assert err == (
        "tunaeval: interrupted while format or parser 'hangs' of tuna-hangs 1.0 was looked at\n"
    )
