"""Models whose every word is in a message with a header that says where it goes."""

from __future__ import annotations

from tunaeval.grammar import (
    THINKING,
    TYPE_NAME,
    WITH_COLONS,
    Arguments,
    CallObject,
    Envelope,
    Key,
    Literal,
    Many,
    Markup,
    Maybe,
    Name,
    Reasoning,
    Route,
    Space,
    Value,
    shipped,
)

_KEY = r"[^\"<>\n]{1,200}"
_MUSE_KEY = r"[^\"'<>\n]{1,200}"
_TO_A_TOOL = (
    r"[ \w]{0,40}(?:<\|channel\|>[ \w]{0,40})?"
    r"to=(?!(?:user|assistant|self|all)\b)(?:functions\.)?(?!functions\.)"
    r"(?P<name>\w[\w./-]{0,127})"
    r"(?:[ \w.-]|[\r\n]{0,2}<\|(?:channel|constrain)\|>){0,80}[\r\n]{0,2}"
)

_TOLD = (
    Route(
        "reasoning",
        r"[ \w]{0,40}<\|channel\|>analysis[ \w=.-]{0,80}[\r\n]{0,2}",
        "<|message|>",
    ),
    Route(
        "content",
        r"(?:[ \w.-]|to=(?:assistant|all)\b|<\|(?:channel|constrain)\|>){0,160}[\r\n]{0,2}",
        "<|message|>",
    ),
)
"""Messages that call no tool: reasoning, and what the user is told."""

HARMONY = shipped(
    "harmony",
    (Literal("<|message|>"), Space(), Arguments()),
    envelope=Envelope(
        opens=Literal("<|start|>", also=("<|channel|>", "to=")),
        routes=(
            Route(
                "call",
                _TO_A_TOOL,
                "<|message|>",
                "assistant<|channel|>commentary to=functions.{name} <|constrain|>json",
            ),
            *_TOLD,
        ),
        closes=Literal("<|call|>", also=("<|end|>", "<|return|>")),
    ),
    separator="",
    aliases=("gpt-oss", "gpt_oss", "openai", "openai_gptoss"),
    models=("gpt-oss", "LLM-jp 4"),
    summary="JSON in a message to functions.NAME; analysis is reasoning",
)

MUSE = shipped(
    "muse",
    (
        Literal('<atem:invoke name="', also=("<atem:invoke name='",)),
        Name(doubled=True),
        Literal('">', also=("'>",)),
        Space("\n"),
        Many(
            (
                Literal('<atem:parameter name="', also=("<atem:parameter name='",)),
                Key(_MUSE_KEY),
                Literal('">', also=("'>",)),
                Value(),
                Literal("</atem:parameter>"),
                Space("\n"),
            )
        ),
        Literal("</atem:invoke>"),
    ),
    around=(Literal("<atem:function_calls>"), Literal("</atem:function_calls>")),
    envelope=Envelope(
        opens=Literal("<|start|>", also=("to=",)),
        routes=(
            Route(
                "reasoning",
                r"(?:\w{1,40} )?to=self(?: [ \w=.-]{0,80})?[\r\n]{0,2}",
                "<|message|>",
            ),
            Route(
                "content",
                r"(?:(?:\w{1,40} )?to=(?:user|commentary)(?: [ \w=.-]{0,80})?|\w{0,40})[\r\n]{0,2}",
                "<|message|>",
            ),
            Route(
                "call",
                r"(?:\w{1,40} )?to=[\w./-]{1,128}[ \w=.-]{0,80}[\r\n]{0,2}",
                "<|message|>",
                "assistant to=f",
            ),
        ),
        closes=Literal("<|eom|>", also=("<|eot|>",)),
    ),
    aliases=("atem", "glimmer", "muse_glimmer", "musespark1x"),
    models=("Muse Spark", "Muse Glimmer"),
    summary="<atem:invoke> in a message to a tool; a message to itself is reasoning",
)

_SPEAKER = r"[\w./-]{0,128}[ \r\n]{0,3}"

_INKLING_KINDS = (
    "<|content_thinking|>",
    "<|content_text|>",
    "<|content_invoke_tool_text|>",
    "<|content_tool_error|>",
)

INKLING = shipped(
    "inkling",
    (Literal("<|content_invoke_tool_json|>"), Space(), CallObject(arguments="args")),
    envelope=Envelope(
        opens=Literal("<|message_model|>", also=_INKLING_KINDS),
        routes=(
            Route("call", _SPEAKER, "<|content_invoke_tool_json|>", "{name}"),
            Route("reasoning", _SPEAKER, "<|content_thinking|>"),
            Route("content", _SPEAKER, "<|content_text|>"),
            Route("content", _SPEAKER, "<|content_invoke_tool_text|>"),
            Route("content", _SPEAKER, "<|content_tool_error|>"),
        ),
        closes=Literal("<|end_message|>"),
    ),
    dropped=("<|content_model_end_sampling|>",),
    separator="",
    models=("Inkling",),
    summary="one JSON object in a message that says so",
)

KIMI_K3 = shipped(
    "kimi-k3",
    (
        Literal('<|open|>call tool="'),
        Name(WITH_COLONS),
        Maybe((Literal('" index="'), Markup("1", r"[0-9]{0,6}")), written=True),
        Literal('"<|sep|>'),
        Space(),
        Maybe(
            (
                Literal('<|open|>json type="object"<|sep|>'),
                Arguments(),
                Literal("<|close|>json<|sep|>"),
                Space(),
            )
        ),
        Many(
            (
                Literal('<|open|>argument key="'),
                Key(_KEY, escaped=True),
                Maybe(
                    (Literal('" type="'), TYPE_NAME),
                    written=True,
                ),
                Literal('"<|sep|>'),
                Value(),
                Literal("<|close|>argument<|sep|>"),
                Space(),
            )
        ),
        Literal("<|close|>call<|sep|>"),
    ),
    around=(Literal("<|open|>tools<|sep|>"), Literal("<|close|>tools<|sep|>")),
    dropped=(
        "<|open|>response<|sep|>",
        "<|close|>response<|sep|>",
        "<|close|>message<|sep|>",
        "<|end_of_msg|>",
    ),
    separator="",
    reasoning=(Reasoning("<|open|>think<|sep|>", "<|close|>think<|sep|>"), *THINKING),
    aliases=("kimi_k3",),
    models=("Kimi K3",),
    summary="XTML: calls and typed arguments between <|open|>, <|sep|> and <|close|>",
)

# `parser/beam.py` in SGLang.
BEAM = shipped(
    "beam",
    (
        Literal("<|message|>"),
        Space(),
        Many(
            (
                Literal('<rfl:parameter name="'),
                Key(_KEY),
                Literal('">'),
                Value("newline"),
                Literal("</rfl:parameter>"),
                Space(),
            )
        ),
    ),
    envelope=Envelope(
        opens=Literal("<|start|>", also=("<|channel|>", "to=")),
        routes=(
            Route(
                "call",
                r"[ \w]{0,40}to=(?:functions\.)?(?P<name>\w[\w.:/-]{0,127})"
                r"[ ]?<\|channel\|>analysis[ ]?<\|constrain\|>xml[\r\n]{0,2}",
                "<|message|>",
                "assistant to={name}<|channel|>analysis <|constrain|>xml",
            ),
            *_TOLD,
        ),
        closes=Literal("<|call|>", also=("<|end|>", "<|return|>")),
    ),
    separator="",
    models=("Beam",),
    summary="<rfl:parameter> in a message to NAME; analysis is reasoning",
)
