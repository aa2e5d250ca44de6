"""Three steps of GRPO by TRL on this CPU, with a suite as its environment and its reward.

    python grpo_environment.py FILE

Trains on `repair-tasks` and on a suite of its own. A random model is allowed few tokens: whole
calls, a letter and the end. Writes what it was trained on to FILE. Prints one line of JSON: the
rewards that TRL logged, by suite, and the last rollouts' results of calls.
"""

from __future__ import annotations

import json
import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any

from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM, set_seed
from trl import GRPOConfig, GRPOTrainer

import tunaeval
from tunaeval.runs.driving import Environment
from tunaeval.runs.trl import environment


def called(name: str, **arguments: Any) -> str:
    call = {"name": name, "arguments": arguments}
    return f"<tool_call>\n{json.dumps(call)}\n</tool_call>"


def tokenizer(calls: list[str], texts: list[str]) -> PreTrainedTokenizerFast:
    """Byte-level BPE, trained on these texts so that prompts are short."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    specials = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=3000, special_tokens=specials, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    raw.train_from_iterator(texts, trainer)
    raw.add_tokens([*calls, "<tool_call>", "</tool_call>", "<think>", "</think>"])
    ends = {"pad_token": "<|endoftext|>", "eos_token": "<|im_end|>"}
    made = PreTrainedTokenizerFast(tokenizer_object=raw, **ends)
    made.chat_template = files("trl").joinpath("chat_templates/qwen3.jinja").read_text()
    return made


ROOMS = {
    "name": "rooms",
    "tools": [{
        "name": "book", "description": "Books a room.", "parameters": {
            "type": "object", "required": ["room"],
            "properties": {"room": {"type": "string", "description": "Which room."}},
        },
    }],
    "scenarios": [{
        "id": f"book-{room}", "prompt": f"Book the {room} room.", "task": {
            "checks": [{"calls": {"calls": [{"name": "book", "arguments": {"room": room}}]}}],
        },
    } for room in ("red", "blue", "green")],
}  # fmt: skip


def booking(_workspace: tunaeval.Workspace, _episode: tunaeval.Episode) -> dict[str, Any]:
    rooms: list[str] = []

    def book(room: str) -> str:
        rooms.append(room)
        return f"{len(rooms)} booked"

    return {"book": book}


def trained(suite: Any, calls: list[str], kept: str, around: Environment | None) -> dict[str, Any]:
    set_seed(1)
    found = environment(suite, trained_on=kept, around=around)
    loaded = tunaeval.load_suite(suite)
    texts = [json.dumps(loaded.tools.as_openai()), loaded.system_prompt]
    known = tokenizer(calls, texts)
    allowed = {*known.convert_tokens_to_ids([*calls, "x"]), known.eos_token_id}
    model = Qwen2ForCausalLM(Qwen2Config(
        vocab_size=len(known), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=2, pad_token_id=known.pad_token_id,
        eos_token_id=known.eos_token_id, max_position_embeddings=8192,
    ))  # fmt: skip
    played: list[list[Any]] = []

    def reward(completions: list[Any], environments: list[Any], **columns: Any) -> list[Any]:
        played[:] = completions
        return found.reward(completions, environments, **columns)

    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=model, processing_class=known, reward_funcs=reward,
            train_dataset=Dataset.from_list(found.rows), environment_factory=found.factory,
            args=GRPOConfig(
                output_dir=folder, max_steps=3, per_device_train_batch_size=4, num_generations=4,
                max_completion_length=512, logging_steps=1, learning_rate=1e-3, report_to="none",
                save_strategy="no", use_cpu=True, bf16=False, seed=1, beta=0.0, disable_tqdm=True,
                max_tool_calling_iterations=2, generation_kwargs={
                    "suppress_tokens": sorted({*range(len(known))} - allowed),
                },
            ),
        )  # fmt: skip
        trainer.train()
        rewards = [row["reward"] for row in trainer.state.log_history if "reward" in row]
    results = [one["content"] for made in played for one in made if one["role"] == "tool"]
    return {"rewards": rewards, "results": results}


def main(kept: str) -> None:
    files = ("README.md", "app.py", "config.py", "shop/cart.py")
    reading = [called("read_file", filepath=one) for one in files]
    rooms = Path(kept).with_name("rooms.json")
    rooms.write_text(json.dumps(ROOMS))
    booked = [called("book", room=one) for one in ("red", "blue", "green")]
    print(json.dumps({
        "repair-tasks": trained("repair-tasks", reading, kept, None),
        "rooms": trained(rooms, booked, kept, Environment(tools=booking)),
    }))  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1])
