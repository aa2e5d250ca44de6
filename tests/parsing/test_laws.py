"""The laws of the parser, for every built-in format and for the whole chain."""

from __future__ import annotations

import pytest

from tunaeval.formats import FORMATS
from tunaeval.parsing import Reader, qwen25, reader_of
from tunaeval.testing import LAWS, check_law

READERS = {"qwen25": qwen25, **{name: reader_of(form) for name, form in FORMATS.items()}}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_law_holds(law: str, reader: Reader) -> None:
    check_law(law, reader)
