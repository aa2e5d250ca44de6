"""The texts that are measured on: made from a seed, and what they claim to be."""

from __future__ import annotations

from itertools import islice

import pytest

from tunaeval.grammar.formats import FORMATS
from tunaeval.testing.selftest.accuracy import negative_texts, own_negatives
from tunaeval.testing.selftest.growth import floods_of
from tunaeval.testing.selftest.texts import TextMaker, fixed_texts

HERMES = FORMATS["hermes"]


def test_a_seed_makes_the_same_texts_again() -> None:
    def made(seed: int) -> list[object]:
        maker = TextMaker(HERMES, seed)
        own = [maker.damaged(), maker.hostile(), maker.rendering(), *own_negatives(maker)]
        return [*own, *negative_texts(50, seed)]

    assert made(1) == made(1)
    assert made(1) != made(2)


def test_negatives_are_many_and_different() -> None:
    texts = {text for _, text in negative_texts(2000, 0)}
    assert len(texts) > 1500
    assert not any("§" in text for text in texts)


def test_every_kind_of_negative_comes_in_turn() -> None:
    first = {kind.split("+")[0] for kind, _ in negative_texts(60, 0)}
    assert {"reasoning", "file"} <= first
    kinds = {part for kind, _ in negative_texts(60, 0) for part in kind.split("+")}
    assert {"prose", "python", "jinja", "citation", "record", "log", "mention"} <= kinds


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_fixed_texts_are_all_that_a_format_writes_itself(form: object) -> None:
    texts = fixed_texts(FORMATS[form.name])  # type: ignore[attr-defined]  # a Format, for its id
    assert len(texts) >= 2
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS)
def test_every_format_has_32_floods_and_its_own(form: object) -> None:
    own = FORMATS[form.name]  # type: ignore[attr-defined]  # as above
    floods = floods_of((own,))
    assert len(floods) >= 32 + 2 * len(fixed_texts(own))
    assert len({flood.name for flood in floods}) == len(floods)
    for flood in islice(floods, 0, None, 7):
        assert abs(len(flood.text(2000)) - 2000) <= len(flood.start) + len(flood.piece)


def test_cuttings_are_the_text() -> None:
    maker = TextMaker(HERMES, 5)
    for text in ("", "x", maker.hostile(), maker.rendering()[1]):
        assert "".join(maker.cutting(text)) == text
