"""Whatever is opened, wrapped and called in whatever order: each run is where it belongs, once."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

import tunaeval
from tests.scoring.sessions import Tool, in_a_thread, paths, task

ACTS = st.lists(
    st.tuples(
        st.sampled_from(["open", "close", "wrap", "call", "call in a thread"]), st.integers(0, 2)
    ),
    max_size=30,
)


@given(ACTS)
def test_each_run_is_recorded_once_by_every_session_that_it_is_for(
    acts: list[tuple[str, int]],
) -> None:
    """Sessions inside of each other hear of all that runs in them; of what runs in a thread, the
    last one that wrapped the tool, and those around it.
    """
    tools: list[Tool] = [lambda filepath: filepath for _ in range(3)]
    wrapped_by: list[list[int]] = [[], [], []]
    is_wrapped = [False] * 3
    stack: list[tunaeval.ScoringSession] = []
    wanted: list[Counter[str]] = []
    for number, (act, tool) in enumerate(acts):
        inside = len(stack)
        match act:
            case "open":
                stack.append(task(str(number)).__enter__())
                wanted.append(Counter())
            case "close" if stack:
                session = stack.pop()
                assert Counter(paths(session)) == wanted.pop()
                session.__exit__(None, None, None)
                wrapped_by = [[one for one in by if one < inside - 1] for by in wrapped_by]
            case "wrap" if stack:
                tools[tool] = stack[-1].wrap(tools[tool])
                is_wrapped[tool] = True
                wrapped_by[tool] = [one for one in wrapped_by[tool] if one != inside - 1]
                wrapped_by[tool].append(inside - 1)
            case "call":
                tools[tool](str(number))
                for expected in wanted if is_wrapped[tool] else ():
                    expected[str(number)] += 1
            case "call in a thread":
                in_a_thread(lambda tool=tool, number=number: tools[tool](str(number)))  # type: ignore[misc] # bound here
                for expected in wanted[: wrapped_by[tool][-1] + 1] if wrapped_by[tool] else ():
                    expected[str(number)] += 1
    while stack:
        session = stack.pop()
        assert Counter(paths(session)) == wanted.pop()
        session.__exit__(None, None, None)
