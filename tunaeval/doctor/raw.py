"""Find the text that the model wrote before the server parsed it, in what each server reveals.

Log-probabilities list the tokens of the very answer that is judged: vLLM and SGLang give them whole
and streamed, Ollama and others whole. vLLM and SGLang also give token ids, which their
`/detokenize` turns into text. llama.cpp has the text in `__verbose` of a whole answer, and refuses
log-probabilities with tools in a stream. llama.cpp and vLLM also show the rendered prompt.
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
"""Keys under which an error body may contain the model's text (Groq: failed_generation)."""

_ENDINGS = re.compile(
    r"(?:<\|(?:im_end|eot_id|eom_id|endoftext|end|end_of_text|return|user|observation|eos)\|>"
    r"|</s>|<eos>|<end_of_turn>|<\uff5cend\u2581of\u2581sentence\uff5c>|<turn\|>){1,3}\Z"
)
"""Stop tokens at the end, which are not part of the model's text."""

_IN_ERROR = re.compile(r"""raw=['"](?P<raw>.{1,4000})['"](?:,|\s|\Z)""", re.DOTALL)


def extras(kind: str, *, streamed: bool) -> tuple[JsonObject, ...]:
    """Return fields that ask for raw text and usage, in the order to try; the last is empty."""
    if kind == "llama.cpp":
        options: tuple[JsonObject, ...] = () if streamed else (VERBOSE,)
    elif kind in ("vLLM", "SGLang"):
        ids = SGLANG_STREAM_IDS if streamed and kind == "SGLang" else TOKEN_IDS
        options = ({**LOGPROBS, **ids}, LOGPROBS, ids)
    else:
        options = (LOGPROBS,)
    if not streamed:
        return (*options, {})
    return (*({**fields, **COUNTED} for fields in options), COUNTED, *options[:1], {})


def prompt_extras(kind: str) -> tuple[JsonObject, ...]:
    """Return sets of request fields that ask for the rendered prompt; the last is empty."""
    shown = {"llama.cpp": VERBOSE, "vLLM": {"return_prompt_text": True}}.get(kind)
    return ({},) if shown is None else (shown, {})


def prompt_of(body: JsonObject) -> str | None:
    """Return the rendered prompt in the body of a whole answer, or None if it has none."""
    verbose = body.get("__verbose")
    found = verbose.get("prompt") if isinstance(verbose, dict) else body.get("prompt_text")
    return found if isinstance(found, str) and found else None


def ids_of(bodies: Sequence[JsonObject]) -> tuple[int, ...]:
    """Return the token ids of an answer, from its whole body or from the frames of its stream."""
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
    """Return the text in a `/detokenize` response of vLLM, SGLang or llama.cpp."""
    found = next((body[key] for key in ("prompt", "text", "content") if key in body), None)
    found = found[0] if isinstance(found, list) and len(found) == 1 else found
    return without_ending(found) if isinstance(found, str) and found else None


def _listed(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []


def raw_of(body: JsonObject, choice: JsonObject) -> str | None:
    """Return the raw text in the body of a whole answer, or None if it has none."""
    verbose = body.get("__verbose")
    if isinstance(verbose, dict) and isinstance(text := verbose.get("content"), str) and text:
        return without_ending(text)
    return _text(_tokens(choice))


def joined_raw(choices: Sequence[JsonObject]) -> str | None:
    """Return the raw text of a stream, joined from the tokens of all its frames."""
    return _text([token for choice in choices for token in _tokens(choice)])


def raw_in_error(words: str) -> str | None:
    """Return the model's text if an error quotes it (Ollama: error parsing tool call: raw='..')."""
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
    """Return the tokens as text, by their bytes if all have them; None if that is no valid text."""
    if not tokens:
        return None
    pieces = [_bytes(token.get("bytes")) for token in tokens]
    if all(piece is not None for piece in pieces):
        text = b"".join(piece or b"" for piece in pieces).decode(errors="replace")
    else:
        text = "".join(str(token.get("token") or "") for token in tokens)
    return without_ending(text) if "\ufffd" not in text else None  # a character is incomplete


def _bytes(value: JsonValue) -> bytes | None:
    try:
        return bytes(value) if isinstance(value, list) else None
    except (TypeError, ValueError):
        return None
