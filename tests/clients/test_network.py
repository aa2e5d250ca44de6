"""How a server is reached: proxies, private authorities, client certificates, HTTP/2, headers."""

from __future__ import annotations

import asyncio
import logging
import socket
from pathlib import Path
from typing import Any

import pytest

from tests.clients.asking import HELLO, ask, using
from tests.clients.networks import (
    Authority,
    Proxy,
    authority,
    listening,
    proxied,
    serve_good,
    speaking_http2,
)
from tests.faults import CANARY_KEY, Answer, FaultServer, chat
from tunaeval.clients.openai import OpenAIClient
from tunaeval.errors import ClientSetupError, TransportFailure
from tunaeval.types.exchange import Reply

__all__ = ["authority"]  # a fixture

PASSWORD = "a-long-pass-7f3a9c51"  # noqa: S105 - of nothing
REFUSAL = (
    b"HTTP/1.1 %d Because\r\ncontent-type: text/html\r\ncontent-length: 14\r\n\r\n<html>No!</htm"
)


def asked(address: str, **options: Any) -> Reply:
    client = OpenAIClient(base_url=address, **{"model": "m", "max_retries": 0, **options})
    return using(client, lambda client: client.complete(HELLO))


def failing(address: str, **options: Any) -> str:
    """Why there is no answer."""
    with pytest.raises(TransportFailure) as caught:
        asked(address, **options)
    return str(caught.value)


