r"""Whose words follow: what begins and ends the turns of chat templates, as values.

The templates of a family write turns alike, so a family is one value. The scanner, the rewards and
`template check` read these values; `parsing.templates` makes one of any other template.

    <|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello.<|im_end|>

Sources: the chat templates in TRL's wheel, and those of the models that the formats name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

Pair = tuple[str, str]
"""What is before and behind something that another has said."""


@dataclass(frozen=True, slots=True)
class Turns:
    r"""What begins and ends turns in the templates of one family.

    Another's turn begins with a head, a role and a tail: `<|im_start|>`, `user` and `\n`. It ends
    where one of the model's begins. A text that is cut may begin with role and tail alone.

    Attributes:
        name: The name of the family.
        heads: What headers begin with.
        others: The roles of users, tools and systems.
        model: The headers of the model, without their tails.
        more: A bounded pattern of what may be between role and tail, such as a tool's name.
        tails: What headers end with.
        ends: What ends a turn.
        pairs: What another has said between two texts, behind which the model goes on.
        tags: As `pairs`, within another's turn. Within the model's, the model has made it up.
        closed: What ends each turn of another, if calls of the family have headers of the model's.
    """

    name: str
    heads: tuple[str, ...] = ("",)
    others: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    more: str = ""
    tails: tuple[str, ...] = ("",)
    ends: tuple[str, ...] = ()
    pairs: tuple[Pair, ...] = ()
    tags: tuple[Pair, ...] = ()
    closed: tuple[str, ...] = ()

    def __hash__(self) -> int:
        """Hash the name only, as a format does."""
        return hash(self.name)

    @property
    def headers(self) -> Iterator[str]:
        """The headers of others' turns, without their tails."""
        return (head + role for head in self.heads for role in self.others)

    @property
    def openers(self) -> Iterator[str]:
        """The texts that begin what another says."""
        yield from self.headers
        yield from (opener for opener, _ in (*self.pairs, *self.tags))

    @property
    def rests(self) -> Iterator[tuple[str, bool]]:
        """What a text that is cut in a header may begin with, and whether the turn is the model's.

        A role alone is a word.
        """
        own = (
            (text.removeprefix(head), True)
            for head in self.heads
            for text in self.model
            if head and text.startswith(head)
        )
        for role, is_own in (*own, *((role, False) for role in self.others if self.heads != ("",))):
            if role and (role[-1] == ">" or self.tails != ("",)):
                yield role, is_own

    def rows(self, text: str, *, is_rest: bool = False) -> Iterator[tuple[str, str]]:
        """Yield patterns of a header that begins with this text, each with a tail behind it."""
        for tail in self.tails:
            is_bare = is_rest and (tail[:1] != "<" or f"{self.heads[0]}{text}" in self.model)
            yield f"{re.escape(text)}{'' if is_bare else self.more}", tail


_ROLES = (
    "system", "user", "tool", "developer", "environment", "function", "observation", "ipython",
    "tool_response",
)  # fmt: skip
_LINE = r"[^\n<]{0,64}"

CHATML = Turns(
    "chatml",
    ("<|im_start|>",),
    (*_ROLES, "environment name=<|plugin|>"),
    ("<|im_start|>assistant",),
    _LINE,
    ("\n", "<|im_sep|>"),
    ("<|im_end|>", "<|endoftext|>"),
    (("<|tool_response_start|>", "<|tool_response_end|>"),),
)
"""Qwen, Hermes, LFM2, OLMo, InternLM, Nemotron 3, MiMo, Phi-4 and most others."""

