"""Score an agent that is a loop of your own: ask, parse, execute, answer the model, ask again.

The model here is a script; a real client goes in its place.

$ python examples/score_bare_loop.py
read_file{'filepath': 'note.txt'}: exception, ... s
read_file{'filepath': 'notes.txt'}: assumed, ... s
goal-completion: 1.0, the check passed; signals: the assistant had the last word
plan-correctness: 1.0, steps: 2
success-ratio: 0.4, 1 of 2 succeeded, 1 failed, 0 without a result, 0 retried
repetition: 1.0, 0 of 2 calls repeat a call and its answer
context-efficiency: 1.0, about 41 tokens (characters / 4)
score: 0.94
"""

import asyncio

import tunaeval
from tunaeval import ScriptedClient
from tunaeval.types import JsonObject, Request
from tunaeval.types.roles import AnyTool

QUERY = "How many lines has notes.txt?"


def read_file(filepath: str) -> str:
    """Read a file."""
    if filepath != "notes.txt":
        raise FileNotFoundError(filepath)
    return "milk\nflour\neggs"


def says_three(conversation: tunaeval.Conversation) -> bool:
    """What decides: whether the last message has the right answer."""
    return "three" in conversation.messages[-1].content


def calling(number: int, filepath: str) -> JsonObject:
    function = {"name": "read_file", "arguments": f'{{"filepath": "{filepath}"}}'}
    return {"role": "assistant", "tool_calls": [{"id": f"c{number}", "function": function}]}


MODEL = ScriptedClient([calling(1, "note.txt"), calling(2, "notes.txt"), "It has three lines."])


async def agent(messages: list[JsonObject], tools: list[AnyTool]) -> None:
    while True:
        reply = (await MODEL.complete(Request(messages))).message
        messages.append(reply)
        found = tunaeval.parse_message(reply, tools=tools)
        if not found.calls:
            return
        results = await tunaeval.execute(found.calls, tools)
        messages += [result.as_openai() for result in results]


async def main() -> None:
    history: list[JsonObject] = []
    async with tunaeval.scoring_session(QUERY, messages=history, check=says_three) as session:
        history.append({"role": "user", "content": QUERY})
        await agent(history, [session.wrap(read_file)])
        for run in session.executions:
            print(f"{run.tool}{run.arguments}: {run.ok_reason}, {run.duration_seconds} s")
    assert session.score, session.failure
    for name, category in session.score.categories.items():
        print(f"{name}: {category.value}, {category.reason}")
    print(f"score: {session.score.weighted_total:.2f}")


asyncio.run(main())
