"""Random fuzzing: hostile texts in every format, whole against streamed, at all levels.

    python tests/fuzz/random_texts.py [--executions N] [--seconds S] [--seed S] [--format NAME]

An execution is one text: read whole at the three levels, and streamed in one cutting at one of
them. One that takes ten seconds of the processor is a fault too, for then it never ends. The run
ends after so many executions or seconds, or with the first five faults; it prints one line of JSON,
and exits with 1 if there was a fault.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Iterator, Sequence
from time import monotonic
from types import FrameType

from tunaeval.testing.selftest.measured import Measured, MeasuredFault, Subject, subjects
from tunaeval.testing.selftest.streaming import broken_laws, steps
from tunaeval.testing.selftest.texts import TOOLS, TextMaker
from tunaeval.types.parsing import LEVELS

_MOST_FAULTS = 5
_PATIENCE_SECONDS = 10


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _arguments(argv)
    found = fuzz(
        subjects(arguments.format),
        executions=arguments.executions,
        seconds=arguments.seconds,
        seed=arguments.seed,
    )
    print(json.dumps(found.line()))
    return 0 if found.ok else 1


def fuzz(measured: Sequence[Subject], *, executions: int, seconds: float, seed: int) -> Measured:
    """Texts in each format in turn, until there were enough of them or of faults."""
    started, done = monotonic(), 0
    faults: list[MeasuredFault] = []
    before = signal.signal(signal.SIGVTALRM, _late)
    try:
        for found in _executions(measured, seed):
            faults += found
            done += 1
            if len(faults) >= _MOST_FAULTS or done >= executions or monotonic() - started > seconds:
                break
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    spent = round(monotonic() - started, 1)
    figures = {"formats": len(measured), "seed": seed, "executions": done, "seconds": spent}
    return Measured("random texts", figures, tuple(faults))


def _executions(measured: Sequence[Subject], seed: int) -> Iterator[list[MeasuredFault]]:
    """What is wrong with each text, without end."""
    pairs = [
        (subject.reader, TextMaker(form, seed))
        for subject in measured
        if subject.reader is not None
        for form in subject.forms
    ]
    while True:
        for reader, maker in pairs:
            random = maker.random
            text = random.choice((maker.damaged, maker.damaged, maker.hostile))()
            size = random.choice((1, 1, 2, 3, 5, 9, 17))
            cutting = maker.cutting(text) if random.random() < 0.3 else steps(text, size)
            tools = random.choice((None, TOOLS))
            level = random.choice(LEVELS)
            signal.setitimer(signal.ITIMER_VIRTUAL, _PATIENCE_SECONDS)
            yield broken_laws(reader, text, [cutting], tools=tools, level=level)


def _late(_number: int, _frame: FrameType | None) -> None:
    """Raised in the midst of an execution, where it is a fault like all that is raised there."""
    raise TimeoutError(f"not read after {_PATIENCE_SECONDS} s")


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Random texts against the laws of the parser.")
    parser.add_argument("--executions", type=int, default=sys.maxsize, help="at most so many texts")
    parser.add_argument("--seconds", type=float, default=60, help="at most so long (60)")
    parser.add_argument("--seed", type=int, default=0, help="the same seed, the same texts (0)")
    parser.add_argument("--format", action="append", default=[], help="only this one (all)")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
