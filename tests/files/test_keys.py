"""Keys are known by how they look, by the names of variables and by the names of headers."""

from __future__ import annotations

import base64
import json
import time
import traceback
from random import Random
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tunaeval.files.keys import (
    COVER,
    SHORTEST,
    Secret,
    covered,
    long_enough,
    of_environment,
    of_headers,
    shown_safely,
    without,
)

KEY = "sk-proj-a1b2c3d4e5f6a1b2c3d4e5f6"
BODY = "Zx9aQ7" * 7
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n{BODY}==\n-----END RSA PRIVATE KEY-----"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl-_x"
SHAPES = {
    "openai": f"sk-proj-{BODY}",
    "openai with signs": f"sk-proj-a_9Tz-{BODY}-{BODY}_T3",
    "anthropic": f"sk-ant-api03-{BODY}",
    "stripe": f"sk_live_{BODY}",
    "stripe, of a webhook": f"whsec_{BODY}",
    "langfuse": "sk-lf-1b4e28ba-2fa1-11d2-883f-0016d3cca427",
    "groq": f"gsk_{BODY}",
    "xai": f"xai-{BODY}",
    "github": f"ghp_{BODY}",
    "github, of an app": f"ghs_{BODY}",
    "github, fine-grained": f"github_pat_11ABCDE_{BODY}",
    "gitlab": "glpat-xYz_1234567890abcdEF",
    "hugging face": f"hf_{BODY}",
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "aws, for a session": "ASIAIOSFODNN7EXAMPLE",
    "slack": "xoxb-123456789012-abcdefABCDEF",
    "slack, of an app": "xapp-1-A0123-4567-abcdef",
    "google": "AIzaSyA-1234567890abcdefghijklmnopqrstu",
    "google, by OAuth": f"ya29.{BODY}",
    "json web token": JWT,
    "pem": PEM,
    "pem, cut off": f"-----BEGIN PRIVATE KEY-----\n{BODY}\n{BODY}",
    "pgp": PEM.replace("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK"),
}
ADDRESSES = {
    "postgres://u:pw@db.test/x": f"postgres://u:{COVER}@db.test/x",
    "redis://:p4ss@h": f"redis://:{COVER}@h",
    "https://me:hunter22@example.test": f"https://me:{COVER}@example.test",
    f"https://{BODY}@example.test": f"https://{COVER}@example.test",
}
ORDINARY = [
    "commit 3de517d0c1a2b3c4d5e6f708192a3b4c5d6e7f80 of main",
    "id 1b4e28ba-2fa1-11d2-883f-0016d3cca427, and call_Zx9Zx9Zx9Zx9Zx9Zx9Zx9Zx9",
    f"sha256:{'0123456789abcdef' * 4}",
    "sk-learn-estimators-chapter-2-of-the-book, task-sk-container-id-1, sk-toggleable__content",
    "pk_order_items_v2_primary_2024 and hf_hub_download_of_many_files and xai-for-everyone",
    "eyJ is how base64 of JSON begins: eyJhIjogMX0= or eyJhbGciOiJIUzI1NiJ9 alone",
    "postgres://localhost:5432/db, https://example.test:8080/@scope/package, git@github.com:a/b",
    "postgres://${USER}:${PASSWORD}@db, https://user:<password>@host, http://a:{token}@b, x://%s:%s@h",
    "http://h:80?to=a@b.test http://h:80#a@b",
    "the file begins with -----BEGIN PRIVATE KEY----- and then comes the key, in base64",
    f"-----BEGIN CERTIFICATE-----\n{BODY}\n-----END CERTIFICATE-----",
    f"-----BEGIN PUBLIC KEY-----\n{BODY}\n-----END PUBLIC KEY-----",
    "AKIA is a prefix; so are ghp_ and github_pat_ and sk-... and xoxb-",
]


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("before", ["before ", "=", "密钥", '"', "Bearer ", "://x:", ""])
def test_a_key_is_covered_by_its_shape(name: str, before: str) -> None:
    text = f"{before}{SHAPES[name]} after"
    assert without(text, ()) == f"{before}{COVER} after"
    nested = {"a": [text], SHAPES[name]: json.dumps({"b": f"x\n{SHAPES[name]}\ty"})}
    found = json.dumps(without(nested, ()))
    assert BODY not in found
    assert SHAPES[name] not in found
    assert json.loads(json.loads(found)[COVER]) == {"b": f"x\n{COVER}\ty"}


