"""Score an agent of pydantic-ai, twice: its second task is scored without the first.

The model here is a script; the name of a real one goes in its place.

$ python examples/score_pydantic_ai.py
How many milk? Two.
  read_file{'filepath': 'milk.txt'}: assumed, ... s
  goal-completion: 1.0, the check passed; signals: the assistant had the last word
  plan-correctness: 1.0, steps: 1
  success-ratio: 1.0, 1 of 1 succeeded, 0 failed, 0 without a result, 0 retried
  repetition: 1.0, 0 of 1 calls repeat a call and its answer
  context-efficiency: 1.0, about ... tokens (reported)
  score: 1.00
How many eggs? Four.
  read_file{'filepath': 'egg.txt'}: exception, ... s
  read_file{'filepath': 'eggs.txt'}: assumed, ... s
  goal-completion: 1.0, the check passed; signals: the assistant had the last word
  plan-correctness: 1.0, steps: 2
  success-ratio: 0.4, 1 of 2 succeeded, 1 failed, 0 without a result, 0 retried
  repetition: 1.0, 0 of 2 calls repeat a call and its answer
  context-efficiency: 1.0, about ... tokens (reported)
  score: 0.94
"""

from pydantic_ai import Agent, ModelRetry, Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import tunaeval

FILES = {"milk.txt": "2", "eggs.txt": "4"}


def read_file(filepath: str) -> str:
    """Read a file."""
    if filepath not in FILES:
        raise ModelRetry(f"there is no {filepath}")
    return FILES[filepath]


def calling(filepath: str) -> ModelResponse:
    return ModelResponse([ToolCallPart("read_file", {"filepath": filepath})])


SCRIPT = iter([
    calling("milk.txt"), ModelResponse([TextPart("Two.")]),
    calling("egg.txt"), calling("eggs.txt"), ModelResponse([TextPart("Four.")]),
])  # fmt: skip


def say(_messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
    return next(SCRIPT)


history: list[ModelMessage] = []
for query, answer in {"How many milk?": "Two", "How many eggs?": "Four"}.items():

    def is_right(conversation: tunaeval.Conversation, answer: str = answer) -> bool:
        return answer in conversation.messages[-1].content

    with tunaeval.scoring_session(query, messages=history, check=is_right) as session:
        agent = Agent(FunctionModel(say), tools=[session.wrap(Tool(read_file))])
        result = agent.run_sync(query, message_history=history)
        history += result.new_messages()
        print(f"{query} {result.output}")
        for run in session.executions:
            print(f"  {run.tool}{run.arguments}: {run.ok_reason}, {run.duration_seconds} s")
    assert session.score, session.failure
    for name, category in session.score.categories.items():
        print(f"  {name}: {category.value}, {category.reason}")
    print(f"  score: {session.score.weighted_total:.2f}")
