"""The laws of the parser, for every built-in format and for the whole chain."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from tunaeval.formats import CHAIN, FORMATS
from tunaeval.parsing import Reader, qwen25, reader_of
from tunaeval.testing import LAWS, check_law

SEARCHED = {"qwen25": qwen25, **{form.name: reader_of(form) for form in CHAIN}}
OTHERS = {name: reader_of(form) for name, form in FORMATS.items() if name not in SEARCHED}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("reader", SEARCHED.values(), ids=SEARCHED)
def test_law_holds(law: str, reader: Reader) -> None:
    check_law(law, reader)


@pytest.fixture
def steady() -> Iterator[None]:
    """The same examples in every run: three dozen formats are too many to search in each."""
    before = settings.get_current_profile_name()
    if before != "nightly":
        settings.load_profile("steady")
    yield
    settings.load_profile(before)


@pytest.mark.usefixtures("steady")
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("reader", OTHERS.values(), ids=OTHERS)
def test_law_holds_for_every_other_format(law: str, reader: Reader) -> None:
    check_law(law, reader)
