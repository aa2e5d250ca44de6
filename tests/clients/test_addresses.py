"""Addresses that cannot be, servers that end it before they answer, and what failures say of it."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from tests.clients.asking import HELLO, using
from tests.faults import Answer, FaultServer
from tunaeval.clients.openai import OpenAIClient
from tunaeval.clients.pace import asks_for_too_long, read_retry_after
from tunaeval.errors import ClientSetupError, TransportFailure


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://127.0.0.1:99999/v1", "has the port 99999; wanted 1 to 65535"),
        ("http://127.0.0.1:0/v1", "has the port 0; wanted 1 to 65535"),
        ("http://.../v1", "a part is empty"),
        (f"http://{'a' * 300}/v1", "more than 63 characters"),
        (f"http://{'a' * 64}.example/v1", "more than 63 characters"),
        ("http://a..example/v1", "a part is empty"),
    ],
)
def test_an_address_that_cannot_be_is_refused_in_a_sentence(address: str, words: str) -> None:
    with pytest.raises(ClientSetupError, match="the base URL") as caught:
        OpenAIClient(base_url=address, model="m")
    assert words in str(caught.value)
    assert len(str(caught.value)) < 250


@pytest.mark.parametrize("header", ["1_0", "1e1", "inf", "nan", "٣", "0x10", "+5", "1.", "9" * 400])
def test_what_is_no_number_of_seconds_is_no_pause(header: str) -> None:
    assert read_retry_after(header) is None
    assert not asks_for_too_long(header)


def test_a_pause_may_have_spaces_around_it_and_a_fraction() -> None:
    assert [read_retry_after(header) for header in (" 10 ", "2.5", "007")] == [10, 2.5, 7]


def asked(address: str) -> str:
    """Why there is no answer."""
    client = OpenAIClient(base_url=address, model="m", max_retries=0)
    with pytest.raises(TransportFailure) as caught:
        using(client, lambda client: client.complete(HELLO))
    return str(caught.value)


def test_a_server_that_ends_it_without_an_answer_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def end() -> None:
            with listening.accept()[0] as connection:
                while not connection.recv(1 << 16).endswith(b"}"):
                    pass  # what is left unread would make it a reset

        thread = threading.Thread(target=end)
        thread.start()
        words = asked(f"http://127.0.0.1:{listening.getsockname()[1]}/v1")
        thread.join()
    assert words.endswith("the connection broke (Server disconnected without sending a response.)")


def test_a_breach_of_http_is_said_in_words() -> None:
    with FaultServer(then=Answer(headers={"content-length": "x"})) as server:
        words = asked(server.base_url)
    assert "<class" not in words
    assert "bad Content-Length" in words


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not here to make a certificate")
    key, made = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject]
    subprocess.run([*command, "-keyout", key, "-out", made], check=True, capture_output=True)
    return key, made


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_server_that_wants_a_client_certificate_is_named(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, version: ssl.TLSVersion
) -> None:
    key, made = certificate
    monkeypatch.setenv("SSL_CERT_FILE", str(made))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(made))
    context.load_cert_chain(made, key)
    context.verify_mode, context.maximum_version = ssl.CERT_REQUIRED, version
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def refuse() -> None:
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                context.wrap_socket(connection, server_side=True)

        thread = threading.Thread(target=refuse)
        thread.start()
        words = asked(f"https://localhost:{listening.getsockname()[1]}/v1")
        thread.join()
    assert "it may want a client certificate: give one with --cert FILE" in words


def test_an_untrusted_certificate_is_told_with_what_is_read(
    certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    key, made = certificate
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(made))
    monkeypatch.setenv("CURL_CA_BUNDLE", str(made))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(made, key)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def shake() -> None:
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                context.wrap_socket(connection, server_side=True).recv(1)

        thread = threading.Thread(target=shake)
        thread.start()
        words = asked(f"https://localhost:{listening.getsockname()[1]}/v1")
        thread.join()
    assert "--ca FILE ('ca'), $SSL_CERT_FILE or $SSL_CERT_DIR" in words
    assert "$REQUESTS_CA_BUNDLE is not read" in words


def test_https_where_http_is_spoken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def refuse() -> None:
            with listening.accept()[0] as connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                connection.recv(1 << 16)

        thread = threading.Thread(target=refuse)
        thread.start()
        words = asked(f"https://127.0.0.1:{listening.getsockname()[1]}/v1")
        thread.join()
    assert "its answer is not encrypted; write http:// for https://" in words