def refused(**options: Any) -> str:
    """Why there is no client."""
    with pytest.raises(ClientSetupError) as caught:
        OpenAIClient(**{"base_url": "https://127.0.0.1:9/v1", "model": "m", **options})
    return str(caught.value)


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"])
def test_a_proxy_of_the_environment_is_asked(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = Proxy()
    with FaultServer() as server, proxied(proxy) as address:
        monkeypatch.setenv(variable, address)
        assert ask(server).message["content"] == "hello"
    assert proxy.seen == [f"POST {server.base_url}/chat/completions"]
    assert server.seen[0].path == "/v1/chat/completions"


@pytest.mark.parametrize("exempt", ["127.0.0.1", "example.org, 127.0.0.1", "*", "127.0.0.0/8"])
def test_hosts_of_no_proxy_are_asked_themselves(
    exempt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", exempt)
    with FaultServer() as server:
        assert ask(server).retries == 0


@pytest.mark.parametrize("exempt", ["10.0.0.0/8", "example.org", "fd00::/8", "nonsense/9"])
def test_no_proxy_exempts_no_other_host(exempt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy = Proxy()
    with FaultServer() as server, proxied(proxy) as address:
        monkeypatch.setenv("HTTP_PROXY", address)
        monkeypatch.setenv("NO_PROXY", exempt)
        ask(server)
    assert len(proxy.seen) == 1


def test_the_proxy_that_is_given_comes_before_that_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "*")
    proxy = Proxy()
    with FaultServer() as server, proxied(proxy) as address:
        ask(server, proxy=address)
        monkeypatch.delenv("NO_PROXY")
        ask(server, proxy="")
    assert len(proxy.seen) == 1
    assert len(server.seen) == 2


def test_https_goes_through_a_tunnel_with_the_user_of_the_proxy(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = Proxy(user=f"me:{PASSWORD}")
    monkeypatch.setenv("TUNAEVAL_API_KEY", CANARY_KEY)
    with listening(serve_good, authority.tls()) as port, proxied(proxy) as address:
        monkeypatch.setenv("HTTPS_PROXY", address.replace("//", f"//me:{PASSWORD}@"))
        reply = asked(f"https://localhost:{port}/v1", ca=authority.ca)
    assert reply.message["content"] == "hello"
    assert proxy.seen == [f"CONNECT localhost:{port}"]
    assert CANARY_KEY.encode() not in proxy.heads[0]


def test_a_proxy_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", f"http://me:{PASSWORD}@127.0.0.1:9")
    words = failing("http://server.invalid/v1")
    assert (
        "through the proxy http://127.0.0.1:9 ($ALL_PROXY): no connection (Connection re" in words
    )
    assert "is the proxy running" in words
    assert PASSWORD not in words


@pytest.mark.parametrize(
    ("status", "tip"),
    [
        (403, "does not let requests through"),
        (407, "wants a user and a password: put USER:PASSWORD@ before"),
        (502, "can the proxy reach it?"),
    ],
)
def test_a_proxy_that_refuses_a_tunnel_is_named(status: int, tip: str) -> None:
    proxy = Proxy(answer=REFUSAL % status)
    with proxied(proxy) as address:
        own = address.replace("//", f"//me:{PASSWORD}@")
        words = failing("https://server.invalid/v1", proxy=own, max_retries=1)
    assert f"through the proxy {address} ('proxy', --proxy): the proxy refused ({status}" in words
    assert tip in words
    assert PASSWORD not in words
    assert len(proxy.seen) == (2 if status >= 500 else 1)


def test_a_proxy_that_wants_a_password_of_plain_http_is_named() -> None:
    with FaultServer() as server, proxied(Proxy(user=f"me:{PASSWORD}")) as address:
        words = failing(server.base_url, proxy=address)
        assert asked(server.base_url, proxy=address.replace("//", f"//me:{PASSWORD}@")).retries == 0
    assert f"through the proxy {address}" in words
    assert "407 Proxy Authentication Required" in words
    assert "put USER:PASSWORD@ before its host" in words


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_that_answers_in_html_is_named(scheme: str) -> None:
    html = b"HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n<html>Sign in</html>"
    with proxied(Proxy(answer=html)) as address:
        words = failing(f"{scheme}://server.invalid/v1", proxy=address)
    assert f"through the proxy {address}" in words
    assert ("found HTML" if scheme == "http" else "no connection (") in words


@pytest.mark.parametrize(
    ("proxy", "words"),
    [
        ("ftp://proxy:1", "wanted a URL such as http://127.0.0.1:3128"),
        (f"http://me:{PASSWORD}@", "wanted a URL such as http://127.0.0.1:3128"),
        (f"http://me:{PASSWORD}@proxy:port", "cannot be read"),
        (f"socks5://me:{PASSWORD}@proxy:1080", "pip install 'httpx2[socks]'"),
    ],
)
def test_a_proxy_that_cannot_be_is_refused(proxy: str, words: str) -> None:
    said = refused(proxy=proxy)
    assert words in said
    assert PASSWORD not in said


def test_a_private_authority_is_trusted_where_it_is_named(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening(serve_good, authority.tls()) as port:
        address = f"https://localhost:{port}/v1"
        assert "its certificate is not trusted" in failing(address)
        assert asked(address, ca=authority.ca).message["content"] == "hello"
        monkeypatch.setenv("SSL_CERT_FILE", authority.ca)
        assert asked(address).message["content"] == "hello"


def test_an_answer_that_is_not_encrypted_is_said_to_be_none() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()

    with listening(refuse) as port:
        address = f"https://127.0.0.1:{port}/v1"
        words = failing(address)
    assert words.startswith(f"{address}: its answer is not encrypted; write http:// for https://")


@pytest.mark.parametrize("apart", [True, False])
def test_a_server_that_wants_a_certificate_is_shown_it(authority: Authority, apart: bool) -> None:
    with listening(serve_good, authority.tls(wants_certificate=True)) as port:
        address = f"https://localhost:{port}/v1"
        assert "give one with --cert FILE" in failing(address, ca=authority.ca)
        shown = {"cert": authority.cert, "cert_key": authority.key} if apart else {}
        reply = asked(address, ca=authority.ca, **(shown or {"cert": authority.both}))
    assert reply.message["content"] == "hello"


def test_a_certificate_of_another_authority_is_not_accepted(
    authority: Authority, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    other = Authority(tmp_path / "other")
    with listening(serve_good, authority.tls(wants_certificate=True)) as port:
        words = failing(f"https://localhost:{port}/v1", ca=authority.ca, cert=other.both)
    assert "it may not accept the client certificate that it was shown" in words


def test_files_that_cannot_be_used_are_named(authority: Authority, tmp_path: Path) -> None:
    (tmp_path / "text.pem").write_text("no certificate")
    (tmp_path / "other").mkdir()
    text, nowhere = str(tmp_path / "text.pem"), str(tmp_path / "nowhere.pem")
    other = Authority(tmp_path / "other")
    locked = tmp_path / "locked.pem"
    locked.write_bytes(_encrypted(authority.key))
    cert = authority.cert
    for options, words in (
        ({"ca": nowhere}, f"--ca {nowhere!r}) cannot be read: No such file"),
        ({"ca": text}, f"--ca {text!r}) cannot be read"),
        ({"cert": cert}, "there is no key in its file; name the key's file with 'cert_key'"),
        ({"cert_key": authority.key}, "belongs to a certificate that is not given"),
        ({"cert": cert, "cert_key": nowhere}, "cannot be read: No such file"),
        ({"cert": cert, "cert_key": other.key}, f"the key {other.key!r} is that of another"),
        ({"cert": cert, "cert_key": text}, "is not in PEM"),
        ({"cert": cert, "cert_key": str(locked)}, "is encrypted"),
    ):
        said = refused(**options)
        assert words in said, options
        assert "BEGIN" not in said


def _encrypted(key: str) -> bytes:
    from cryptography.hazmat.primitives import serialization

    own = serialization.load_pem_private_key(Path(key).read_bytes(), None)
    return own.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(PASSWORD.encode()),
    )


def test_http2_is_spoken_where_it_is_asked_for(authority: Authority) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with speaking_http2(authority, port) as versions:
        address = f"https://localhost:{port}/v1"

        async def forty(client: OpenAIClient) -> list[Reply]:
            return await asyncio.gather(*(client.complete(HELLO) for _ in range(40)))

        client = OpenAIClient(base_url=address, model="m", ca=authority.ca, http2=True)
        replies = using(client, forty)
        asked(address, ca=authority.ca)
    assert [reply.message["content"] for reply in replies] == ["hello"] * 40
    assert versions == ["2"] * 40 + ["1.1"]


def test_headers_go_along_and_replace_the_clients_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUNAEVAL_API_KEY", "the-key-of-the-environment")
    own = {"X-Gateway": "blue", "authorization": f"Token {CANARY_KEY}", "User-Agent": "mine"}
    with FaultServer() as server:
        ask(server, headers=own)
        ask(server, headers=own, stream=True)
    for seen in server.seen:
        assert seen.headers["x-gateway"] == "blue"
        assert seen.headers["authorization"] == f"Token {CANARY_KEY}"
        assert seen.headers["user-agent"] == "mine"


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        ({"X Y": CANARY_KEY}, "is not the name of a header"),
        ({"X-Key": f"{CANARY_KEY}\r\nX: y"}, "a character that no header may have"),
        ({"X-Key": f"{CANARY_KEY}é"}, "a character that no header may have"),
        ({"Content-Length": "5"}, "is set by the client itself"),
        ({"X-Key": 5}, "wanted a string"),
    ],
)
def test_a_header_that_cannot_be_is_refused_and_not_shown(
    headers: dict[str, Any], words: str
) -> None:
    said = refused(headers=headers)
    assert words in said
    assert CANARY_KEY not in said


def test_the_value_of_a_header_is_shown_nowhere(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    value = "no key by its looks"
    echo = Answer(b"<html>" + value.encode(), headers={"x-back": value}, status=401)
    with FaultServer(then=echo) as server:
        client = OpenAIClient(
            base_url=server.base_url, model="m", headers={"X-Gateway": value}, max_retries=0
        )
        with pytest.raises(TransportFailure) as caught:
            using(client, lambda client: client.complete(HELLO))
    shown = [str(caught.value), repr(client), repr(vars(client)), str(client.details), caplog.text]
    assert "x-back" in caplog.text
    assert value not in "".join(shown)


def test_a_redirect_takes_no_header_elsewhere() -> None:
    with FaultServer() as other:
        moved = Answer(status=307, headers={"Location": f"{other.base_url}/chat/completions"})
        with FaultServer(then=moved) as server:
            words = failing(server.base_url, headers={"X-Gateway": CANARY_KEY})
    assert "redirects are not followed" in words
    assert other.connections == 0


def test_a_transport_of_httpx_is_refused() -> None:
    httpx = pytest.importorskip("httpx")
    said = refused(transport=httpx.AsyncHTTPTransport())
    assert "a httpx.AsyncHTTPTransport; wanted an httpx2.AsyncBaseTransport" in said


def test_a_transport_of_ones_own_decides_about_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx2

    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    with FaultServer(then=chat("hello")) as server:
        reply = ask(server, transport=httpx2.AsyncHTTPTransport(), headers={"X-A": "b"})
    assert reply.message["content"] == "hello"
    assert server.seen[0].headers["x-a"] == "b"
    said = refused(transport=httpx2.AsyncHTTPTransport(), proxy="http://127.0.0.1:9")
    assert "decides about proxy, certificates and HTTP/2" in said


def test_as_many_are_in_flight_as_are_asked_for() -> None:
    """More than one transport has connections for."""

    async def many(client: OpenAIClient) -> None:
        await asyncio.gather(*(client.complete(HELLO) for _ in range(120)))

    slow = Answer(chat("x").body, seconds_before=0.2)
    with FaultServer(then=slow) as server:
        using(OpenAIClient(base_url=server.base_url, model="m", connections=40), many)
    assert server.most_open == 40
    assert server.connections == 40
