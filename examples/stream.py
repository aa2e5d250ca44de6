"""Follow a reply while it arrives: the name is known before the arguments are there.

$ python examples/stream.py
content         'Looking. '
call_started    read_file
call_finished   {'filepath': 'a.py'}
the whole text gives the same: True
"""

import tunaeval

CHUNKS = [
    "Look",
    'ing. <tool_call>\n{"name": "read',
    '_file", "argum',
    'ents": {"filepath": "a',
    '.py"}}\n</tool_',
    "call>",
]

reader = tunaeval.stream(format="hermes")
content = ""
for chunk in CHUNKS:
    for event in reader.feed(chunk):
        match event.kind:
            case "content":
                content += event.text
            case "call_started":
                print(f"{'content':15} {content!r}")
                print(f"{event.kind:15} {event.name}")
            case "call_finished" if event.call:
                print(f"{event.kind:15} {event.call.arguments}")
            case _:
                pass

same = reader.finish() == tunaeval.parse("".join(CHUNKS), format="hermes")
print("the whole text gives the same:", same)
