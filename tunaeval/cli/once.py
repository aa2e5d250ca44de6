"""Refuses a single-valued option that is given twice with two values, as either could be meant."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any


class Once(argparse.Action):
    """Store a value like argparse's "store", but raise an error for a second, different one."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        before = getattr(namespace, self.dest, None)
        seen = namespace.__dict__.setdefault("given", set())
        if option_string and self.dest in seen and before != values:
            parser.error(
                f"{option_string} is given twice, as {before!r} and as {values!r}; give it once"
            )
        if option_string:
            seen.add(self.dest)
        setattr(namespace, self.dest, values)
