"""A classifier of a tool's success: Acme's tools say "Sorry" where others raise."""

from __future__ import annotations

from dataclasses import dataclass

from tunaeval.tools.success import Result, Success


@dataclass(frozen=True, slots=True)
class Polite:
    """A text that begins with "Sorry" is a failure; of everything else it says nothing."""

    name: str = "acme-polite"

    def classify(self, result: Result) -> Success | None:
        if result.text.startswith("Sorry"):
            return Success(ok=False, reason="sorry", error=result.text[:200])
        return None


POLITE = Polite()