LLAMA = Turns(
    "llama",
    ("<|start_header_id|>", "<|header_start|>"),
    _ROLES,
    ("<|start_header_id|>assistant", "<|header_start|>assistant"),
    tails=("<|end_header_id|>", "<|header_end|>"),
    ends=("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|eot|>", "<|eom|>"),
)
GEMMA = Turns(
    "gemma",
    ("<start_of_turn>", "<|turn>"),
    _ROLES,
    ("<start_of_turn>model", "<|turn>model"),
    tails=("\n",),
    ends=("<end_of_turn>", "<turn|>", "<eos>"),
    pairs=(
        ("<|tool_response>", "<tool_response|>"),
        ("<start_function_response>", "<end_function_response>"),
    ),
)
ROLE_TOKENS = Turns(
    "role-tokens",
    others=(
        "<|system|>", "<|user|>", "<|tool|>", "<|observation|>", "<|tool_response|>",
        "<|tool_result|>", "<|developer|>", "<|environment|>", "<|function|>", "<|User|>",
        "<|USER|>", "<|SYSTEM|>", "<|human|>", "<|prompter|>", "<|userprompt|>", "[|system|]",
        "[|user|]", "[|tool|]", "<_user>", "<_system>", "<longcat_user>", "<longcat_system>",
        "<longcat_tool>",
    ),
    model=(
        "<|assistant|>", "<|Assistant|>", "<|ASSISTANT|>", "<|bot|>", "<|Bot|>", "<|response|>",
        "[|assistant|]", "<_bot>", "<longcat_assistant>",
    ),
    ends=(
        "<|end|>", "<|endofresponse|>", "<|end_of_turn|>", "[|endofturn|]", "<_end>",
        "</longcat_s>",
    ),
)  # fmt: skip
"""GLM, Phi, Jamba, Apriel, dots, EXAONE, TeleChat, LongCat."""

DEEPSEEK = Turns(
    "deepseek",
    others=(
        "<｜User｜>", "<｜System｜>", "<｜begin▁of▁sentence｜>", "<｜hy_User｜>",
        "<｜hy_begin▁of▁sentence｜>",
    ),
    model=("<｜Assistant｜>", "<｜hy_Assistant｜>"),
    ends=("<｜end▁of▁sentence｜>", "<｜hy_place▁holder▁no▁2｜>"),
    pairs=tuple(
        (f"<{bar}{word}▁begin{bar}>".replace("▁", sign), f"<{bar}{word}▁end{bar}>".replace("▁", sign))
        for bar, sign in ("｜▁", "｜_", "|▁")
        for word in ("tool▁outputs", "tool▁output")
    ),
)  # fmt: skip
MISTRAL = Turns(
    "mistral",
    ends=("</s>",),
    pairs=(
        ("<<SYS>>", "<</SYS>>"),
        *(
            (f"[{word}]", f"[/{word}]")
            for word in ("INST", "SYSTEM_PROMPT", "AVAILABLE_TOOLS", "TOOL_RESULTS")
        ),
    ),
)
KIMI_K2 = Turns(
    "kimi-k2",
    ("<|im_system|>", "<|im_user|>"),
    ("system", "user", "tool", "tool_declare", ""),
    ("<|im_assistant|>", "<|im_assistant|>assistant"),
    r"[^\n<]{0,128}",
    ("<|im_middle|>",),
    ("<|im_end|>",),
)
"""The role of a message that has a name is that name."""

KIMI_K3 = Turns(
    "kimi-k3",
    ('<|open|>message role="',),
    ('system"', 'user"', 'tool"', 'developer"'),
    ('<|open|>message role="assistant"',),
    r"[^\n<]{0,160}",
    ("<|sep|>",),
    ("<|end_of_msg|>",),
)
COHERE = Turns(
    "cohere",
    ("<|START_OF_TURN_TOKEN|>",),
    ("<|USER_TOKEN|>", "<|SYSTEM_TOKEN|>"),
    ("<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",),
    ends=("<|END_OF_TURN_TOKEN|>",),
    pairs=(("<|START_TOOL_RESULT|>", "<|END_TOOL_RESULT|>"),),
)
GRANITE = Turns(
    "granite",
    ("<|start_of_role|>",),
    (*_ROLES, "tools", "available_tools", "documents"),
    ("<|start_of_role|>assistant",),
    r"[^\n<]{0,160}",
    ("<|end_of_role|>",),
    ("<|end_of_text|>",),
)
MESSAGES = Turns(
    "messages",
    ("<|start|>", "<|begin|>"),
    ("system", "developer", "user", "tool", "functions.", "browser", "python"),
    ("<|start|>assistant", "<|begin|>assistant"),
    r"(?:[^\n<]|<\|(?:channel|constrain)\|>){0,160}",
    ("<|message|>", "<|content|>", "<|tool_response|>"),
    ("<|end|>", "<|return|>", "<|call|>", "<|eom|>", "<|eot|>"),
    closed=("<|end|>", "<|eot|>"),
)
"""gpt-oss, Muse, Beam, Solar Open."""

