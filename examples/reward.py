"""A reward for a training loop: what the right call is worth, and what comes near it.

A call that had to be mended earns less, so that a model learns to write it right.

    $ python examples/reward.py
     1.0  the call, written right
     0.8  the call, mended
     0.2  a call, but not this one
     0.0  words alone
    -0.5  a call that cannot be read
"""

import tunaeval

TOOLS = tunaeval.load_suite("tunacode").tools
WANTED = {"calls": [{"name": "read_file", "arguments": {"filepath": "a.py"}}]}
RIGHT = '<tool_call>{"name": "read_file", "arguments": {"filepath": "a.py"}}</tool_call>'


def reward(completion: str) -> float:
    result = tunaeval.parse(completion, tools=TOOLS)
    if result.outcome != "calls":
        return 0.0 if result.outcome == "no_call" else -0.5
    if not tunaeval.match(WANTED, result.calls, tools=TOOLS).ok:
        return 0.2
    return 0.8 if any(call.repairs for call in result.calls) else 1.0


COMPLETIONS = {
    "the call, written right": RIGHT,
    "the call, mended": RIGHT.replace("}}", "},}"),
    "a call, but not this one": RIGHT.replace("a.py", "b.py"),
    "words alone": "I would read the file.",
    "a call that cannot be read": RIGHT.replace('{"filepath": "a.py"}', "a.py"),
}
for what, completion in COMPLETIONS.items():
    print(f"{reward(completion):4}  {what}")
