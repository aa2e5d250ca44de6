"""Six kinds of damage to the JSON of one call: our `read_json` beside two other repairers.

    python benchmarks/malformed.py [--rounds 25] [--json] [--check]

json_repair (Python) and fast_json_repair (Rust) take part when they are installed
(`pip install 'tunaeval[bench]'`). They give a value and nothing more; `read_json` also names each
repair, says where it is, and which level allows it. A figure whose reader finds another value
than the undamaged text has is marked.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from statistics import median
from typing import Any

from measuring import Aim, Work, in_turns, options, print_results, ratio

from tunaeval.parsing.repair.machine import read_json
from tunaeval.parsing.repair.values import Read

SOUND = (
    '{"name": "write_file", "arguments": {"filepath": "notes/today.md", '
    '"content": "one\\ntwo", "append": true}}'
)
CALL = json.loads(SOUND)

DAMAGED = {
    "none": SOUND,
    "single quotes": SOUND.replace('"', "'"),
    "Python literals": SOUND.replace("true", "True"),
    "trailing commas": SOUND.replace("true}}", "true,},}"),
    "bare keys": SOUND.replace('"name"', "name").replace('"arguments"', "arguments"),
    "raw newline in a string": SOUND.replace("\\n", "\n"),
    "missing closer": SOUND[:-1],
}

OURS = "read_json"
PEERS: dict[str, tuple[str, Callable[[Any], object]]] = {
    OURS: ("", lambda read: read.value if isinstance(read, Read) else read),
    "json_repair": ("json_repair", lambda value: value),
    "fast_json_repair": ("fast_json_repair", lambda value: value),
}
"""What each is imported from, and how the value is taken from what it gives."""

AIMS = {
    "json_repair": ("at least 10 times faster than", 10.0),
    "fast_json_repair": ("at most twice the time of", 0.5),
}
"""For damaged text, as the least that a peer may take, in times of ours."""


def readers() -> dict[str, Callable[[str], Any]]:
    """Those that are here."""
    rivals = {name: package for name, (package, _) in PEERS.items() if package}
    found = {name: import_module(p).loads for name, p in rivals.items() if find_spec(p)}
    return {OURS: read_json, **found}


def main() -> None:
    given = options(__doc__, rounds=25).parse_args()
    peers = readers()
    rows: list[list[object]] = []
    document: dict[str, dict[str, dict[str, float | bool]]] = {}
    for damage, text in DAMAGED.items():
        right = {name: PEERS[name][1](read(text)) == CALL for name, read in peers.items()}
        works = {name: Work(read, (text,)) for name, read in peers.items()}
        rounds = in_turns(works, given.rounds)
        document[damage] = {
            name: {
                "us": median(rounds[name]),
                "ratio": ratio(rounds, name, OURS),
                "right": right[name],
            }
            for name in peers
        }
        rows.append([damage, *(_cell(document[damage][name]) for name in peers)])
    print_results(
        given,
        columns=[f"µs (times {OURS}), {len(SOUND)} characters", *peers],
        rows=rows,
        document={"damage": document},
        aims=[aim for name in peers if name in AIMS for aim in [_aim(name, document)]],
    )


def _aim(peer: str, document: dict[str, dict[str, dict[str, float | bool]]]) -> Aim:
    wanted, least = AIMS[peer]
    found = {damage: row[peer]["ratio"] for damage, row in document.items() if damage != "none"}
    worst = min(found, key=lambda damage: found[damage])
    said = f"{peer} takes {found[worst]:.2f} times ours at the least ({worst})"
    return Aim(f"{wanted} {peer}, whatever the damage", said, found[worst] >= least)


def _cell(figures: dict[str, float | bool]) -> str:
    wrong = "" if figures["right"] else ", reads another value"
    return f"{figures['us']:.1f} ({figures['ratio']:.2f}{wrong})"


if __name__ == "__main__":
    main()
