"""`tunaeval reward stress MODULE:FUNCTION`: what a reward function pays for exploits."""

from __future__ import annotations

import argparse
from collections import Counter

from tunaeval.errors import UsageError
from tunaeval.showing import brief, counted
from tunaeval.testing.stress import Paid, exploits, paid
from tunaeval.types.calls import JsonObject

from .named_tools import named_object, working_directory_first
from .output import Output, print_listing

_FOOLED = 1
_COLUMNS = ("verdict", "group", "exploit", "pays", "honest", "why")


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Return 1 if an exploit earns as much as the honest answer, or if the function abstains from
    all.
    """
    place, as_text = arguments.function, arguments.shape == "text"
    cases = exploits(*arguments.only)
    with working_directory_first():
        function = named_object(place, "reward stress")
        if not callable(function):
            raise UsageError(f"reward stress {place!r} is {brief(function)}; wanted a function")
        found = [
            paid(one, function, as_text=as_text, gold=arguments.gold, tools=arguments.tools)
            for one in cases
            if not as_text or isinstance(one.completion, str)
        ]
    verdicts = Counter(one.verdict for one in found)
    found.sort(key=lambda one: one.verdict != "fooled")
    rows = [_row(one) for one in found]
    print_listing(output, "exploits", rows, _COLUMNS, as_json=arguments.json)
    left_out = len(cases) - len(found)
    output.note(
        f"tunaeval: {place}: {verdicts['fooled']} of "
        f"{counted(sum(not one.exploit.is_honest for one in found), 'exploit')} earn as much as "
        f"the honest answer; it abstains from {verdicts['abstains']}"
        + (f"; {left_out} in messages are left out" if left_out else "")
    )
    return _FOOLED if verdicts["fooled"] or not found or set(verdicts) == {"abstains"} else 0


def _row(found: Paid) -> JsonObject:
    return {
        "verdict": found.verdict,
        "group": found.exploit.group,
        "exploit": found.exploit.name,
        "pays": found.value,
        "honest": found.honest,
        "why": found.exploit.why,
    }
