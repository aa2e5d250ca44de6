"""A reward for a training loop: what the right call is worth, and what comes near it.

$ python examples/reward.py
1.000  the call, written right
0.800  the call, repaired
0.300  a call, but not this one
0.475  the call, and one that cannot be read
0.000  a call that cannot be read
0.000  words alone
"""

import tunaeval
from tunaeval.rewards import Gold, reward

TOOLS = tunaeval.load_suite("tunacode").tools
GOLD = Gold.of([{"name": "read_file", "arguments": {"filepath": "a.py"}}], TOOLS)
RIGHT = '<tool_call>{"name": "read_file", "arguments": {"filepath": "a.py"}}</tool_call>'

COMPLETIONS = {
    "the call, written right": RIGHT,
    "the call, repaired": RIGHT.replace("}}", "},}"),
    "a call, but not this one": RIGHT.replace("a.py", "b.py"),
    "the call, and one that cannot be read": RIGHT + RIGHT.replace('{"filepath": "a.py"}', "a.py"),
    "a call that cannot be read": RIGHT.replace('{"filepath": "a.py"}', "a.py"),
    "words alone": "I would read the file.",
}
for what, completion in COMPLETIONS.items():
    print(f"{reward(completion, GOLD).value:.3f}  {what}")
