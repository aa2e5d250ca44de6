"""A tool parser for vLLM: `--tool-call-parser tunaeval`, or `tunaeval-NAME` for one format.

vLLM finds it by the entry point of this package, or by `--tool-parser-plugin tunaeval.vllm`. Until
a server asks for one of the parsers, no grammar is loaded, and nothing of vLLM is imported.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import find_spec
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import tunaeval
from tunaeval.errors import UsageError

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

    from tunaeval import ParseResult, ToolCall
    from tunaeval.parsing import served

TESTED = "0.32.0 and 0.33.0"
"""The releases of vLLM that the tests run."""

NAMES = """
anthropic apertus apriel beam call-line calling-tool cohere cohere-cmd5 command-r cwm deepseek-v3
deepseek-v3.1 deepseek-v3.2 deepseek-v4.1 dots dots-invoke dots-json ernie45 fence function-call
functionary-v2 functionary-v3.1 functionary-v3.2 functiongemma gemma4 gemma4-python gigachat3
gigachat3.5 glm-flash glm45 glm47 granite granite-20b-fc granite3 granite3.1 harmony hermes hunyuan
hunyuan-a13b hunyuan-v3 hunyuan-v3-opensource inkling internlm iquest-coder iquest-q1 jamba json
k2-horizon k2-horizon-json k2-horizon-xml kimi-k2 kimi-k3 lfm2 lfm2-json lfm2-pythonic llama3
llama3-bare llama3-json llama4-pythonic longcat longcat-pairs loose-json mimo mimo-bare minicpm5
minimax-m2 minimax-m3 mirothinker mistral mistral-array mistral-v11 muse name-json nemotron olmo3
phi4-mini plamo3 python-calls pythonic qwen-agent qwen25 qwen3 qwen3-bare qwen3-coder react rwkv
sarashina seed-oss seed-oss-bare solar-open solar-open2 step-audio-2 step3 tag-parameters telechat4
tool-calls tool-code tool-code-line tool-elements tools-tag xlam auto
"""
"""The built-in names of `tunaeval.formats`, which registers all parsers without a grammar."""

_LOG = logging.getLogger("vllm.tunaeval")
_MANAGER = "vllm.tool_parsers"
_NEEDED = {
    _MANAGER: "ToolParser",
    "vllm.tool_parsers.utils": "get_json_schema_from_tools",
    "vllm.sampling_params": "StructuredOutputsParams",
    "vllm.entrypoints.generate.base.protocol": "DeltaFunctionCall DeltaMessage DeltaToolCall "
    "ExtractedToolCallInformation FunctionCall ToolCall",
}


def register() -> None:
    """Register the parsers with vLLM, as soon as it imports its own; never raises.

    vLLM calls this in each of its processes, and a worker has no use for a parser.
    """
    try:
        if (module := sys.modules.get(_MANAGER)) is not None:
            _enter(module)
        elif not any(isinstance(one, _Waiting) for one in sys.meta_path):
            sys.meta_path.insert(0, _Waiting())
    except Exception as error:  # noqa: BLE001 - it would stop every vLLM process
        _LOG.warning("the parsers of tunaeval are not registered: %s", error)


class _Waiting:
    """Registers the parsers when the module is imported that has vLLM's list of them."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG002 - the interface is vLLM's
        if name != _MANAGER:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_register(module: Any) -> None:
                execute(module)
                register()

            spec.loader.exec_module = execute_and_register  # type: ignore[method-assign]  # of this one loader
        return spec


def _enter(module: Any) -> None:
    for name in _names():
        module.ToolParserManager.register_lazy_module(name, __name__, f"{name}:")


@cache
def _names() -> tuple[str, ...]:
    """Return the names of all parsers, those of plug-ins included."""
    others = (point.name for point in entry_points(group="tunaeval.parsers"))
    return ("tunaeval", *(f"tunaeval-{name}" for name in (*NAMES.split(), *others)))


def __getattr__(name: str) -> Any:
    """Return the class of the parser of this name, for which vLLM asks when a server starts."""
    if name.startswith("tunaeval") and name.endswith(":"):
        return _parser_class(name[:-1], name[len("tunaeval-") : -1] or "auto")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _parser_class(name: str, form: str) -> type:
    from tunaeval.parsing import served  # noqa: PLC0415 - it loads the grammar

    settings = served.Settings.of(form, os.environ)
    if form == "harmony":
        raise UsageError(
            f"{name!r} is not offered: vLLM serves gpt-oss by a parser of its own, whatever is "
            "asked for; use --tool-call-parser openai"
        )
    vllm = _imported()
    made = {"__module__": __name__, "served": served, "settings": settings, "vllm": vllm}
    return type(name, (_Parser, vllm.ToolParser), made)


def _imported() -> SimpleNamespace:
    """Return what of vLLM is used; raise ImportError for what is not where it was."""
    found = SimpleNamespace()
    for module, names in _NEEDED.items():
        for name in names.split():
            try:
                setattr(found, name, getattr(import_module(module), name))
            except (ImportError, AttributeError) as error:
                # A ModuleNotFoundError would make vLLM look for a file of this module's name.
                raise ImportError(
                    f"vLLM has no {module}.{name} ({error}); this version of tunaeval was tested "
                    f"with vLLM {TESTED}: use one of these, or a newer tunaeval"
                ) from error
    return found


