"""Read the calls out of what a model wrote, and see what had to be repaired.

$ python examples/parse_a_text.py
outcome: calls
content: I will look at the file first.
read_file {'filepath': 'src/main.py', 'limit': 20}
  hermes at 44..123: trailing-comma, type
"""

import tunaeval


def read_file(filepath: str, offset: int = 0, limit: int = 100) -> str:
    """Read a file."""
    return f"{filepath}, {limit} lines from {offset}"


TEXT = """\
I will look at the file first.

<tool_call>
{"name": "read_file", "arguments": {"filepath": "src/main.py", "limit": "20",}}
</tool_call>"""

result = tunaeval.parse(TEXT, tools=[read_file])
print("outcome:", result.outcome)
print("content:", result.content.strip())
for call in result.calls:
    print(call.name, call.arguments)
    place = f"{call.span.start}..{call.span.end}" if call.span else "nowhere"
    print(f"  {call.format} at {place}:", ", ".join(repair.code for repair in call.repairs))
