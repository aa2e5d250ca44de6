"""Stubs in place of what an engine imports and a parser does not need, such as torch."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.metadata
import json
import logging
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

WANTED = """
IPython PIL aiohttp blake3 cachetools cbor2 cloudpickle cpuinfo depyf diskcache einops gguf
huggingface_hub ijson interegular lark llguidance mistral_common model_hosting_container_standards
msgspec numpy openai_harmony outlines_core partial_json_parser prometheus_client psutil py_cpuinfo
pybase64 python_multipart ray regex requests safetensors sentencepiece setproctitle starlette
tiktoken tokenizers torch tqdm transformers triton uvloop watchfiles xgrammar zmq
"""
"""What is stubbed where it is not installed; torch and what is built on it always are."""
ALWAYS = ("torch", "transformers", "xgrammar", "triton")


class Kind(type):
    """The class of stubs, which have every attribute and can be called and subclassed."""

    stubbed: bool

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return stub(name)

    def __call__(cls, *given: Any, **named: Any) -> Any:
        if cls.__dict__.get("stubbed"):
            is_decorator = (
                len(given) == 1 and not named and isinstance(given[0], types.FunctionType)
            )
            if is_decorator:
                return given[0]
            return object.__new__(cls)  # type: ignore[arg-type]  # it is a class
        return super().__call__(*given, **named)

    def __getitem__(cls, key: object) -> Any:
        return cls

    def __or__(cls, other: object) -> Any:
        return cls

    __ror__ = __or__

    def __iter__(cls) -> Iterator[Any]:
        return iter(())


class Thing(metaclass=Kind):
    """A stub."""

    def __init__(self, *_: Any, **named: Any) -> None:
        self.__dict__.update(named)

    def __init_subclass__(cls, **_: Any) -> None:
        cls.stubbed = False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return stub(name)

    def __call__(self, *given: Any, **_: Any) -> Any:
        return given[0] if len(given) == 1 and callable(given[0]) else self

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.any_schema()

    def __radd__(self, other: Any) -> Any:
        return other

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __bool__(self) -> bool:
        return False


def stub(name: str) -> Any:
    made: Any = Kind(name, (Thing,), {})
    made.stubbed = True
    return made


class Module(types.ModuleType):
    """A module of stubs."""

    __path__: Any = ()
    __version__ = "2.99.0"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(self, name, stub(name))
        return getattr(self, name)


class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a module of stubs for each name of these packages."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:  # noqa: ARG002 - of importlib
        if name.partition(".")[0] in self.names:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> Module:
        return Module(spec.name)

    def exec_module(self, module: Any) -> None:
        """Do nothing: what the module has is made when it is asked for."""


def prepare(place: str, *bare: str) -> None:
    """Import an engine's packages from `place`, those in `bare` without their own `__init__`."""
    sys.path.insert(0, place)
    names = [one for one in WANTED.split() if one in ALWAYS or find_spec(one) is None]
    sys.meta_path.insert(0, Stubs(names))
    for name in bare:
        sys.modules[name] = module = types.ModuleType(name)
        module.__path__ = [f"{place}/{name}"]
    real = importlib.metadata.version

    def version(distribution_name: str) -> str:
        is_stub = distribution_name.replace("-", "_") in names
        return "2.99.0" if is_stub else real(distribution_name)

    importlib.metadata.version = version


class Heard(logging.Handler):
    """Keeps what is logged."""

    def __init__(self, logger: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        logging.getLogger(logger).addHandler(self)
        logging.getLogger(logger).setLevel(logging.INFO)

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.getMessage()}")


def pieces_of(text: str, size: int) -> Sequence[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def answer_all(answer: Callable[[dict[str, Any]], Any]) -> None:
    """Answer each line of the standard input with a line of JSON."""
    for line in sys.stdin:
        try:
            said = answer(json.loads(line))
        except Exception as error:  # noqa: BLE001 - the test looks at it
            chain: list[BaseException] = [error]
            while (cause := chain[-1].__cause__) is not None:
                chain.append(cause)
            said = {"errors": [[type(one).__name__, str(one)] for one in chain]}
        print("> " + json.dumps(said), flush=True)
