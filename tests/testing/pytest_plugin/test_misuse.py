"""What a test or a command line gets wrong is said in a sentence, without a traceback of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.testing.pytest_plugin.children import run

HEAD = """\
import pytest
from tunaeval.types.faults import Fail
"""
SUITE = '[{"id": "a", "prompt": "Run ls.", "expected_tool": "bash", "expected_args": {}}]'


def marked(arguments: str, body: str = "pass") -> str:
    return f"{HEAD}\n@pytest.mark.tunaeval({arguments})\ndef test_it(tunaeval_model): {body}\n"


MARKERS = [
    ("script='abc'", "script is 'abc'; wanted a list"),
    ("script=3", "script is 3; wanted a list"),
    ("script=[3]", "script[0] is 3; wanted a text"),
    ("script=[{'a': 1}]", "script[0] is {'a': 1}"),
    ("script=['a'], faults=Fail()", "in a list; write [Fail("),
    ("script=['a'], faults='fail'", "faults is 'fail'; wanted one of Fail"),
    ("script=['a'], faults=['fail']", "faults[0] is 'fail'"),
    ("script=['a'], format='nope'", "no format or parser is called 'nope'"),
    ("script=['a'], format=3", "3 is no format"),
    ("script=['a'], cassette='x.jsonl'", "has a script and a cassette; keep one"),
    ("cassette=3", "cassette is 3; wanted a path"),
    (r"cassette='a\0b'", "wanted a path without NUL"),
    ("cassette='none.jsonl'", "there is no cassette"),
    ("masks=['a']", "masks is ['a']; wanted patterns"),
    ("masks={3: 4}", "masks is {3: 4}; wanted patterns"),
    ("masks={'<x>': '('}", "the mask '<x>' cannot be used"),
    ("['a']", "an argument without a name"),
]


def test_what_a_marker_gets_wrong_is_one_sentence(tmp_path: Path) -> None:
    tests = [
        f"@pytest.mark.tunaeval({arguments})\ndef test_{number}(tunaeval_model): pass\n"
        for number, (arguments, _) in enumerate(MARKERS)
    ]
    child = run(tmp_path, files={"test_it.py": HEAD + "\n".join(tests)})
    assert child.counts == {"errors": len(MARKERS)}, child.said
    assert [words for _, words in MARKERS if words not in child.said] == []
    assert "another exception" not in child.said
    assert "Traceback" not in child.said
    assert "tunaeval/" not in child.said.replace(str(tmp_path), "")


CASSETTES: list[tuple[bytes, str]] = [
    (b"", "is empty; record it again"),
    (b"\0\xff\xfe", "or record it again"),
    (b'{"cassette": 1\n', "wanted a JSON object on one line"),
    (b"[1]\n", "a record is a JSON object, this is list"),
    (b"\xff\xfe\n", "wanted a JSON object on one line"),
    (b'{"cassette": 9, "masks": {}}\n', "is of version 9, and this tunaeval plays version 1"),
    (b'{"cassette": 1, "masks": {"<x>": "("}}\n', "the mask '<x>' cannot be used"),
    (
        b'{"cassette": 1, "masks": {}}\n{"key": 3}\n',
        "line 2: 'message' is {'key': 3}; field required",
    ),
]


def test_a_cassette_that_cannot_be_played_is_one_sentence(tmp_path: Path) -> None:
    names = range(len(CASSETTES))
    tests = [f"def test_{number}(tunaeval_model): pass\n" for number in names]
    folder = tmp_path / "cassettes" / "test_it"
    folder.mkdir(parents=True)
    for number, (data, _) in enumerate(CASSETTES):
        (folder / f"test_{number}.jsonl").write_bytes(data)
    child = run(tmp_path, files={"test_it.py": "\n".join(tests)})
    assert child.counts == {"errors": len(CASSETTES)}, child.said
    assert [words for _, words in CASSETTES if words not in child.said] == []
    assert child.said.count("record it again") >= len(CASSETTES)
    assert "another exception" not in child.said


EXPECTATIONS = [
    ("{", "cannot be read: Expecting property name"),
    ("[]", "wanted an object with calls"),
    ('{"calls": ["a"], "match": "nope"}', "no match mode is called 'nope'"),
    ('{"calls": [3]}', "item 0 is 3"),
]


def test_an_expectation_that_cannot_be_used_is_one_sentence(tmp_path: Path) -> None:
    names = range(len(EXPECTATIONS))
    tests = [f"def test_{number}(tunaeval_expected): pass\n" for number in names]
    folder = tmp_path / "expectations" / "test_it"
    folder.mkdir(parents=True)
    for number, (text, _) in enumerate(EXPECTATIONS):
        (folder / f"test_{number}.json").write_text(text)
    child = run(tmp_path, files={"test_it.py": "\n".join(tests)})
    assert child.counts == {"errors": len(EXPECTATIONS)}, child.said
    assert [words for _, words in EXPECTATIONS if words not in child.said] == []
    assert "another exception" not in child.said


def test_where_nothing_can_be_written_is_said(tmp_path: Path) -> None:
    text = "def test_it(tunaeval_expected): assert [] == tunaeval_expected\n"
    files = {"test_it.py": text, "expectations": "a file"}
    child = run(tmp_path, "--tunaeval-update", files=files)
    assert child.counts == {"error": 1}, child.said
    assert "expectations/test_it/test_it.json" in child.said
    assert "another exception" not in child.said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--tunaeval-repeats 0", "--tunaeval-repeats is 0; wanted a whole number, 1 or more"),
        ("--tunaeval-margin -3", "--tunaeval-margin is -3.0; wanted points"),
        ("--tunaeval-margin nan", "--tunaeval-margin is nan"),
        ("--tunaeval-pass-k 3", "--tunaeval-pass-k is '3'; wanted K=PERCENT"),
        ("--tunaeval-pass-k 0=50", "--tunaeval-pass-k is '0=50'"),
        ("--tunaeval-pass-k 3=80", "wanted at most as many as --tunaeval-repeats, 1"),
        ("--tunaeval-min-bound 101", "--tunaeval-min-bound is 101.0; wanted a percentage"),
        ("--tunaeval-baseline /nowhere", "wanted the directory of a run"),
    ],
)
def test_what_an_option_cannot_be_is_said_before_anything_is_asked(
    tmp_path: Path, words: str, said: str
) -> None:
    child = run(tmp_path, *words.split(), files={"t.tunaeval.json": SUITE})
    assert child.code == 4
    assert said in child.said
    assert "Traceback" not in child.said


USED = f"""{HEAD}
@pytest.mark.tunaeval(script=["a"])
def test_entered_again(tunaeval_model):
    with tunaeval_model:
        pass
"""


def test_an_endpoint_that_is_entered_again_says_so(tmp_path: Path) -> None:
    child = run(tmp_path, files={"test_it.py": USED})
    assert child.counts == {"failed": 1}, child.said
    assert "UsageError: this endpoint was entered before, which works once; make" in child.said
