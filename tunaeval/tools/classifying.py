"""Success classifiers (what decides whether a recorded run succeeded), by name or as values."""

from __future__ import annotations

from collections.abc import Iterable

from tunaeval.errors import UsageError
from tunaeval.registry import Registry, instance_of
from tunaeval.types.wanted import wanted_items

from .success import Classifier

_check = instance_of(Classifier)

classifiers: Registry[Classifier] = Registry(
    "tunaeval.classifiers",
    "success classifier",
    builtins={
        "error-prefix": "tunaeval.tools.success:ERROR_PREFIX",
        "exit-code": "tunaeval.tools.success:EXIT_CODE",
        "is-error": "tunaeval.tools.success:IS_ERROR",
        "lone-error": "tunaeval.tools.success:LONE_ERROR",
        "ok-false": "tunaeval.tools.success:OK_FALSE",
        "outcome": "tunaeval.tools.success:OUTCOME",
        "status": "tunaeval.tools.success:STATUS",
        "success-false": "tunaeval.tools.success:SUCCESS_FALSE",
        "traceback": "tunaeval.tools.success:TRACEBACK",
    },
    check=_check,
)


def chosen(wanted: Iterable[str | Classifier]) -> tuple[Classifier, ...]:
    """Return the classifiers in their order. Raises UsageError for an item that is none."""
    return tuple(map(_classifier, wanted_items(wanted, "classifiers", object, _SEVERAL)))


_SEVERAL = "names of classifiers, or classifiers"


def _classifier(one: str | Classifier) -> Classifier:
    if isinstance(one, str):
        return classifiers.get(one)
    if fault := _check(one):
        raise UsageError(f"{one!r:.60} is no classifier of success: {fault}")
    return one
