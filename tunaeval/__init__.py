"""tunaeval: how well does a language model call tools?

    result = tunaeval.parse(text, tools=tools)
    report = tunaeval.run(tunaeval.load_suite("smoke"))

Nothing is imported until it is used: a parse loads neither an HTTP client nor pydantic nor asyncio.
Importing this package reads no entry point, no environment variable and no file. What type checkers
read is `__init__.pyi`.
"""

from importlib import import_module

__version__ = "0.1.0"

_NAMES = {
    "endpoint.agents": "AgentClient CommandClient",
    "scoring.calibrating": "calibrate",
    "runs.comparing": "compare",
    "plugins": "registries",
    "matching.api": "expect match",
    "runs.run_matrix": "arun_matrix run_matrix",
    "runs.api": "arun run",
    "scoring.scores": "ascore history read_scores score",
    "scoring.sessions": "ScoringSession scoring_session",
    "scoring.switches": "from_environment",
    "data.adapters.documents": "read_conversation read_conversations",
    "rewards.turns": "reward_turns",
    "tools.frameworks": "wrap_tool",
    "grammar.format": "Format",
    "matching.calls": "Verdict",
    "clients.llamacpp": "LlamaCppClient",
    "clients.openai": "OpenAIClient",
    "clients.replay": "ReplayClient",
    "clients.scripted": "ScriptedClient",
    "endpoint.apis": "ModelRequest",
    "endpoint.cassettes": "cassette_report",
    "endpoint.serving": "ModelEndpoint model_endpoint",
    "parsing.api": "formats instructions parse parse_levels parse_many parse_message"
    " parser_for render stream",
    "parsing.events": "Event",
    "parsing.constraint": "Constraint constrain",
    "parsing.reader": "Stream",
    "parsing.sets": "qwen25",
    "parsing.window": "compiled",
    "reports.drift": "Change Drift compare_tools find_drift",
    "reports.console": "print_execution",
    "runs.directory": "load_report",
    "runs.driving": "Environment",
    "tasks.checks": "Checks",
    "tasks.state": "FinalState",
    "runs.matrix": "Matrix load_matrix",
    "runs.options": "RunOptions",
    "runs.rescore": "Rescored rescore",
    "runs.rescore_bfcl": "BfclModel rescore_bfcl",
    "runs.runner": "AsyncHarness SuiteRun",
    "tasks.suites.check": "check_suite",
    "tasks.suites.loading": "load_suite suite_names",
    "scoring.judging.judge": "Judge",
    "scoring.scorers": "scorer",
    "scoring.settings": "ScoreSettings",
    "tools.answering": "call_id",
    "tools.executor": "Backoff Executor ToolResult execute",
    "tools.mcp": "mcp_tools",
    "tools.recorder": "ContextRecorder Recorder ResultRecorder busy_seconds",
    "tools.specs": "to_tools",
    "tools.success": "classifiers",
    "tools.tool_prompts": "ToolPrompt read_tool_prompt tool_spec",
    "tasks.space": "Workspace",
    "tasks.toolbox": "workspace_tools",
    "tools.wrapper": "record_runs",
    "types.calls": "Repair Span ToolCall ToolSpec Tools",
    "types.conversations": "Conversation",
    "types.figures": "CategoryScore",
    "types.parsing": "Diagnosis ParseResult",
    "types.suites": "Episode",
}
"""Every module with public names, and these names."""

_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(["__version__", *_HOMES])  # noqa: PLE0605 - one list of names


def __getattr__(name: str) -> object:
    """Import a public name when it is first used (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'tunaeval' has no attribute {name!r}")
    thing: object = getattr(import_module(f"tunaeval.{_HOMES[name]}"), name)
    globals()[name] = thing
    return thing


def __dir__() -> list[str]:
    return __all__
