"""Archives of Inspect that are bombs, or were damaged: one error, little memory, no time."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.cli.conftest import environment
from tests.data.adapters.test_inspect_ai import archive, sample
from tests.faults.runs import within
from tunaeval.data.adapters.documents import read_file
from tunaeval.errors import UsageError


def packed(*texts: bytes) -> bytes:
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, text in enumerate(texts):
            archive.writestr(f"samples/{number}_epoch_1.json", text)
    return kept.getvalue()


def test_a_sample_that_unpacks_to_too_much_is_refused() -> None:
    bomb = packed(b'{"id": 1, "x": "' + b" " * (1 << 28) + b'"}')
    assert len(bomb) < 1 << 20
    with within(2), pytest.raises(UsageError, match="unpacks to more than 33,554,432 bytes"):
        read_file(bomb)


def test_many_samples_together_are_bounded_too() -> None:
    text = json.dumps({**sample(), "target": " " * (20 << 20)}).encode()
    with pytest.raises(UsageError, match="unpacks to more than"):
        read_file(packed(*[text] * 5))
    assert len(read_file(packed(text, text))) == 2


@pytest.mark.skipif(not Path("/proc").exists(), reason="Linux says how much memory it was")
def test_a_bomb_costs_the_command_line_little_memory(tmp_path: Path) -> None:
    """By values, too: short texts of JSON become large objects."""
    (tmp_path / "bomb.eval").write_bytes(packed(b"[" + b"[]," * (1 << 28 >> 1) + b"0]"))
    code = (
        "import sys; from pathlib import Path; from tunaeval.cli import main; main(sys.argv[1:]); "
        "words = Path('/proc/self/status').read_text().split(); "
        "print(int(words[words.index('VmHWM:') + 1]) // 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "score", "bomb.eval"],
        capture_output=True, text=True, check=True, cwd=tmp_path, env=environment(), timeout=60,
    )  # fmt: skip
    assert "bomb.eval" in done.stderr
    assert int(done.stdout.split()[-1]) < 200


def test_damaged_archives_are_wrong_use_and_nothing_else() -> None:
    chance, whole = random.Random(7), archive()
    for _ in range(1500):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 8)):
            data[chance.randrange(4, len(data))] = chance.randrange(256)
        if chance.random() < 0.3:
            del data[chance.randrange(4, len(data)) :]
        try:
            read_file(bytes(data))
        except UsageError:
            continue
