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
        tails: What headers end with.
        ends: What ends a turn.
        pairs: What is before and behind another's words, after which the model goes on.
        more: A bounded pattern of what may be between role and tail, such as a tool's name.
        closed: What ends each turn of another, if calls of the family have headers of the model's.
        within: The pairs are within another's turn: within the model's, it has made them up.
    """

    name: str
    heads: tuple[str, ...] = ("",)
    others: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    tails: tuple[str, ...] = ("",)
    ends: tuple[str, ...] = ()
    pairs: tuple[Pair, ...] = ()
    more: str = ""
    closed: tuple[str, ...] = ()
    within: bool = False

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
        yield from (*self.headers, *(opener for opener, _ in self.pairs))

    @property
    def rests(self) -> Iterator[tuple[str, bool]]:
        """The roles that a text cut in a header may begin with, and whether they are the model's.

        A role without a tail is a word, unless it is a token; Step-Audio 2's calls begin with the
        line `function`.
        """
        own = (text.removeprefix(head) for head in self.heads if head for text in self.model)
        roles = [(role, role not in self.model) for role in own if role not in self.model]
        roles += [(role, False) for role in self.others if self.heads != ("",)]
        is_sure = self.tails != ("",)
        return (one for one in roles if one[0] != "function" and (is_sure or one[0][-1:] == ">"))

    def rows(self, text: str, *, is_rest: bool = False) -> Iterator[tuple[str, str]]:
        """Yield patterns of a header that begins with this text, each with a tail behind it."""
        is_own = is_rest and any(head + text in self.model for head in self.heads)
        for tail in self.tails:
            is_whole = is_own or (is_rest and tail[:1] != "<")
            yield re.escape(text) + ("" if is_whole else self.more), tail


def _family(name: str, *lists: str, pairs: str = "", **more: str) -> Turns:
    """Return a family from lists of texts with blanks between them.

    In these, `␣` is a blank, `⏎` is the end of a line, and `…` is between the texts of a pair.
    """
    given = [one.split() for one in (*lists, *[""] * (5 - len(lists)), more.pop("closed", ""))]
    heads, others, model, tails, ends, closed = (
        tuple(text.replace("␣", " ").replace("⏎", "\n") for text in one) for one in given
    )
    made = tuple((one.partition("…")[0], one.partition("…")[2]) for one in pairs.split())
    rest = {"ends": ends, "pairs": made, "closed": closed, **more}
    return Turns(name, heads or ("",), others, model, tails or ("",), **rest)  # type: ignore[arg-type]  # each is what it has to be


_ROLES = (
    "system user tool developer environment function observation ipython tool_response "
    "User human Human context documents env code_interpreter critic latest_reminder tool_result "
    "function_response "
)

# Below, a family has the lists heads, others, model, tails and ends.

FAMILIES = (
    # Qwen, Hermes, LFM2, OLMo, InternLM, Nemotron 3, MiMo, Phi-4 and most others.
    _family("chatml", "<|im_start|>", f"{_ROLES} environment␣name=<|plugin|>",
            "<|im_start|>assistant", "⏎ <|im_sep|>", "<|im_end|> <|endoftext|>",
            pairs="<|tool_response_start|>…<|tool_response_end|>", more=r"[^\n<]{0,64}"),
    _family("llama", "<|start_header_id|> <|header_start|>", _ROLES,
            "<|start_header_id|>assistant <|header_start|>assistant",
            "<|end_header_id|> <|header_end|>",
            "<|eot_id|> <|eom_id|> <|end_of_text|> <|eot|> <|eom|>"),
    _family("gemma", "<start_of_turn> <|turn>", _ROLES, "<start_of_turn>model <|turn>model", "⏎",
            "<end_of_turn> <turn|> <eos>", pairs="<|tool_response>…<tool_response|> "
            "<start_function_response>…<end_function_response>"),
    # GLM, Phi, Jamba, Apriel, dots, EXAONE, TeleChat, LongCat.
    _family("role-tokens", "", "<|system|> <|user|> <|tool|> <|observation|> <|tool_response|> "
            "<|tool_result|> <|developer|> <|environment|> <|User|> <|USER|> "
            "<|SYSTEM|> <|human|> <|prompter|> <|userprompt|> [|system|] [|user|] [|tool|] <_user> "
            "<_system> <longcat_user> <longcat_system> <longcat_tool>",
            "<|assistant|> <|Assistant|> <|ASSISTANT|> <|bot|> <|Bot|> <|response|> [|assistant|] "
            "<_bot> <longcat_assistant>", "",
            "<|end|> <|endofresponse|> <|end_of_turn|> [|endofturn|] <_end> </longcat_s>"),
    # DeepSeek, Hunyuan.
    _family("deepseek", "", "<｜User｜> <｜System｜> <｜begin▁of▁sentence｜> <｜hy_User｜> "
            "<｜hy_begin▁of▁sentence｜>", "<｜Assistant｜> <｜hy_Assistant｜>", "",
            "<｜end▁of▁sentence｜> <｜hy_place▁holder▁no▁2｜>",
            pairs="<｜tool▁outputs▁begin｜>…<｜tool▁outputs▁end｜> "
            "<｜tool▁output▁begin｜>…<｜tool▁output▁end｜>"),
    _family("mistral", "", "", "", "", "</s>", pairs="[INST]…[/INST] <<SYS>>…<</SYS>> "
            "[TOOL_RESULTS]…[/TOOL_RESULTS] [SYSTEM_PROMPT]…[/SYSTEM_PROMPT] "
            "[AVAILABLE_TOOLS]…[/AVAILABLE_TOOLS]"),
    # The role of a message that has a name is that name.
    _family("kimi-k2-names", "", "<|im_system|> <|im_user|>", "<|im_assistant|>", "<|im_middle|>",
            "<|im_end|>", more=r"[^\n<]{0,128}"),
    _family("kimi-k2", "<|im_system|> <|im_user|>", "system user tool tool_declare",
            "<|im_assistant|>", "<|im_middle|>", "<|im_end|>", more=r"[^\n<]{0,128}"),
    _family("kimi-k3", '<|open|>message␣role="', 'system" user" tool" developer"',
            '<|open|>message␣role="assistant"', "<|sep|>", "<|end_of_msg|>", more=r"[^\n<]{0,160}"),
    _family("cohere", "<|START_OF_TURN_TOKEN|>", "<|USER_TOKEN|> <|SYSTEM_TOKEN|>",
            "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>", "", "<|END_OF_TURN_TOKEN|>",
            pairs="<|START_TOOL_RESULT|>…<|END_TOOL_RESULT|>"),
    _family("granite", "<|start_of_role|>", f"{_ROLES} tools available_tools documents",
            "<|start_of_role|>assistant", "<|end_of_role|>", "<|end_of_text|>",
            more=r"[^\n<]{0,160}"),
    # gpt-oss, Muse, Beam, Solar Open.
    _family("messages", "<|start|> <|begin|>",
            "system developer user tool functions. browser python",
            "<|start|>assistant <|begin|>assistant", "<|message|> <|content|> <|tool_response|>",
            "<|end|> <|return|> <|call|> <|eom|> <|eot|>", closed="<|end|> <|eot|>",
            more=r"(?:[^\n<]|<\|(?:channel|constrain)\|>){0,160}"),
    _family("inkling", "", "<|message_user|> <|message_system|> <|message_tool|>",
            "<|message_model|>", "", "<|end_message|>", closed="<|end_message|>"),
    _family("minimax", "]~b]", _ROLES, "]~b]ai", "⏎", "[e~[", more=r"[^\n<]{0,128}"),
    _family("step", "<｜BOT｜> <|BOT|>", f"{_ROLES} human", "<｜BOT｜>assistant <|BOT|>assistant",
            "⏎", "<｜EOT｜> <|EOT|>"),
    _family("seed", "<seed:bos>", _ROLES, "<seed:bos>assistant", "⏎", "<seed:eos>"),
    _family("nemotron", "<SPECIAL_10> <SPECIAL_11>", "System User Tool", "<SPECIAL_11>Assistant",
            "⏎", "<SPECIAL_12>"),
    _family("gigachat", "<|message_sep|> <|message_sep|>⏎⏎",
            "system user function␣result available␣functions",
            "<|message_sep|>assistant <|message_sep|>⏎⏎assistant", "<|role_sep|>",
            "<|message_sep|>"),
    _family("apertus", "", "", "<|assistant_start|>", "", "<|assistant_end|>",
            pairs="<|system_start|>…<|system_end|> <|developer_start|>…<|developer_end|> "
            "<|user_start|>…<|user_end|>"),
    _family("ling", "<role>", "SYSTEM HUMAN OBSERVATION", "<role>ASSISTANT", "</role>",
            "<|role_end|>"),
    _family("idefics", "<|im_start|> <|begin_of_text|> <end_of_utterance>⏎", "System: User: Tool:",
            "<end_of_utterance>⏎Assistant:", "", "<end_of_utterance>"),
    # The role of a tool is its name.
    _family("functionary", "<|from|>", "user system", "<|from|>assistant", "⏎", "<|stop|>"),
    _family("functionary-names", "", "<|from|>", "<|from|>assistant", "⏎", more=r"[^\n<]{0,128}"),
    _family("qwen-agent", "", "✿RESULT✿", "✿RETURN✿"),
    # What most families write around a tool's answer within another's turn.
    Turns("tags", within=True, pairs=tuple(
        (f"<{what}>", f"</{what}>")
        for what in ("TOOL_RESPONSE", *(f"{who}_{word}{more}" for who in ("tool", "function")
                     for word in ("response", "result", "output") for more in ("", "s")))
    )),
)  # fmt: skip
"""The families that every format knows."""

PROMPTED = Turns("prompted", within=True, pairs=(
    *((f"<{word}>", f"</{word}>") for word in ("observation", "result", "output")),
    ("Observation:", "\n"),
))  # fmt: skip
"""What prompts without a template write around a tool's answer. In replies it may be words, too."""

BEGINNINGS = (
    "<s>", "<bos>", "<|begin_of_text|>", "<|startoftext|>", "<BOS_TOKEN>", "[gMASK]", "<sop>",
    "]~!b[",
)  # fmt: skip
"""Tokens that begin a whole conversation."""
