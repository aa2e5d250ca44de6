"""A judge's agreement with people's labels: the file that `tunaeval judge calibrate` writes."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Self

from tunaeval.files import records
from tunaeval.files.kept_replies import checked
from tunaeval.reports.statistics import Corrected, Kappa
from tunaeval.showing import counted
from tunaeval.types.runs import Data, JudgeOrder, Rate

SCHEMA_VERSION = 1

FEW_LABELS = 200
"""With fewer labels, kappa's interval, which assumes a large sample, is reported as rough."""

_UNCALIBRATED = "uncalibrated: this judge was compared with no labels"


class JudgeIdentity(Data):
    """The properties of a judge that its calibration depends on."""

    model: str | None
    prompt_version: str
    votes: int
    decided_by: str
    swap: bool
    order: JudgeOrder
    temperature: float | None


class Standing(NamedTuple):
    """Whether a judge is calibrated for a category, and a sentence on how well it agreed."""

    calibrated: bool
    words: str


class LabelsInfo(Data):
    """A file of labels: its name, the SHA-256 of its bytes, and the number of its transcripts."""

    file: str
    sha256: str
    transcripts: int


class CategoryCalibration(Data):
    """How well a judge agrees with the labels of one category; all intervals are at 95 %."""

    labelled: int
    failures: Rate
    """The share of labelled transcripts without a verdict, which are in no other figure."""
    first_failure: str | None
    kappa: Kappa
    """Cohen's kappa between the judge and the labels."""
    sensitivity: Rate
    """The share of good transcripts that the judge passed."""
    specificity: Rate
    """The share of bad transcripts that the judge failed."""
    passed: Rate
    """The share of all transcripts that the judge passed."""
    corrected: Corrected | None
    """The estimated true pass rate behind `passed`, by Rogan and Gladen; None if the judge is no
    better than a coin, or if good or bad labels are missing.
    """
    swap_flips: Rate
    """The share of verdicts that change if the scale and the criteria are in the other order."""
    repeat_flips: Rate
    """The share of verdicts that change if the same question is asked again."""
    injection_flips: Rate
    """The share of failed transcripts that pass once a payload is in them."""
    injection_shift: float | None
    """The average change of the score by the payloads, on a scale of 0 to 1."""


class Calibration(Data):
    """How well a judge agrees with people's labels; a score of at least `threshold` passes."""

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
        """Read a calibration from a file. Raises RecordError if there is none."""
        advice = "wanted a file that `tunaeval judge calibrate --out` wrote"
        return checked(cls, records.read_document(path), str(path), advice)

    def write(self, path: Path) -> None:
        """Write a new file. Raises RecordError if it exists already or cannot be written."""
        records.write_document(path, self.model_dump(mode="json"))


def standing_of(found: Calibration | None, judge: JudgeIdentity, category: str) -> Standing:
    """Return whether the judge is calibrated for a category, and how well it agreed with labels."""
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
    """Return a remark that the interval is rough if the labels are few, else an empty text."""
    return "" if kappa.items >= FEW_LABELS else f", fewer than {FEW_LABELS}: a rough interval"


def _differences(there: JudgeIdentity, here: JudgeIdentity) -> str:
    return ", ".join(
        f"{field} {getattr(there, field)!r} there and {getattr(here, field)!r} here"
        for field in JudgeIdentity.model_fields
        if getattr(there, field) != getattr(here, field)
    )
