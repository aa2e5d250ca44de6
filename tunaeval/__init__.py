"""tunaeval: how well does a language model call tools?

    result = tunaeval.parse(text, tools=tools)
    report = tunaeval.run(tunaeval.load_suite("smoke"))

Nothing is imported until it is used: a parse loads neither httpx2 nor pydantic nor asyncio.
Importing this package reads no entry point, no environment variable and no file.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from ._version import __version__

if TYPE_CHECKING:
    from .adapters import read_conversation, read_conversations, wrap_tool
    from .api import (
        AgentClient,
        CommandClient,
        ScoringSession,
        arun,
        ascore,
        calibrate,
        compare,
        expect,
        from_environment,
        match,
        read_scores,
        registries,
        run,
        score,
        scoring_session,
    )
    from .busy import busy_seconds
    from .endpoint import ModelEndpoint, ModelRequest, model_endpoint
    from .grading import Checks, FinalState
    from .grammar import Format
    from .harness import (
        AsyncHarness,
        BfclModel,
        Environment,
        Rescored,
        RunOptions,
        load_suite,
        rescore,
        rescore_bfcl,
        suite_names,
    )
    from .judging import Judge
    from .matching import Verdict
    from .parsing import (
        Event,
        Stream,
        formats,
        instructions,
        parse,
        parse_levels,
        parse_many,
        parse_message,
        qwen25,
        render,
        stream,
    )
    from .reports import print_execution
    from .scoring import ScoreSettings
    from .tools import (
        Backoff,
        Change,
        ContextRecorder,
        Drift,
        Executor,
        Recorder,
        ResultRecorder,
        ToolPrompt,
        ToolResult,
        call_id,
        classifiers,
        compare_tools,
        execute,
        find_drift,
        read_tool_prompt,
        to_tools,
    )
    from .types import Conversation, Diagnosis, ParseResult, Repair, Span, ToolCall, Tools, ToolSpec
    from .workspace import Workspace, workspace_tools

_HOMES = {
    "AgentClient": "api",
    "AsyncHarness": "harness",
    "Backoff": "tools",
    "BfclModel": "harness",
    "Change": "tools",
    "Checks": "grading",
    "CommandClient": "api",
    "ContextRecorder": "tools",
    "Conversation": "types",
    "Diagnosis": "types",
    "Drift": "tools",
    "Environment": "harness",
    "Event": "parsing",
    "Executor": "tools",
    "FinalState": "grading",
    "Format": "grammar",
    "Judge": "judging",
    "ModelEndpoint": "endpoint",
    "ModelRequest": "endpoint",
    "ParseResult": "types",
    "Recorder": "tools",
    "Repair": "types",
    "Rescored": "harness",
    "ResultRecorder": "tools",
    "RunOptions": "harness",
    "ScoreSettings": "scoring",
    "ScoringSession": "api",
    "Span": "types",
    "Stream": "parsing",
    "ToolCall": "types",
    "ToolPrompt": "tools",
    "ToolResult": "tools",
    "ToolSpec": "types",
    "Tools": "types",
    "Verdict": "matching",
    "Workspace": "workspace",
    "arun": "api",
    "ascore": "api",
    "busy_seconds": "busy",
    "calibrate": "api",
    "call_id": "tools",
    "classifiers": "tools",
    "compare": "api",
    "compare_tools": "tools",
    "execute": "tools",
    "expect": "api",
    "find_drift": "tools",
    "formats": "parsing",
    "from_environment": "api",
    "instructions": "parsing",
    "load_suite": "harness",
    "match": "api",
    "model_endpoint": "endpoint",
    "parse": "parsing",
    "parse_levels": "parsing",
    "parse_many": "parsing",
    "parse_message": "parsing",
    "print_execution": "reports",
    "qwen25": "parsing",
    "read_conversation": "adapters",
    "read_conversations": "adapters",
    "read_scores": "api",
    "read_tool_prompt": "tools",
    "registries": "api",
    "render": "parsing",
    "rescore": "harness",
    "rescore_bfcl": "harness",
    "run": "api",
    "score": "api",
    "scoring_session": "api",
    "stream": "parsing",
    "suite_names": "harness",
    "to_tools": "tools",
    "workspace_tools": "workspace",
    "wrap_tool": "adapters",
}
"""The package that each public name comes from."""

_POWERS = {"Format": "parsing", "ToolSpec": "tools"}
"""The package above its own that enables a value: `Format.parse` reads, `ToolSpec.of` describes."""

__all__ = [
    "AgentClient",
    "AsyncHarness",
    "Backoff",
    "BfclModel",
    "Change",
    "Checks",
    "CommandClient",
    "ContextRecorder",
    "Conversation",
    "Diagnosis",
    "Drift",
    "Environment",
    "Event",
    "Executor",
    "FinalState",
    "Format",
    "Judge",
    "ModelEndpoint",
    "ModelRequest",
    "ParseResult",
    "Recorder",
    "Repair",
    "Rescored",
    "ResultRecorder",
    "RunOptions",
    "ScoreSettings",
    "ScoringSession",
    "Span",
    "Stream",
    "ToolCall",
    "ToolPrompt",
    "ToolResult",
    "ToolSpec",
    "Tools",
    "Verdict",
    "Workspace",
    "__version__",
    "arun",
    "ascore",
    "busy_seconds",
    "calibrate",
    "call_id",
    "classifiers",
    "compare",
    "compare_tools",
    "execute",
    "expect",
    "find_drift",
    "formats",
    "from_environment",
    "instructions",
    "load_suite",
    "match",
    "model_endpoint",
    "parse",
    "parse_levels",
    "parse_many",
    "parse_message",
    "print_execution",
    "qwen25",
    "read_conversation",
    "read_conversations",
    "read_scores",
    "read_tool_prompt",
    "registries",
    "render",
    "rescore",
    "rescore_bfcl",
    "run",
    "score",
    "scoring_session",
    "stream",
    "suite_names",
    "to_tools",
    "workspace_tools",
    "wrap_tool",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'tunaeval' has no attribute {name!r}")
    if name in _POWERS:
        import_module(f"tunaeval.{_POWERS[name]}")
    thing: object = getattr(import_module(f"tunaeval.{_HOMES[name]}"), name)
    globals()[name] = thing
    return thing


def __dir__() -> list[str]:
    return __all__


class _Formats(ModuleType):
    """The package of formats, until somebody asks it for more than its constants."""

    def __getattr__(self, name: str) -> object:
        """What the registry has, which the package is from then on."""
        if name.startswith("_"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(import_module("tunaeval.parsing").formats, name)


class _Face(ModuleType):
    """`tunaeval.formats` is the package of formats, and the registry of their names.

    Importing the package loads nothing that reads a format, so it is made the registry here, when
    it is first looked at.
    """

    @property
    def formats(self) -> object:
        return import_module("tunaeval.parsing").formats

    @formats.setter
    def formats(self, package: ModuleType) -> None:
        """The import system sets a package's modules as its attributes."""
        if type(package) is ModuleType:
            package.__class__ = _Formats

    def __reduce__(self) -> tuple[object, tuple[str]]:
        """As a global of a program that is sent to another process, it is imported there.

        cloudpickle, and so Ray and joblib, know how to send a plain module, and not this class.
        """
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Face