INKLING = Turns(
    "inkling",
    others=("<|message_user|>", "<|message_system|>", "<|message_tool|>"),
    model=("<|message_model|>",),
    ends=("<|end_message|>",),
    closed=("<|end_message|>",),
)
MINIMAX = Turns("minimax", ("]~b]",), _ROLES, ("]~b]ai",), r"[^\n<]{0,128}", ("\n",), ("[e~[",))
STEP = Turns(
    "step",
    ("<｜BOT｜>", "<|BOT|>"),
    (*_ROLES, "human"),
    ("<｜BOT｜>assistant", "<|BOT|>assistant"),
    tails=("\n",),
    ends=("<｜EOT｜>", "<|EOT|>"),
)
SEED = Turns(
    "seed",
    ("<seed:bos>",),
    _ROLES,
    ("<seed:bos>assistant",),
    tails=("\n",),
    ends=("<seed:eos>",),
)
NEMOTRON = Turns(
    "nemotron",
    ("<SPECIAL_10>", "<SPECIAL_11>"),
    ("System", "User", "Tool"),
    ("<SPECIAL_11>Assistant",),
    tails=("\n",),
    ends=("<SPECIAL_12>",),
    tags=(("<TOOL_RESPONSE>", "</TOOL_RESPONSE>"),),
)
GIGACHAT = Turns(
    "gigachat",
    ("<|message_sep|>", "<|message_sep|>\n\n"),
    ("system", "user", "function result", "available functions"),
    ("<|message_sep|>assistant", "<|message_sep|>\n\nassistant"),
    tails=("<|role_sep|>",),
    ends=("<|message_sep|>",),
)
APERTUS = Turns(
    "apertus",
    model=("<|assistant_start|>",),
    ends=("<|assistant_end|>",),
    pairs=tuple(
        (f"<|{role}_start|>", f"<|{role}_end|>") for role in ("system", "developer", "user")
    ),
)
LING = Turns(
    "ling",
    ("<role>",),
    ("SYSTEM", "HUMAN", "OBSERVATION"),
    ("<role>ASSISTANT",),
    tails=("</role>",),
    ends=("<|role_end|>",),
)
IDEFICS = Turns(
    "idefics",
    ("<|im_start|>", "<|begin_of_text|>", "<end_of_utterance>\n"),
    ("System:", "User:", "Tool:"),
    ("<end_of_utterance>\nAssistant:",),
    ends=("<end_of_utterance>",),
)
FUNCTIONARY = Turns(
    "functionary",
    ("<|from|>",),
    ("user", "system", ""),
    ("<|from|>assistant",),
    r"[^\n<]{0,128}",
    ("\n",),
    ("<|stop|>",),
)
"""The role of a tool is its name."""

QWEN_AGENT = Turns("qwen-agent", others=("✿RESULT✿",), model=("✿RETURN✿",))
TAGS = Turns(
    "tags",
    tags=tuple(
        (f"<{who}_{what}>", f"</{who}_{what}>")
        for who in ("tool", "function")
        for word in ("response", "result", "output")
        for what in (word, f"{word}s")
    ),
)
"""What most families write around a tool's answer within another's turn."""

BEGINNINGS = (
    "<s>", "<bos>", "<|begin_of_text|>", "<|startoftext|>", "<BOS_TOKEN>", "[gMASK]", "<sop>",
    "]~!b[",
)  # fmt: skip
"""Tokens that begin a whole conversation."""

FAMILIES = (
    CHATML, LLAMA, GEMMA, ROLE_TOKENS, DEEPSEEK, MISTRAL, KIMI_K2, KIMI_K3, COHERE, GRANITE,
    MESSAGES, INKLING, MINIMAX, STEP, SEED, NEMOTRON, GIGACHAT, APERTUS, LING, IDEFICS, FUNCTIONARY,
    QWEN_AGENT, TAGS,
)  # fmt: skip
"""The families that every format knows."""

PROMPTED = Turns(
    "prompted",
    tags=(
        *((f"<{word}>", f"</{word}>") for word in ("observation", "result", "output")),
        ("Observation:", "\n"),
    ),
)
"""What prompts without a template write around a tool's answer. In replies it may be words, too."""
