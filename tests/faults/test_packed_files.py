"""Files that are packed, damaged or too large: read alike by every command, in bounded memory."""

from __future__ import annotations

import gzip
import json
import resource
import subprocess
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import Tuna, environment, here
from tunaeval.errors import UsageError
from tunaeval.files.packed_files import opened, read_plain, read_whole
from tunaeval.limits import MAX_UNPACKED_BYTES

if TYPE_CHECKING:
    zstandard: Any = None
else:
    zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed")

__all__ = ["here"]

TRANSCRIPT = json.dumps([
    {"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}
]).encode()  # fmt: skip
TEMPLATE = b"{% for message in messages %}{{ message.content }}{% endfor %}"
TOOLS = json.dumps([{"name": "ls"}]).encode()
SUITE = json.dumps({"scenarios": [{"prompt": "p", "expected_tool": None}]}).encode()
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".zst": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
}
READ = {
    "score FILE": TRANSCRIPT,
    "convert FILE --to atif": TRANSCRIPT,
    "suites from-transcript FILE --turn 1 -o made.jsonl": TRANSCRIPT,
    "parse FILE": b"Hello.",
    "parse FILE --jsonl": b'{"text": "Hello."}\n',
    "parse words.txt --tools FILE": TOOLS,
    "template check FILE": TEMPLATE,
    "dataset check FILE": b'{"messages": [{"role": "user", "content": "Hi."}]}\n',
    "run --dry-run --suite s.json --client scripted --recording FILE": b'"Hello."\n',
    "run --dry-run --suite s.json --client scripted --recording a.jsonl --system-prompt FILE": (
        b"Be brief."
    ),
}
"""What each command reads, and what may be in it."""


def given_to(folder: Path, here: Tuna, command: str, data: bytes, suffix: str) -> Any:
    (folder / "words.txt").write_text("Hello.")
    (folder / "a.jsonl").write_text('"Hello."\n')
    (folder / "s.json").write_bytes(SUITE)
    (folder / f"in.jsonl{suffix}").write_bytes(data)
    return here(*command.replace("FILE", f"in.jsonl{suffix}").split())


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("command", READ)
def test_a_packed_file_is_read_as_the_plain_one(
    tmp_path: Path, here: Tuna, command: str, suffix: str
) -> None:
    plain = given_to(tmp_path, here, command, READ[command], "")
    (tmp_path / "made.jsonl").unlink(missing_ok=True)
    packed = given_to(tmp_path, here, command, PACKERS[suffix](READ[command]), suffix)
    assert "cannot be read" not in plain.stderr
    assert packed.returncode == plain.returncode
    assert packed.stdout.replace(suffix, "") == plain.stdout


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("command", READ)
def test_a_damaged_file_is_named_as_that(
    tmp_path: Path, here: Tuna, command: str, suffix: str
) -> None:
    good = PACKERS[suffix](READ[command] + bytes(range(256)) * 40)
    wrong = bytearray(good)
    wrong[len(wrong) // 2] ^= 0xFF
    for data in (good[:-3], good[: len(good) // 2], bytes(wrong)):
        done = given_to(tmp_path, here, command, data, suffix)
        assert done.returncode == 2, done.stdout
        assert "in.jsonl" in done.stderr
        assert "this file is damaged" in done.stderr


@given(data=st.binary(min_size=1, max_size=300), at=st.integers(0, 10_000), bit=st.integers(0, 7),
       cut=st.booleans(), suffix=st.sampled_from([*PACKERS]))  # fmt: skip
def test_no_change_of_a_byte_is_a_traceback(
    tmp_path_factory: pytest.TempPathFactory,
    data: bytes,
    at: int,
    bit: int,
    suffix: str,
    *,
    cut: bool,
) -> None:
    packed = bytearray(PACKERS[suffix](data))
    at %= len(packed)
    packed[at] ^= 1 << bit
    path = tmp_path_factory.getbasetemp() / f"changed{suffix}"
    path.write_bytes(packed[:at] if cut else packed)
    with suppress(UsageError):
        read_whole(str(path))


def test_a_damaged_file_of_a_folder_is_refused_and_the_others_are_scored(
    tmp_path: Path, here: Tuna
) -> None:
    for name in ("a", "c"):
        (tmp_path / f"{name}.json.gz").write_bytes(gzip.compress(TRANSCRIPT))
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(TRANSCRIPT)[:-9])
    (tmp_path / "d.json.gz").write_bytes(gzip.compress(TRANSCRIPT)[:10] + b"\xff" * 40)
    done = here("score", str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.count("refused: ") == done.stderr.count("this file is damaged") == 2
    assert "transcripts 2" in done.stdout
    assert "refused 2" in done.stdout


BOMB = gzip.compress(bytes(1 << 20)) * ((MAX_UNPACKED_BYTES >> 20) + 1)
"""Under 300 kB in many members, and one MiB more than is read whole."""
IN_SMALL_MEMORY = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
from tunaeval.cli import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("command", ["score FILE", "parse FILE", "convert FILE --to atif",
                                     "template check FILE", "parse words.txt --tools FILE",
                                     "convert FILE --from json --to hermes"])  # fmt: skip
def test_what_unpacks_to_too_much_is_refused_in_bounded_memory(
    tmp_path: Path, command: str
) -> None:
    (tmp_path / "bomb.gz").write_bytes(BOMB)
    (tmp_path / "words.txt").write_text("Hello.")
    words = command.replace("FILE", "bomb.gz").split()
    done = subprocess.run(
        [sys.executable, "-c", IN_SMALL_MEMORY, str(3 * MAX_UNPACKED_BYTES), *words],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "bomb.gz" in done.stderr
    assert "has more than" in done.stderr
    assert "Traceback" not in done.stderr


def test_lines_of_a_packed_file_may_be_more_than_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl.gz"
    path.write_bytes(gzip.compress((b"x" * 1023 + b"\n") * 1024) * 300)
    with opened(str(path)) as file:
        assert sum(1 for _ in file) == 300 * 1024
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 4 << 20


def test_what_the_block_raises_is_no_fault_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("words")
    for error in (OSError(28, "No space left on device"), EOFError("mine"), zlib.error("mine")):
        with pytest.raises(type(error)) as caught, opened(str(path)):
            raise error
        assert caught.value is error


def test_the_limit_is_that_of_the_unpacked_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(bytes(1000)))
    assert len(read_plain(path, 1000)) == 1000
    with pytest.raises(OSError, match="it has more than 999 bytes"):
        read_plain(path, 999)
