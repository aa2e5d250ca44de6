"""How a judge did against people's labels: the file that `tunaeval judge calibrate` writes."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Self

from pydantic import ValidationError

from tunaeval.errors import RecordError
from tunaeval.files import records
from tunaeval.reports.statistics.agreement import Corrected, Kappa
from tunaeval.showing import counted
from tunaeval.types.runs import Data, JudgeOrder, Rate

SCHEMA_VERSION = 1

FEW_LABELS = 200
"""Below so many the interval of kappa, which is a large sample's, is rough, and is called so."""

_UNCALIBRATED = "uncalibrated: this judge was compared with no labels"


class JudgeIdentity(Data):
    """What makes a judge the same one: a calibration holds for it alone."""

    model: str | None
    prompt_version: str
    votes: int
    decided_by: str
    swap: bool
    order: JudgeOrder
    temperature: float | None


class Standing(NamedTuple):
    """Whether a judged score is backed by labels, and the words for it."""

    calibrated: bool
    words: str


class LabelsInfo(Data):
    """The labels: the file's name, SHA-256 of its bytes, and how many transcripts it has."""

    file: str
    sha256: str
    transcripts: int


class CategoryCalibration(Data):
    """One category. A score counts as a pass from the threshold up; rates have 95 % intervals."""

    labelled: int
    failures: Rate
    """Labelled transcripts without a verdict; they are in no other figure."""
    first_failure: str | None
    kappa: Kappa
    """Cohen's, of the judge and the labels."""
    sensitivity: Rate
    """Good ones that the judge passed."""
    specificity: Rate
    """Bad ones that the judge failed."""
    passed: Rate
    """What the judge passed of all."""
    corrected: Corrected | None
    """The pass rate behind `passed`, by Rogan and Gladen; None where the judge is no better than a
    coin, or where good or bad labels are missing.
    """
    swap_flips: Rate
    """Verdicts that turn when the scale's ends and the criteria are described the other way."""
    repeat_flips: Rate
    """Verdicts that turn when the same is asked again."""
    injection_flips: Rate
    """Failed transcripts that pass once a payload is in them."""
    injection_shift: float | None
    """How far the payloads move the score on average, on a scale of 0 to 1."""


class Calibration(Data):
    """A judge compared with labels."""

    schema_version: int = SCHEMA_VERSION
    made_at: str
    client: str
    judge: JudgeIdentity
    labels: LabelsInfo
    threshold: float
    repeats: int
    payloads: int
    categories: dict[str, CategoryCalibration]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises RecordError for what is no calibration."""
        document = records.read_document(path)
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(map(str, first["loc"])) or "the whole"
            raise RecordError(
                f"{path}: {field}: {first['msg']}, found {first['input']!r:.80}; "
                "wanted a file that `tunaeval judge calibrate --out` wrote"
            ) from None

    def write(self, path: Path) -> None:
        """Raises RecordError when the file is there already or cannot be written."""
        records.write_document(path, self.model_dump(mode="json"))


def standing_of(found: Calibration | None, judge: JudgeIdentity, category: str) -> Standing:
    """What a calibration, if there is one, says of this judge's verdicts on a category."""
    if found is None:
        return Standing(calibrated=False, words=_UNCALIBRATED)
    other = _differences(found.judge, judge)
    if other:
        words = f"uncalibrated: the calibration is for another judge ({other})"
        return Standing(calibrated=False, words=words)
    figures = found.categories.get(category)
    if figures is None or figures.kappa.value is None:
        words = f"uncalibrated: the calibration has no kappa for {category}"
        return Standing(calibrated=False, words=words)
    kappa = figures.kappa
    judges = "calibrated" if (kappa.low or 0) > 0 else "calibrated, and no better than chance"
    words = (
        f"{judges}: kappa {kappa.value:.2f} ({kappa.low:.2f} to {kappa.high:.2f}) "
        f"on {counted(kappa.items, 'label')}{rough(kappa)}"
    )
    return Standing(calibrated=True, words=words)


def rough(kappa: Kappa) -> str:
    """Words for the doubt about an interval from few labels."""
    return "" if kappa.items >= FEW_LABELS else f", fewer than {FEW_LABELS}: a rough interval"


def _differences(there: JudgeIdentity, here: JudgeIdentity) -> str:
    return ", ".join(
        f"{field} {getattr(there, field)!r} there and {getattr(here, field)!r} here"
        for field in JudgeIdentity.model_fields
        if getattr(there, field) != getattr(here, field)
    )
