"""Score an agent of LangChain's parts: its tools, its messages, and a small loop between them.

The model here is a script; a real chat model goes in its place.

$ python examples/score_langchain.py
read_file{'filepath': 'list.txt'}: assumed, ... s
subtract{'amount': 20, 'parts': [2, 3, 4]}: assumed, ... s
goal-completion: 1.0, the check passed; signals: the assistant had the last word
plan-correctness: 1.0, steps: 2
success-ratio: 1.0, 2 of 2 succeeded, 0 failed, 0 without a result, 0 retried
repetition: 1.0, 0 of 2 calls repeat a call and its answer
context-efficiency: 1.0, about 48 tokens (characters / 4)
score: 1.00
"""

from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall
from langchain_core.tools import BaseTool, tool

import tunaeval

QUERY = "What is on the list, and what is left of 20 after it?"


@tool
def read_file(filepath: str) -> str:
    """Read a file."""
    return f"{filepath}: milk 2, flour 3, eggs 4"


@tool
def subtract(amount: int, parts: list[int]) -> int:
    """Take parts off an amount."""
    return amount - sum(parts)


def says_eleven(conversation: tunaeval.Conversation) -> bool:
    """What decides: whether the last message has the right answer."""
    return "11" in conversation.messages[-1].content


def calling(number: int, name: str, **args: object) -> AIMessage:
    call = ToolCall(name=name, args=args, id=f"c{number}")
    return AIMessage("", tool_calls=[call])


MODEL = FakeMessagesListChatModel(
    responses=[
        calling(1, "read_file", filepath="list.txt"),
        calling(2, "subtract", amount=20, parts=[2, 3, 4]),
        AIMessage("Milk, flour and eggs; 11 are left."),
    ]
)


def agent(messages: list[BaseMessage], tools: dict[str, BaseTool]) -> None:
    while True:
        reply = MODEL.invoke(messages)
        messages.append(reply)
        if not reply.tool_calls:
            return
        messages += [tools[call["name"]].invoke(call) for call in reply.tool_calls]


history: list[BaseMessage] = []
with tunaeval.scoring_session(QUERY, messages=history, check=says_eleven) as session:
    history.append(HumanMessage(QUERY))
    agent(history, {one.name: session.wrap(one) for one in (read_file, subtract)})
    for run in session.executions:
        print(f"{run.tool}{run.arguments}: {run.ok_reason}, {run.duration_seconds} s")

assert session.score, session.failure
for name, category in session.score.categories.items():
    print(f"{name}: {category.value}, {category.reason}")
print(f"score: {session.score.weighted_total:.2f}")
