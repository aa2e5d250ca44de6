"""Texts and rows of data sets, from one wire format to another."""

from __future__ import annotations

from .replies import Route, Unconvertible, convert_text, route_between
from .rows import TEXT_KEYS, convert_row

__all__ = ["TEXT_KEYS", "Route", "Unconvertible", "convert_row", "convert_text", "route_between"]
