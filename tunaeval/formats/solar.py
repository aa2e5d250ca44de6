"""Upstage's Solar Open models, both generations."""

from __future__ import annotations

from tunaeval.grammar import (
    THINKING,
    WITH_COLONS,
    Arguments,
    Envelope,
    Key,
    Literal,
    Many,
    Markup,
    Name,
    Reasoning,
    Route,
    Space,
    Value,
    shipped,
)

_SPEAKER = r"\w{0,40}[ \r\n]{0,3}"

# `solar_open_tool_parser.py` and `solar_open_reasoning_parser.py` in Upstage's fork of vLLM.
SOLAR_OPEN = shipped(
    "solar-open",
    (
        Literal("<|tool_call:begin|>"),
        Markup("", r"[A-Za-z0-9_.-]{0,40}"),
        Literal("<|tool_call:name|>"),
        Name(WITH_COLONS),
        Literal("<|tool_call:args|>"),
        Space(),
        Arguments(),
        Space(),
        Literal("<|tool_call:end|>"),
    ),
    envelope=Envelope(
        opens=Literal("<|begin|>", also=("<|think|>", "<|content|>", "<|tool_calls|>")),
        routes=(
            Route("call", _SPEAKER, "<|tool_calls|>", "assistant"),
            Route("reasoning", _SPEAKER, "<|think|>"),
            Route("content", _SPEAKER, "<|content|>"),
        ),
        closes=Literal("<|calls|>", also=("<|end|>", "<|flush|>")),
    ),
    separator="",
    aliases=("solar_open",),
    models=("Solar Open",),
    summary="an id, a name and JSON, each behind a token, in a message for calls",
)

# `solar_open2_tool_parser.py` and `solar_open2_reasoning_parser.py` in vLLM.
SOLAR_OPEN2 = shipped(
    "solar-open2",
    (
        Literal("<|tool_call:start|>"),
        Name(WITH_COLONS),
        Space("\n"),
        Many(
            (
                Literal("<|tool_arg:start|>"),
                Key(),
                Literal("<|tool_arg:value|>"),
                Value(),
                Literal("<|tool_arg:end|>"),
                Space("\n"),
            )
        ),
        Literal("<|tool_call:end|>"),
    ),
    reasoning=(Reasoning("<|think:start|>", "<|think:end|>"), *THINKING),
    aliases=("solar_open2",),
    models=("Solar Open 2",),
    summary="name, then each argument's name and value behind tokens of their own",
)
