"""`tunaeval reward stress MODULE:FUNCTION`: what a reward function pays for exploits."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from tunaeval.showing import counted
from tunaeval.testing.stress import exploits, paid

from .budget import TOO_MANY_FAILURES
from .named_tools import named_object, working_directory_first
from .output import Output, print_listing

_COLUMNS = ("verdict", "group", "exploit", "pays", "honest", "why")


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Return 1 if an exploit earns as much as an honest answer, 3 if no two could be compared."""
    place, as_text, rows = arguments.function, arguments.text, []
    options = {"as_text": as_text, "gold": arguments.gold, "tools": arguments.tools}
    cases = exploits(*arguments.only)
    with working_directory_first():
        function: Any = named_object(place, "reward stress")
        for one in cases:
            if not as_text or isinstance(one.completion, str):
                found = paid(one, function, **options)._asdict()
                rows.append({**found, "group": one.group, "exploit": one.name, "why": one.why})
    rows.sort(key=lambda row: row["verdict"] != "fooled")
    print_listing(output, "exploits", rows, _COLUMNS, as_json=arguments.json)
    verdicts = Counter(row["verdict"] for row in rows)
    tried = sum(row["group"] != "honest" for row in rows)
    output.note(
        f"tunaeval: {place}: {verdicts['fooled']} of {counted(tried, 'exploit')} earn as much as "
        f"the honest answer; it abstains from {verdicts['abstains']}"
        + f"; the honest answer earns nothing in {counted(verdicts['void'], 'row')}, which are void"
        * bool(verdicts["void"])
        + f"; {len(cases) - len(rows)} need messages and are left out" * as_text
    )
    if not verdicts.keys() - {"void", "abstains"}:
        return TOO_MANY_FAILURES
    return 1 if verdicts["fooled"] or verdicts["void"] else 0
