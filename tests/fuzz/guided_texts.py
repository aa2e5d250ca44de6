"""Coverage-guided fuzzing with atheris: texts that reach new code of the parser are kept and bent.

    pip install atheris
    python tests/fuzz/guided_texts.py [CORPUS_DIRECTORY] [-runs=N] [-max_total_time=SECONDS]

The first byte chooses the format, the second how the text is read and cut; each further byte is a
piece of markup or of damage, or a character. A fault ends the run with a traceback, and the input
is kept in a file. The options are libFuzzer's.
"""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["tunaeval"]):
    from tunaeval.testing.selftest.measured import subjects
    from tunaeval.testing.selftest.streaming import broken_laws, steps
    from tunaeval.testing.selftest.texts import TOOLS, fixed_texts
    from tunaeval.testing.tape import FRAGMENTS
    from tunaeval.types.parsing import LEVELS

_READERS = [
    (subject.reader, [*fixed_texts(form), *FRAGMENTS])
    for subject in subjects()
    if subject.reader is not None
    for form in subject.forms
]
_CHARACTERS = "abcxyz_01279.+-eE :,\"'{}[]()<>/=|\\\n"


def one_input(data: bytes) -> None:
    """Read the text that these bytes stand for; a broken law is an error."""
    if len(data) < 3:
        return
    reader, pieces = _READERS[data[0] % len(_READERS)]
    alphabet = [*pieces, *_CHARACTERS]
    text = "".join(alphabet[byte % len(alphabet)] for byte in data[2:])
    tools, level = (None, TOOLS)[data[1] & 1], LEVELS[data[1] // 2 % len(LEVELS)]
    cutting = steps(text, 1 + data[1] // 6 % 9)
    faults = broken_laws(reader, text, [cutting], tools=tools, level=level)
    if faults:
        raise AssertionError(faults[0])


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
