"""GRPO by TRL on this CPU: a tiny random model, a tokenizer trained in place, our reward.

    python grpo.py STEPS SEED

Prints one line of JSON: the metrics that TRL logged at each step.
"""

from __future__ import annotations

import json
import sys
import tempfile

from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM, set_seed
from trl import GRPOConfig, GRPOTrainer

from tunaeval.rewards.trl import trl_reward

GOOD = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
TOOLS = [{
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}]  # fmt: skip
GOLD = [{"name": "get_weather", "arguments": {"city": "Paris"}}]
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level BPE, with the right call as one token: so a random model finds it now and then."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    specials = ["<pad>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=specials, initial_alphabet=alphabet
    )
    raw.train_from_iterator(["What is the weather in Paris?", GOOD], trainer)
    raw.add_tokens([GOOD])
    ends = {"pad_token": "<pad>", "eos_token": "<|im_end|>"}
    made = PreTrainedTokenizerFast(tokenizer_object=raw, **ends)
    made.chat_template = TEMPLATE
    return made


def main(steps: int, seed: int) -> None:
    set_seed(seed)  # the model's first weights, too
    known = tokenizer()
    config = Qwen2Config(
        vocab_size=len(known), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=2, pad_token_id=known.pad_token_id,
        eos_token_id=known.eos_token_id,
    )  # fmt: skip
    rows = [{
        "prompt": [{"role": "user", "content": "What is the weather in Paris?"}],
        "gold": json.dumps(GOLD), "tools_json": json.dumps(TOOLS),
    }] * 16  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=Qwen2ForCausalLM(config),
            processing_class=known,
            reward_funcs=[trl_reward(tools="tools_json", part=one) for one in ("value", "format")],
            train_dataset=Dataset.from_list(rows),
            args=GRPOConfig(
                output_dir=folder, max_steps=steps, per_device_train_batch_size=32,
                num_generations=16, max_completion_length=24, logging_steps=1, learning_rate=1e-2,
                report_to="none", save_strategy="no", use_cpu=True, bf16=False, seed=seed, beta=0.0,
                disable_tqdm=True, temperature=1.0,
            ),
        )  # fmt: skip
        trainer.train()
        print(json.dumps(trainer.state.log_history))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
