"""Which classifiers decide over the success of a recorded run: by name, or as they are."""

from __future__ import annotations

from collections.abc import Iterable

from tunaeval.errors import UsageError
from tunaeval.registry import Registry, instance_of
from tunaeval.success import Classifier
from tunaeval.wanted import wanted_items

_check = instance_of(Classifier)

classifiers: Registry[Classifier] = Registry(
    "tunaeval.classifiers",
    "success classifier",
    builtins={
        "error-prefix": "tunaeval.success:ERROR_PREFIX",
        "exit-code": "tunaeval.success:EXIT_CODE",
        "is-error": "tunaeval.success:IS_ERROR",
        "lone-error": "tunaeval.success:LONE_ERROR",
        "ok-false": "tunaeval.success:OK_FALSE",
        "outcome": "tunaeval.success:OUTCOME",
        "status": "tunaeval.success:STATUS",
        "success-false": "tunaeval.success:SUCCESS_FALSE",
        "traceback": "tunaeval.success:TRACEBACK",
    },
    check=_check,
)


def chosen(wanted: Iterable[str | Classifier]) -> tuple[Classifier, ...]:
    """The classifiers in the order given, names looked up. Raises UsageError for what is none."""
    return tuple(map(_classifier, wanted_items(wanted, "classifiers", object, _SEVERAL)))


_SEVERAL = "names of classifiers, or classifiers"


def _classifier(one: str | Classifier) -> Classifier:
    if isinstance(one, str):
        return classifiers.get(one)
    if fault := _check(one):
        raise UsageError(f"{one!r:.60} is no classifier of success: {fault}")
    return one
