"""A refusal is of one request; a wrong key and a rate limit are none, and let nothing pass."""

from __future__ import annotations

import pytest

from tunaeval.doctor import asks
from tunaeval.doctor.blame import Seen, is_refused
from tunaeval.doctor.checks import accepted, each
from tunaeval.doctor.values import ServerAnswer, ServerIdentity


def refusal(status: int) -> ServerAnswer:
    return ServerAnswer(ask=asks.STRICT, status=status, error="no")


@pytest.mark.parametrize("status", [400, 422])
def test_what_is_refused_is_refused(status: int) -> None:
    assert is_refused(refusal(status))


@pytest.mark.parametrize("status", [401, 403, 408, 429, 500, 503])
def test_a_key_a_limit_and_a_broken_server_refuse_nothing(status: int) -> None:
    assert not is_refused(refusal(status))
    seen = Seen(ServerIdentity(), {asks.STRICT.key: [refusal(status)]})
    judged = each(accepted, "pass")(seen, [asks.STRICT])
    assert judged.verdict in {"not tested", "server"}
