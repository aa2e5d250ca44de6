"""Random fuzzing: hostile values at any place of what the public entrances are given.

    python tests/fuzz/hostile_values.py [--seconds S] [--executions N] [--seed S] [--entrance NAME]

An execution is one call of a public function, or of the command line with a file, with something
sound in which one to three places were replaced: by another type, an empty or a huge value, a key
that is no text, half a character. Nothing but a documented error (`TunaevalError`) may come of it,
and the command line ends with one of its exit codes. The run ends after so many executions or
seconds; it prints one line of JSON for each kind of fault, and exits with 1 if there was one.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from types import FrameType
from typing import Any

from tests.fuzz.entrances import ENTRANCES, FILES, Entrance
from tunaeval.cli import main as tunaeval_main
from tunaeval.errors import TunaevalError

_PATIENCE_SECONDS = 10
_CODES = frozenset({0, 1, 2, 3})
_ODD_KEYS = (1, None, True, ("a", 1), b"a", 1.5, "", "\ud800", "\0", "$regex", "a" * 300)


_ODD_JSON: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 1.5, 10**400, -(10**30), 1e308, "", " ", "a", "\0", "\ud800",
    "\x1b[31m", "a" * 10_000, "1", "null", "{}", "[]", '{"a": 1}', "../../x", "/dev/zero", [], {},
    [[]], [{}], [None], [1, "a"], {"": {}}, {"a": None}, {"a": [{"a": []}]}, {"$regex": "("},
    {"type": "object"}, {"name": []}, {"role": {}}, {"$ref": "#"}, {"anyOf": 5}, ["a"] * 50,
)  # fmt: skip
_ODD: tuple[Any, ...] = (
    float("nan"), float("inf"), b"bytes", (), ("a",), {1: 2}, {None: {}}, {("a",): 1},
    {"a": {1: 1}}, frozenset(("a",)), object(), Path("x"), range(3), 1j, ValueError("x"), int, len,
)  # fmt: skip


def odd_values(dice: random.Random, *, is_json: bool) -> Any:
    """A value that is wrong nearly everywhere."""
    if dice.random() < 0.02:
        deep: Any = []
        for _ in range(dice.choice((3, 300, 2_000))):
            deep = [deep] if dice.random() < 0.5 else {"a": deep}
        return deep
    return dice.choice(_ODD_JSON if is_json else (*_ODD_JSON, *_ODD))


def damaged(value: Any, dice: random.Random, *, is_json: bool) -> Any:
    """The value with something odd at one place in it."""
    if isinstance(value, dict) and value and dice.random() < 0.85:
        key = dice.choice(list(value))
        kind = dice.random()
        if kind < 0.04:
            return {name: one for name, one in value.items() if name != key}
        if kind < 0.08:
            odd = dice.choice(_ODD_KEYS)
            name = odd if not is_json or isinstance(odd, str) else str(odd)
            return {**value, name: odd_values(dice, is_json=is_json)}
        return {**value, key: damaged(value[key], dice, is_json=is_json)}
    if isinstance(value, list) and value and dice.random() < 0.85:
        index = dice.randrange(len(value))
        inner = damaged(value[index], dice, is_json=is_json)
        return [*value[:index], inner, *value[index + 1 :]]
    return odd_values(dice, is_json=is_json)


def of_arguments(entrance: Entrance, dice: random.Random) -> dict[str, Any]:
    """The arguments of a call; which there are stays."""
    made = dict(entrance.sound())
    for _ in range(dice.choice((1, 1, 2, 3))):
        name = dice.choice(list(made))
        made[name] = damaged(made[name], dice, is_json=False)
    return made


def _shown(value: object) -> str:
    try:
        return f"{value!r:.400}"
    except Exception as error:  # noqa: BLE001 - deep, or of too many digits
        return f"(cannot be shown: {type(error).__name__})"


@dataclass(slots=True)
class Found:
    """The faults of a run by where they were raised, each with its first example."""

    executions: int = 0
    faults: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(self, entrance: str, given: object, error: BaseException) -> None:
        place = traceback.extract_tb(error.__traceback__)[-1]
        ours = [
            one for one in traceback.extract_tb(error.__traceback__) if "tunaeval/" in one.filename
        ]
        where = f"{Path((ours or [place])[-1].filename).name}:{(ours or [place])[-1].lineno}"
        said = f"{type(error).__name__}: {error!s:.400}"
        key = f"{entrance} {type(error).__name__} {where}"
        self.faults.setdefault(
            key, {"entrance": entrance, "where": where, "error": said, "given": _shown(given)}
        )


def fuzz(*, executions: int, seconds: float, seed: int, names: Sequence[str] = ()) -> Found:
    """Calls with damaged arguments, until there were enough of them."""
    dice, found, started = random.Random(seed), Found(), monotonic()
    chosen = [one for one in (*ENTRANCES, *FILES) if not names or one in names]
    before = signal.signal(signal.SIGALRM, _late)
    try:
        while found.executions < executions and monotonic() - started < seconds:
            name = chosen[found.executions % len(chosen)]
            found.executions += 1
            signal.setitimer(signal.ITIMER_REAL, _PATIENCE_SECONDS)
            if name in ENTRANCES:
                _call(name, dice, found)
            else:
                _command(name, dice, found)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return found


def _call(name: str, dice: random.Random, found: Found) -> None:
    entrance = ENTRANCES[name]
    given = of_arguments(entrance, dice)
    try:
        with quiet():
            entrance.call(**given)
    except TunaevalError as error:
        if not str(error).strip():
            found.add(name, given, error)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | MemoryError):
            raise
        found.add(name, given, error)


def _command(name: str, dice: random.Random, found: Found) -> None:
    file = FILES[name]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        given = {key: _content(rows, dice) for key, rows in file.sound().items()}
        for key, text in given.items():
            path = Path(folder, key)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
        try:
            with quiet() as (_, said):
                code = tunaeval_main(file.command)
            if code not in _CODES or "Traceback" in said.getvalue():
                raise AssertionError(f"exit {code}: {said.getvalue()[-300:]}")  # noqa: TRY301 - a fault
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt | MemoryError):
                raise
            found.add(name, given, error)


def _content(rows: Any, dice: random.Random) -> bytes:
    """A file of JSON, or of JSON lines where the value is a tuple of rows."""
    lines = list(rows) if isinstance(rows, tuple) else [rows]
    if dice.random() < 0.8:
        index = dice.randrange(len(lines))
        for _ in range(dice.choice((1, 1, 2))):
            lines[index] = damaged(lines[index], dice, is_json=True)
    try:
        data = "\n".join(json.dumps(one) for one in lines).encode()
    except (ValueError, RecursionError):
        data = b"[" * 5_000
    if dice.random() < 0.1:
        cut = dice.randrange(len(data) + 1)
        data = data[:cut] + dice.choice((b"", b"\xff", b"\0", b"\n\n", b"}")) + data[cut + 3 :]
    return data


@contextlib.contextmanager
def quiet() -> Iterator[tuple[io.TextIOWrapper, io.StringIO]]:
    out, said = io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
        yield out, said


def _late(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"not done after {_PATIENCE_SECONDS} s")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Hostile values for the public entrances.")
    parser.add_argument("--executions", type=int, default=sys.maxsize, help="at most so many calls")
    parser.add_argument("--seconds", type=float, default=60, help="at most so long (60)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed, the same values (0)")
    parser.add_argument("--entrance", action="append", default=[], help="only this one (all)")
    given = parser.parse_args(argv)
    found = fuzz(
        executions=given.executions, seconds=given.seconds, seed=given.seed, names=given.entrance
    )
    for fault in found.faults.values():
        print(json.dumps(fault))
    print(json.dumps({"executions": found.executions, "faults": len(found.faults)}))
    return 1 if found.faults else 0


if __name__ == "__main__":
    sys.exit(main())
