"""Clients and writers are checked by the call that is made of them."""

from __future__ import annotations

from tunaeval.types.exchange import Reply, Request
from tunaeval.types.roles import Client, Writer
from tunaeval.types.shapes import instance_of, maker_of


class Model:
    name = "model"

    def __init__(self, *, reply: str = "") -> None:
        self.reply = reply

    async def complete(self, request: Request) -> Reply:
        return Reply({"content": f"{self.reply}{request.scenario}"})

    async def close(self) -> None: ...


class Deaf:
    name = "deaf"

    async def complete(self) -> Reply:
        return Reply({})

    async def close(self) -> None: ...


def test_a_client_may_be_a_class_or_a_function() -> None:
    check = maker_of(Client)
    assert check(Model) is None
    assert check(lambda reply: Model(reply=reply)) is None
    assert "too many positional arguments" in str(check(Deaf))
    assert "cannot be called" in str(check(3))


def test_a_writer_is_checked_by_the_call_that_is_made_of_it() -> None:
    class Lines:
        name = "lines"

        def write(self, *_: object) -> None: ...

    assert instance_of(Writer)(Lines()) is None
