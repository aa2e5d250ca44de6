"""The law of streams: what any read of a message makes of it is the message, however it is written.

`python -m tests.wire.reads 100000` tries so many streams.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.wire.reads import TAPE_BYTES, checked, served, tapes
from tests.wire.writing import WAYS

raw_tapes = st.integers(0, 10**9).map(lambda seed: random.Random(seed).randbytes(TAPE_BYTES))
"""As long as any message needs; a shorter one would end in zeros."""


@pytest.mark.parametrize("api", WAYS)
@given(raw=raw_tapes)
@settings(max_examples=30)
def test_every_read_of_a_stream_is_the_message(api: str, raw: bytes) -> None:
    checked([raw], [api])


def test_every_read_of_many_streams_is_the_message() -> None:
    checked(tapes(200))


def test_the_client_reads_streams_from_a_server() -> None:
    served(tapes(40, seed=1))
