"""A scoring category whose weight can be used for nothing is refused when it is registered."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tunaeval.errors import PluginShapeError
from tunaeval.types.conversations import Transcript
from tunaeval.types.runs import CategoryScore


class Weighs:
    name = "weighs"

    def __init__(self, weight: float) -> None:
        self.weight = weight

    async def score(self, transcript: Transcript) -> CategoryScore:
        return CategoryScore(value=1.0, reason=f"{len(transcript.messages)} messages")


@given(st.floats(max_value=-5e-324) | st.sampled_from([math.nan, math.inf]))
def test_a_weight_below_0_or_without_end_is_refused(weight: float) -> None:
    with pytest.raises(PluginShapeError, match=r"its weight is .*; wanted a number from 0 up"):
        tunaeval.registries()["scorers"].add("weighs", Weighs(weight))


def test_a_weight_of_0_is_one() -> None:
    registry = tunaeval.registries()["scorers"]
    registry.add("weighs-nothing", Weighs(0))
    assert "weighs-nothing" in registry