@pytest.mark.parametrize("text", ADDRESSES)
def test_a_password_in_an_address_is_covered(text: str) -> None:
    assert without(f"at {text} now", ()) == f"at {ADDRESSES[text]} now"


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_text_stays_as_it_is(text: str) -> None:
    assert without(text, ()) == text


@given(st.randoms(use_true_random=True), st.integers(3000, 9000))
def test_an_image_stays_as_it_is(random: Random, size: int) -> None:
    image = random.randbytes(size)
    for written in (base64.b64encode(image), base64.urlsafe_b64encode(image)):
        text = f"data:image/png;base64,{written.decode()}"
        assert without(text, ()) == text


@given(st.lists(st.sampled_from([*SHAPES.values(), *ADDRESSES, " ", "\\n", "a", '"']), max_size=6))
def test_what_is_covered_stays_covered(parts: list[str]) -> None:
    once = without(" ".join(parts), ())
    assert without(once, ()) == once


@pytest.mark.parametrize("secret", [f"sk-proj-{BODY}-{BODY}", "a_known_secret" + BODY * 3, PEM])
def test_what_quotes_a_part_of_a_secret_has_none_of_it(secret: str) -> None:
    for number in range(20, len(secret) - 20, 9):
        beginning, end = secret[:number], secret[-number:]
        quoted = [repr(f"{beginning}...{end}"), f"x{secret}", f"cut: {beginning}", f"in {end}]"]
        found = json.dumps(without({"text": f"({secret})", "reasons": quoted}, {secret}))
        assert BODY[:12] not in found
        assert "known_secret" not in found
        assert COVER in found


@given(st.text(min_size=SHORTEST), st.integers(0, 3), st.sampled_from([7, 1 << 70]))
@example('a "quote" and \u00e9', 1, 7)
def test_a_secret_of_any_characters_is_covered_at_any_depth(
    secret: str, depth: int, beside: int
) -> None:
    assume(COVER not in secret)
    value: Any = f"x{secret}y"
    for _ in range(depth):
        value = {"in": [value, beside, None]}
    covered: Any = without(value, long_enough([secret]))
    for _ in range(depth):
        covered = covered["in"][0]
    assert secret not in covered


def test_a_path_beside_one_that_a_variable_has_stays() -> None:
    text = "/home/somebody/.ssh/id_one and /home/somebody/.ssh/id_two"
    covered = without(text, {"/home/somebody/.ssh/id_one"})
    assert covered == f"{COVER} and /home/somebody/.ssh/id_two"


DIGITS, WORDS = "Qm4xT9vLr2Zc8Wk5Yp1NhB7s", "the-name-of-my-first-horse"


def test_a_part_of_what_looks_random_is_covered_anywhere_and_of_words_in_messages() -> None:
    secrets = long_enough([DIGITS, WORDS])
    for size in (12, 14, 18):
        for at in (0, 5, len(DIGITS) - size):
            part, words = f"see {DIGITS[at : at + size]}!", f"see {WORDS[at : at + size]}!"
            assert without({"a": [part]}, secrets) == {"a": [f"see {COVER}!"]}
            assert without({"a": [words]}, secrets) == {"a": [words]}
            assert covered(f"{part} {words}", secrets) == f"see {COVER}! see {COVER}!"
    assert covered(f"see {DIGITS[:11]}", secrets) == f"see {DIGITS[:11]}"
    assert COVER in covered(repr("it's a \t\"tab\" in 'it'"), ["it's a \t\"tab\" in 'it'"])


FLOODS = [
    "sk-", "sk-a", " sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "sk-a-", "ghp_", "eyJ",
    "eyJ-", "eyJaaaaaaaa.", "eyJaaaaaaaa.bbbbbbbb!", "\\neyJaaaaaaaa", "://", "://a:", "://:", "a@",
    "://aaaaaaaaaaaaaaaaaaaaaaaaaaaaa:", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "AKIA",
    "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAA\n", "AIza", "xoxb-", "github_pat_", "ya29.",
    "-----BEGIN PRIVATE KEY-----\n\n\n\n\n\n", "-----BEGIN PRIVATE KEY-----AAAAAAAAAAAAAAAA----",
]  # fmt: skip


