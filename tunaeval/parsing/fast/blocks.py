"""Which reader of blocks a format has."""

from __future__ import annotations

from functools import lru_cache

from tunaeval.grammar import Format

from .objects import object_reader
from .promise import UNSURE, AddressedReader, BlockReader
from .python import python_reader
from .tagged import json_behind_header, tagged_reader


@lru_cache(maxsize=512)
def block_reader(form: Format) -> BlockReader:
    """The reader of that format's blocks, made when it is first asked for."""
    if form.addressed:
        return _never
    if form.python:
        return python_reader(form)
    return (object_reader(form) if form.call else tagged_reader(form)) or _never


def addressed_reader(form: Format) -> AddressedReader:
    """The reader of calls whose tool's name is in the header before them."""
    return (json_behind_header(form) if form.addressed else None) or _nothing


def _nothing(*_: object) -> None:
    """A format without such calls, or with words that no fast reader knows."""


def _never(*_: object) -> int:
    """A format with words that no ordinary reader knows."""
    return UNSURE
