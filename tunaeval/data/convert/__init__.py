"""Conversion of texts and data set rows from one wire format to another."""

from __future__ import annotations

from .replies import Route as Route
from .replies import Unconvertible as Unconvertible
from .replies import convert_text as convert_text
from .replies import route_between as route_between
from .rows import TEXT_KEYS as TEXT_KEYS
from .rows import convert_row as convert_row
