"""Rows through TRL's own data preparation and collator, for each chat template that TRL ships.

    python sft.py

Prints one line of JSON: for each template that writes calls, the text whose tokens are trained.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from importlib.resources import files

from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM
from trl import SFTConfig, SFTTrainer

from tunaeval.data import Row, as_openai, read_rows
from tunaeval.errors import UsageError

TOOLS = [{
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tells the weather.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "Where."},
                           "days": {"type": "integer", "description": "How long."}},
        },
    },
}]  # fmt: skip
CALLS = [{"city": 'the "Isle"'}, {"days": 2}]


def rows() -> Iterator[Row]:
    """Two rows whose arguments have different keys, the prompt apart from the completion."""
    for arguments in CALLS:
        call = json.dumps({"name": "get_weather", "arguments": arguments})
        said = {"prompt": "How is it?", "completion": f"<tool_call>{call}</tool_call>"}
        for row in read_rows([{**said, "tools": TOOLS}]):
            assert isinstance(row, Row)
            yield row


def tokenizer(template: str) -> PreTrainedTokenizerFast:
    """A token for each byte, so that the trained text is exactly what the template writes."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {one: number for number, one in enumerate(["<pad>", "<eos>", *alphabet])}
    raw = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    raw.decoder = decoders.ByteLevel()
    raw.add_special_tokens(["<pad>", "<eos>"])
    ends = {"pad_token": "<pad>", "eos_token": "<eos>"}
    made = PreTrainedTokenizerFast(tokenizer_object=raw, **ends)
    made.chat_template = template
    return made


def trained(template: str, folder: str) -> list[str]:
    known = tokenizer(template)
    config = Qwen2Config(
        vocab_size=len(known), hidden_size=8, intermediate_size=8, num_hidden_layers=1,
        num_attention_heads=1, num_key_value_heads=1,
    )  # fmt: skip
    written = [as_openai(row, template) for row in rows()]
    trainer = SFTTrainer(
        model=Qwen2ForCausalLM(config),
        processing_class=known,
        train_dataset=Dataset.from_list(written, on_mixed_types="use_json"),
        args=SFTConfig(
            output_dir=folder, per_device_train_batch_size=1, report_to="none", use_cpu=True,
            bf16=False, max_length=None, dataloader_pin_memory=False,
        ),
    )  # fmt: skip
    batch = trainer.data_collator([trainer.train_dataset[index] for index in range(len(CALLS))])
    pairs = zip(batch["input_ids"].tolist(), batch["labels"].tolist(), written, strict=True)
    texts = []
    for ids, labels, row in pairs:
        said = [*row["prompt"], *row["completion"]]
        whole = known.apply_chat_template(said, tools=json.loads(row["tools"]), tokenize=False)
        texts.append(
            known.decode([one for one, mark in zip(ids, labels, strict=True) if mark >= 0])
        )
        assert whole.endswith(texts[-1]), "what is trained is what the template writes"
    return texts


def main() -> None:
    found: dict[str, list[str] | str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted(files("trl").joinpath("chat_templates").iterdir(), key=str):
            if not file.name.endswith(".jinja"):
                continue
            try:
                found[file.name] = trained(file.read_text("utf-8"), folder)
            except UsageError as error:  # a template without calls
                found[file.name] = f"refused: {error}"
    print(json.dumps(found))


if __name__ == "__main__":
    main()
