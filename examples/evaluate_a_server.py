"""Ask a server of your own a suite, and see what it did: the score, why not, and how sure that is.

    $ python examples/evaluate_a_server.py http://127.0.0.1:8000/v1 my-model

Without an address it asks one on loopback, whose model never makes two calls at once:

$ python examples/evaluate_a_server.py
<Report of 'smoke' by 'endpoint': 11 of 12 passed, 91.7 % (64.6 to 98.5)>
two-reads: no call of 'read_file'
"""

import sys
from contextlib import nullcontext
from typing import Any

import tunaeval

SUITE = tunaeval.load_suite("smoke")
WANTED = {one.prompt: one.expect.calls for one in SUITE.scenarios}


def answer(request: tunaeval.ModelRequest) -> list[tunaeval.ToolCall] | str:
    """The first call that is wanted, by heart; of a matcher, the first value that it takes."""
    calls = WANTED[request.messages[-1]["content"]] or ()
    for call in calls:
        arguments: dict[str, Any] = {
            key: value["$any_of"][0] if isinstance(value, dict) else value
            for key, value in call.arguments.items()
        }
        return [tunaeval.ToolCall(call.name, arguments)]
    return "No tool is needed."


def main(url: str = "", model: str = "endpoint") -> None:
    with nullcontext() if url else tunaeval.model_endpoint(answer) as served:
        report = tunaeval.run(
            SUITE,
            client="openai",
            base_url=url if served is None else served.url,
            model=model,
            out=None,  # or a directory: then `tunaeval show` and `compare` find the run again
        )
    print(report)
    for result in report.results:
        if not result.ok:
            print(f"{result.scenario}: {result.reason}")


main(*sys.argv[1:])
