"""llguidance as a matcher of texts, and of texts that are drawn at random from a grammar."""

from __future__ import annotations

from functools import lru_cache
from random import Random

import pytest

llguidance = pytest.importorskip("llguidance", reason="pip install 'tunaeval[test]'")

_END = 256


class _Bytes:
    """A vocabulary of all bytes, and a token for the end of the text."""

    eos_token_id = _END
    bos_token_id = None
    tokens = (*(bytes([byte]) for byte in range(256)), b"<end>")
    special_token_ids = (_END,)

    def __call__(self, text: str | bytes) -> list[int]:
        return list(text.encode() if isinstance(text, str) else text)


_TOKENIZER = llguidance.LLTokenizer(llguidance.TokenizerWrapper(_Bytes()))


class Lark:
    """A grammar in llguidance's Lark."""

    def __init__(self, text: str) -> None:
        grammar = llguidance.LLMatcher.grammar_from_lark(text)
        self._matcher = llguidance.LLMatcher(_TOKENIZER, grammar, log_level=0)
        assert not self._matcher.is_error(), self._matcher.get_error()

    def accepts(self, text: str) -> bool:
        self._matcher.reset()
        signs = list(text.encode())
        return bool(
            self._matcher.try_consume_tokens(signs) == len(signs) and self._matcher.is_accepting()
        )

    def drawn(self, random: Random, longest: int = 500) -> str | None:
        """Return a random text of the grammar; None if it became too long, or is no UTF-8.

        Signs that formats and JSON are made of are drawn more often.
        """
        matcher, made = self._matcher, bytearray()
        matcher.reset()
        while not matcher.is_stopped():
            allowed, plain, signs, may_end = _named_by(matcher.compute_bitmask())
            if len(made) > longest or not (allowed or may_end):
                return None
            if may_end and (not allowed or (len(made) > 40 and random.random() < 0.3)):
                break
            likes_signs = random.random() < 0.15 + len(made) / 1500
            drawn = random.choice((signs if likes_signs else plain) or plain or allowed)
            assert matcher.consume_token(drawn)
            made.append(drawn)
        try:
            return made.decode()
        except UnicodeDecodeError:
            return None


@lru_cache(maxsize=4096)
def _named_by(mask: bytes) -> tuple[list[int], list[int], list[int], bool]:
    """Return the bytes that a mask allows, the printable ones and the signs of them, and whether
    the text may end. Few masks are different, and most of the time of drawing was spent here.
    """
    allowed = [byte for byte in range(_END) if mask[byte // 8] >> byte % 8 & 1]
    plain = [byte for byte in allowed if 32 <= byte < 127 or byte == ord("\n")]
    signs = [byte for byte in plain if chr(byte) in '<>/"}]|,\n`{:']
    return allowed, plain, signs, bool(mask[_END // 8] >> _END % 8 & 1)
