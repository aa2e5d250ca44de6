"""What looks like a key is covered, and everything stays where it was."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.reports.page.scenario import COVER, hidden

KEY = "Zx9" * 12
SECRETS = {
    "openai": (f"sk-proj-{KEY}", KEY),
    "anthropic": (f"sk-ant-api03-{KEY}", KEY),
    "bearer": (f"Authorization: Bearer {KEY}", KEY),
    "github": (f"ghp_{KEY}", KEY),
    "query": (f"https://example.test/?api_key={KEY}&x=1", KEY),
    "json": ('{"password": "correct-horse-9"}', "correct-horse-9"),
    "userinfo": ("see https://me:hunter22@example.test/x", "hunter22"),
    "token": ("eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2lnbmF0dXJl", "eyJzdWIiOiIxMjM0"),
}


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_covered(name: str) -> None:
    text, secret = SECRETS[name]
    shown = hidden(f"before {text} after")
    assert secret not in shown
    assert (shown[:7], shown[-6:]) == ("before ", " after")


TEXTS = st.text(max_size=8) | st.sampled_from([text for text, _ in SECRETS.values()])


@given(parts=st.lists(TEXTS))
def test_nothing_moves(parts: list[str]) -> None:
    text = " ".join(parts)
    shown = hidden(text)
    assert len(shown) == len(text)
    assert all(new in (old, COVER) for old, new in zip(text, shown, strict=True))


@pytest.mark.parametrize(
    "text",
    ["read(path='a.txt')", "the password is asked for", "task-list sk-short", "basic form"],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert hidden(text) == text


@pytest.mark.parametrize("flood", ["sk-", "sk-a-", "eyJaaaaaaaa.", "api_key=", "a://", "bearer "])
def test_a_flood_takes_time_in_proportion(flood: str) -> None:
    text = flood * (200_000 // len(flood))
    began = time.process_time()
    hidden(text)
    assert time.process_time() - began < 2.0
