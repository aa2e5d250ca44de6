"""The text that the model wrote before any parser of the server, by what each server gives away.

Log-probabilities carry the tokens of the very answer whose calls are judged: vLLM and SGLang whole
and streamed, Ollama and others whole. llama.cpp has the text in `__verbose` of a whole answer, and
refuses log-probabilities beside tools in a stream.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tunaeval.types import JsonObject, JsonValue

LOGPROBS: JsonObject = {"logprobs": True, "top_logprobs": 0}
VERBOSE: JsonObject = {"verbose": True}

RAW_KEYS = ("failed_generation", "raw")
"""Where the body of an error has the model's text (Groq: failed_generation)."""

_ENDINGS = re.compile(
    r"(?:<\|(?:im_end|eot_id|eom_id|endoftext|end|end_of_text|return|user|observation|eos)\|>"
    r"|</s>|<eos>|<end_of_turn>|<\uff5cend\u2581of\u2581sentence\uff5c>|<turn\|>){1,3}\Z"
)
"""Stop tokens, which are no part of what the model said."""

_IN_ERROR = re.compile(r"""raw=['"](?P<raw>.{1,4000})['"](?:,|\s|\Z)""", re.DOTALL)


def extras(kind: str, *, streamed: bool) -> tuple[JsonObject, ...]:
    """Fields to ask for the raw text, the most telling first; the last is none at all."""
    if kind == "llama.cpp":
        return ({},) if streamed else (VERBOSE, {})
    return (LOGPROBS, {})


def raw_of(body: JsonObject, choice: JsonObject) -> str | None:
    """The raw text beside a whole answer; None where there is none."""
    verbose = body.get("__verbose")
    if isinstance(verbose, dict) and isinstance(text := verbose.get("content"), str) and text:
        return without_ending(text)
    return _text(_tokens(choice))


def joined_raw(choices: Sequence[JsonObject]) -> str | None:
    """The raw text of a stream, from the tokens of all its frames."""
    return _text([token for choice in choices for token in _tokens(choice)])


def raw_in_error(words: str) -> str | None:
    """The model's text where an error quotes it (Ollama: error parsing tool call: raw='..')."""
    found = _IN_ERROR.search(words)
    return found["raw"] if found else None


def without_ending(text: str) -> str:
    return _ENDINGS.sub("", text)


def _tokens(choice: JsonObject) -> list[JsonObject]:
    logprobs = choice.get("logprobs")
    listed = logprobs.get("content") if isinstance(logprobs, dict) else None
    tokens = listed if isinstance(listed, list) else []
    return [token for token in tokens if isinstance(token, dict)]


def _text(tokens: Sequence[JsonObject]) -> str | None:
    """The tokens' bytes as text, or their words where there are no bytes."""
    if not tokens:
        return None
    pieces = [_bytes(token.get("bytes")) for token in tokens]
    if all(piece is not None for piece in pieces):
        text = b"".join(piece or b"" for piece in pieces).decode(errors="replace")
    else:
        text = "".join(str(token.get("token") or "") for token in tokens)
    return without_ending(text) if "\ufffd" not in text else None


def _bytes(value: JsonValue) -> bytes | None:
    try:
        return bytes(value) if isinstance(value, list) else None
    except (TypeError, ValueError):
        return None
