"""The text that the model wrote before any parser of the server, by what each server gives away.

Log-probabilities carry the tokens of the very answer whose calls are judged: vLLM and SGLang whole
and streamed, Ollama and others whole. vLLM and SGLang give the ids of the tokens, too, which their
`/detokenize` makes a text of. llama.cpp has the text in `__verbose` of a whole answer, and refuses
log-probabilities beside tools in a stream. llama.cpp and vLLM show the rendered prompt as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tunaeval.types.calls import JsonObject, JsonValue

LOGPROBS: JsonObject = {"logprobs": True, "top_logprobs": 0}
VERBOSE: JsonObject = {"verbose": True}
TOKEN_IDS: JsonObject = {"return_token_ids": True}
SGLANG_STREAM_IDS: JsonObject = {"return_output_ids_in_sglext": True}
COUNTED: JsonObject = {"stream_options": {"include_usage": True}}

RAW_KEYS = ("failed_generation", "raw")
"""Where the body of an error has the model's text (Groq: failed_generation)."""

_ENDINGS = re.compile(
    r"(?:<\|(?:im_end|eot_id|eom_id|endoftext|end|end_of_text|return|user|observation|eos)\|>"
    r"|</s>|<eos>|<end_of_turn>|<\uff5cend\u2581of\u2581sentence\uff5c>|<turn\|>){1,3}\Z"
)
"""Stop tokens, which are no part of what the model said."""

_IN_ERROR = re.compile(r"""raw=['"](?P<raw>.{1,4000})['"](?:,|\s|\Z)""", re.DOTALL)


def extras(kind: str, *, streamed: bool) -> tuple[JsonObject, ...]:
    """Fields to ask for the raw text and a stream's usage, most useful first, none at last."""
    if kind == "llama.cpp":
        telling: tuple[JsonObject, ...] = () if streamed else (VERBOSE,)
    elif kind in ("vLLM", "SGLang"):
        ids = SGLANG_STREAM_IDS if streamed and kind == "SGLang" else TOKEN_IDS
        telling = ({**LOGPROBS, **ids}, LOGPROBS, ids)
    else:
        telling = (LOGPROBS,)
    if not streamed:
        return (*telling, {})
    return (*({**fields, **COUNTED} for fields in telling), COUNTED, *telling[:1], {})


def prompt_extras(kind: str) -> tuple[JsonObject, ...]:
    """Fields to ask for the rendered prompt; the last is none."""
    shown = {"llama.cpp": VERBOSE, "vLLM": {"return_prompt_text": True}}.get(kind)
    return ({},) if shown is None else (shown, {})


def prompt_of(body: JsonObject) -> str | None:
    """The rendered prompt beside a whole answer; None where there is none."""
    verbose = body.get("__verbose")
    found = verbose.get("prompt") if isinstance(verbose, dict) else body.get("prompt_text")
    return found if isinstance(found, str) and found else None


def ids_of(bodies: Sequence[JsonObject]) -> tuple[int, ...]:
    """The ids of the answer's tokens in a whole body, or in the frames of a stream."""
    found: list[JsonValue] = []
    for body in bodies:
        listed = body.get("choices")
        choices = [one for one in _listed(listed) if isinstance(one, dict)]
        for one in choices[:1]:
            found += _listed(one.get("token_ids")) or _listed(one.get("response_token_ids"))
        more = body.get("sglext")
        outputs = _listed(more.get("output_ids")) if isinstance(more, dict) else []
        found += outputs[0] if outputs and isinstance(outputs[0], list) else outputs
    sound = all(isinstance(one, int) and not isinstance(one, bool) for one in found)
    return tuple(found) if sound else ()


def detokenized(body: JsonObject) -> str | None:
    """The text in an answer of `/detokenize`: vLLM's, SGLang's or llama.cpp's."""
    found = next((body[key] for key in ("prompt", "text", "content") if key in body), None)
    found = found[0] if isinstance(found, list) and len(found) == 1 else found
    return without_ending(found) if isinstance(found, str) and found else None


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


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
