"""What the reader of nearly-JSON has written so far, which streams hand on as it grows."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.parsing.repair.samples import damaged_json, written
from tunaeval.parsing.repair.machine import JsonReader
from tunaeval.parsing.window import Window


@given(text=damaged_json() | written(), step=st.integers(1, 9))
def test_what_was_written_so_far_is_sound_and_stays(text: str, step: int) -> None:
    """But for a string that still grows, it needs closers only; so it can be handed on at once."""
    window = Window()
    reader = JsonReader(window)
    reading, pieces = reader.read(), reader.pieces
    before: list[str] = []
    for at in range(0, len(text), step):
        window.feed(text[at : at + step])
        if next(reading, "done") == "done":
            break
        assert pieces[: len(before)] == before
        before = list(pieces)
        if pieces:
            assert is_sound("".join(pieces), reader.open)


def is_sound(written: str, opened: list[str]) -> bool:
    closers = "".join("}" if opener == "{" else "]" for opener in reversed(opened))
    for end in (closers, f'"{closers}'):
        try:
            json.loads(written + end, strict=True)
        except json.JSONDecodeError:
            continue
        return True
    return False


@given(text=written(), step=st.integers(1, 9))
def test_chunks_do_not_matter_to_what_is_written(text: str, step: int) -> None:
    assert drafted(text, step) == drafted(text, len(text))


def drafted(text: str, step: int) -> str:
    window = Window()
    reader = JsonReader(window)
    pieces = reader.pieces
    for at in range(0, len(text), step):
        window.feed(text[at : at + step])
        if reader.advance() is not None:
            break
    return "".join(pieces)
