"""A reward for GRPO, as TRL calls it: a batch of completions beside columns of the data set.

    trainer = GRPOTrainer(model=model, reward_funcs=rewards, train_dataset=dataset)

TRL is not needed here: `rewards` is called as it would call it.

$ python examples/grpo_reward.py
1.0  the call that is wanted
0.3  another argument
0.0  no call
0.0  words about a call
tool_calls/exact_rate: 0.25
"""

import json

from tunaeval.rewards.trl import trl_reward

TOOL = {"name": "weather", "parameters": {"type": "object", "required": ["city"],
        "properties": {"city": {"type": "string"}}}}  # fmt: skip
GOLD = json.dumps([{"name": "weather", "arguments": {"city": "Paris"}}])
RIGHT = '<tool_call>{"name": "weather", "arguments": {"city": "Paris"}}</tool_call>'
GROUP = {
    "the call that is wanted": RIGHT,
    "another argument": RIGHT.replace("Paris", "Rome"),
    "no call": "It is sunny in Paris.",
    "words about a call": f"I would write `{RIGHT}` now.",
}

rewards = trl_reward()
logged: dict[str, float] = {}
values = rewards(
    prompts=["Weather in Paris?"] * len(GROUP),
    completions=[*GROUP.values()],
    gold=[GOLD] * len(GROUP),
    tools=[json.dumps([TOOL])] * len(GROUP),
    log_metric=logged.__setitem__,
)
for what, value in zip(GROUP, values, strict=True):
    print(f"{value:.1f}  {what}")
print("tool_calls/exact_rate:", logged["tool_calls/exact_rate"])
