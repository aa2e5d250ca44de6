"""What a comparison says it could have found is no more than there can be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.reports.test_compare import page, run
from tunaeval import compare

verdicts = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30)


@given(verdicts)
def test_no_difference_is_said_that_there_cannot_be(pairs: list[tuple[bool, bool]]) -> None:
    found = compare(run(*(a for a, _ in pairs)), run(*(b for _, b in pairs)))
    overall = found.overall
    said = " ".join(page(found).split())
    assert -1 <= overall.low <= overall.high <= 1
    if overall.detectable is None:
        assert "too few to find any difference with a probability of 80 %" in said
    else:
        assert 0 < overall.detectable <= 1
        assert f"difference of {100 * overall.detectable:.1f} points would be found" in said


def test_a_handful_of_scenarios_finds_nothing() -> None:
    a, b = run(True, False, True, False), run(False, True, True, False)
    assert compare(a, b).overall.detectable is None
