"""Is the smaller file as good? Two quantisations asked the same, and the difference, in pairs.

    $ python examples/compare_two_quantisations.py model-Q8_0.gguf model-Q4_K_M.gguf

runs both files here (it needs the extra `local`), and two addresses ask two servers. Without
either, two models on loopback answer; the second forgets the flag of one command in twelve.

$ python examples/compare_two_quantisations.py
first 120 of 120, second 110 of 120
second less first: -8.3 points (-13.6 to -2.7)
lost: package-11, package-23, package-35 ...
as good, to within 5 points: not shown
"""

import json
import sys
import tempfile
from pathlib import Path

import tunaeval
from tunaeval.types.runs import Report, Suite


def rows() -> list[dict[str, object]]:
    """Yours: a few hundred questions like those that your users ask."""
    return [
        {
            "id": f"package-{number}",
            "prompt": f"Run the tests of package {number}, quietly.",
            "expected_tool": "bash",
            "expected_args": {"command": f"pytest -q package_{number}"},
        }
        for number in range(120)
    ]


def q8(request: tunaeval.ModelRequest) -> tunaeval.ToolCall:
    number = int(request.messages[-1]["content"].split()[5].rstrip(","))
    return tunaeval.ToolCall("bash", {"command": f"pytest -q package_{number}"})


def q4(request: tunaeval.ModelRequest) -> tunaeval.ToolCall:
    call = q8(request)
    command = str(call.arguments["command"])
    forgets = int(command.rpartition("_")[2]) % 12 == 11
    return tunaeval.ToolCall(
        "bash", {"command": command.replace("-q ", "") if forgets else command}
    )


def asked(suite: Suite, place: str) -> Report:
    """The same questions to the file, or to the server, with the same settings."""
    if place.startswith("http"):
        return tunaeval.run(suite, client="openai", base_url=place, seed=0, out=None)
    return tunaeval.run(suite, client="llamacpp", model_file=place, seed=0, out=None)


def main(*places: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "packages.json"
        file.write_text(json.dumps({"catalogue": "tunacode-2025-12", "scenarios": rows()}))
        suite = tunaeval.load_suite(file)
    with tunaeval.model_endpoint(q8) as one, tunaeval.model_endpoint(q4) as other:
        first, second = (asked(suite, place) for place in places or (one.url, other.url))
    found = tunaeval.compare(first, second)
    print(f"first {first.passed} of {first.total}, second {second.passed} of {second.total}")
    print("second less first:", found.overall.in_points)
    print("lost:", ", ".join(flip.scenario for flip in found.lost[:3]), "...")
    print("as good, to within 5 points:", "yes" if found.overall.clears(0.05) else "not shown")


main(*sys.argv[1:])