class _Parser:
    """A parser of one request, without what it inherits from vLLM's `ToolParser`."""

    served: Any
    settings: served.Settings
    vllm: SimpleNamespace
    tools: Sequence[Any]
    supports_required_and_named = False
    engine_based_streaming = True
    """vLLM then passes deltas alone, and calls `finish_streaming`."""
    skip_reasoning_parsing = False
    """vLLM sets it where it has no reasoning parser."""
    _reply: served.Reply | None = None
    _ids: set[str]

    def adjust_request(self, request: Any) -> Any:
        """Keep special tokens, and constrain the reply if a call is required."""
        if not request.tools or request.tool_choice == "none":
            return request
        request.skip_special_tokens = False
        if request.tool_choice not in (None, "auto"):
            wanted = self._constraint(request, _name_of(request.tool_choice))
            request.structured_outputs = self.vllm.StructuredOutputsParams(**wanted)
            for field in ("response_format", "text"):
                if hasattr(request, field):
                    setattr(request, field, None)
        return request

    def _constraint(self, request: Any, only: str | None) -> dict[str, Any]:
        parallel = only is None and request.parallel_tool_calls is not False
        tools = [tool for tool in request.tools if only in (None, _name_of(tool))]
        try:
            tag = tunaeval.constrain(
                self.served.read_tools(tools, _LOG.warning),
                format=self.settings.form,
                kind="structural-tag",
                parallel=parallel,
                text="none",
                reasoning=self.skip_reasoning_parsing,
                allow_looser=True,
            )
        except UsageError:  # the format, or a set of several, has no grammar
            schema = self.vllm.get_json_schema_from_tools("required", tools, parallel)
            return {"json": schema}
        return {"structural_tag": tag.text}

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        """Read a whole reply, without its reasoning if vLLM has a reasoning parser."""
        vllm, content, calls = self.vllm, model_output, list[Any]()
        if not _is_none(request):
            reply = self._begin(request)
            content, sent, result = reply.whole(model_output)
            _note(result, reply)
            for one in sent:
                function = vllm.FunctionCall(name=one.name, arguments=one.arguments)
                calls.append(vllm.ToolCall(id=self._id(one.call), function=function))
        return vllm.ExtractedToolCallInformation(
            tools_called=bool(calls), tool_calls=calls, content=content or None
        )

    def extract_tool_calls_streaming(  # noqa: PLR0917 - the interface is vLLM's
        self,
        previous_text: str,  # noqa: ARG002 - the interface is vLLM's
        current_text: str,  # noqa: ARG002 - the interface is vLLM's
        delta_text: str,
        previous_token_ids: Sequence[int],  # noqa: ARG002 - the interface is vLLM's
        current_token_ids: Sequence[int],  # noqa: ARG002 - the interface is vLLM's
        delta_token_ids: Sequence[int],  # noqa: ARG002 - the interface is vLLM's
        request: Any,
    ) -> Any:
        """Read the next piece of a reply; return what it has made certain, or None."""
        if _is_none(request):
            return self.vllm.DeltaMessage(content=delta_text) if delta_text else None
        if self._reply is None:
            self._reply = self._begin(request)
        return self._delta(*self._reply.feed(delta_text))

    def finish_streaming(self) -> Any:
        """Return what the end of the reply has made certain, or None."""
        if self._reply is None:
            return None
        words, calls, result = self._reply.finish()
        _note(result, self._reply)
        return self._delta(words, calls)

    def _begin(self, request: Any) -> served.Reply:
        self._ids = set()
        given = getattr(request, "tools", None) or self.tools
        tools = self.served.read_tools(given, _LOG.warning)
        forced = getattr(request, "tool_choice", None) not in (None, "auto")
        plain = not self.skip_reasoning_parsing
        return self.served.Reply(self.settings, tools, plain=plain, forced=forced)

    def _delta(self, words: str, sent: list[served.Sent]) -> Any:
        if not words and not sent:
            return None
        vllm, calls = self.vllm, list[Any]()
        for one in sent:
            function = vllm.DeltaFunctionCall(name=one.name, arguments=one.arguments)
            head = {"id": self._id(one.call), "type": "function"} if one.name else {}
            calls.append(vllm.DeltaToolCall(index=one.at, function=function, **head))
        return vllm.DeltaMessage(content=words or None, tool_calls=calls)

    def _id(self, call: ToolCall | None) -> str:
        """Return the id that the model wrote, or else a new one. Mistral's templates take nothing
        but nine letters and digits, and before a call is finished its format may be unknown.
        """
        form = (call and call.format) or self.settings.form
        made, short = call and call.id, form.startswith("mistral") or (form == "auto" and not call)
        if not made or made in self._ids or (short and not _NINE(made)):
            made = uuid4().hex[:9] if short else f"chatcmpl-tool-{uuid4().hex}"
        self._ids.add(made)
        return made


_NINE = re.compile("[A-Za-z0-9]{9}").fullmatch


def _is_none(request: Any) -> bool:
    return getattr(request, "tool_choice", None) == "none"


def _name_of(tool: Any) -> str | None:
    """Return the name in a tool, or in the choice of one; both APIs have their own way."""
    return getattr(getattr(tool, "function", tool), "name", None)


def _note(result: ParseResult, reply: served.Reply) -> None:
    from tunaeval.parsing.served import report_of  # noqa: PLC0415 - as above

    if report := report_of(result, reply.tools):
        _LOG.info("%s", report)
    if reply.lost:
        _LOG.warning("%d calls were sent that are none", reply.lost)


register()