@pytest.mark.parametrize("flood", FLOODS)
def test_twice_the_text_takes_twice_the_time(flood: str) -> None:
    text = flood * (1 << 17)
    seconds = []
    for size in (1 << 15, 1 << 17):
        began = time.process_time()
        without([text[:size] + "@", f"{KEY} {text[:size]}"], ())
        seconds.append(time.process_time() - began)
    assert seconds[1] < 8 * seconds[0] + 0.3


NAMES = (
    "OPENAI_API_KEY", "AWS_ACCESS_KEY_ID", "SECRET_KEY_BASE", "DB_PASS", "GITHUB_PAT", "PAT",
    "HF_TOKEN", "CLIENT_SECRET", "PGPASSWORD", "MYSQL_PWD", "SMTP_PASSWD", "GPG_PASSPHRASE",
    "APIKEY", "AUTHTOKEN", "SENTRY_DSN", "my_app_token", "VAULT_SECRET_ID",
)  # fmt: skip
OTHERS = (
    "KEYBOARD", "MAX_TOKENS", "PWD", "OLDPWD", "MONKEY", "COMPASS", "TOKENIZER", "BYPASS",
    "SSH_AUTH_SOCK", "API_KEY_FILE", "SECRETARY", "PATH", "HOTPAT", "HOME",
)  # fmt: skip


def test_variables_are_known_by_the_usual_names() -> None:
    values = {name: f"value-of-{name}" for name in (*NAMES, *OTHERS)}
    assert of_environment(values) == {values[name] for name in NAMES}


def test_the_password_of_an_address_in_a_variable_is_known() -> None:
    values = {"DATABASE_URL": "postgres://who:a-long-password@db.test/x", "HOME_URL": "http://h:80"}
    assert of_environment(values) == {"a-long-password"}


def test_headers_are_known_by_what_their_names_say() -> None:
    bearing = (
        "x-goog-api-key", "ocp-apim-subscription-key", "x-auth-token", "private-token", "apikey",
        "x-amz-security-token", "cf-access-client-secret", "helicone-auth", "x-vault-password",
        "X-Api-Key",
    )  # fmt: skip
    others = ("x-request-id", "x-author", "user-agent", "x-keyboard-layout", "x-max-tokens", "host")
    values = {name: f"value-of-{name}" for name in (*bearing, *others)}
    assert of_headers(values) == {values[name] for name in bearing}
    assert of_headers({"x-other": "Bearer of-some-length"}) == {
        "Bearer of-some-length", "of-some-length",
    }  # fmt: skip


def test_a_cookie_and_a_password_are_known_by_themselves() -> None:
    cookie = "a=1; session=of-some-length; b=another-length"
    assert of_headers({"cookie": cookie}) == {cookie, "of-some-length", "another-length"}
    pair = base64.b64encode(b"who:the-password").decode()
    found = of_headers({"authorization": f"Basic {pair}"})
    assert found == {f"Basic {pair}", pair, "the-password", "who:the-password"}
    assert of_headers({"authorization": "Basic of-no-base64!"}) >= {"of-no-base64!"}


def _raising(key: Any, headers: Any) -> None:
    raise ValueError(f"{len(key)} {len(headers)}")


def test_no_repr_and_no_local_shows_a_secret() -> None:
    key = Secret("the-key-itself-1234")
    headers = shown_safely({"authorization": f"Bearer {key}", "accept": "text/html"})
    assert (key, headers["accept"]) == ("the-key-itself-1234", "text/html")
    assert f"Bearer {key}" == headers["authorization"] == "Bearer the-key-itself-1234"
    try:
        _raising(key, headers)
    except ValueError as error:
        shown = traceback.TracebackException.from_exception(error, capture_locals=True)
        words = "".join(shown.format())
    assert "the-key" not in words
    assert COVER in words
    assert repr(key[:9]) == repr(key)  # as those do it that shorten what they show
