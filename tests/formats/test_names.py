"""The names that servers have for formats and for reasoning: each leads to a parser or a reason."""

from __future__ import annotations

import pytest

from tests.formats.reading import FIND, FOUND, TOOLS, read, with_parameters
from tests.parsing.samples import said
from tunaeval import formats, parse
from tunaeval.errors import UsageError
from tunaeval.grammar.formats import FORMATS, REFUSED, SET_ALIASES, SETS

NAMES = {
    "dynamo, tool calls": """
        hermes nemotron_deci llama3_json mistral phi4 pythonic harmony deepseek_v3 deepseek_v3_1
        deepseek_v3_2 deepseek_v4 deepseek-v4 deepseekv4 qwen3_coder jamba minimax_m2 glm47 kimi_k2
        gemma4 gemma-4 nemotron_nano qwen25""",
    "dynamo, reasoning": """
        deepseek_r1 gpt_oss qwen3 nemotron_deci kimi kimi_k25 step3 mistral granite nemotron_nano
        nemotron3 glm45 minimax_append_think""",
    "smg, tool calls": """
        json mistral qwen qwen_xml qwen_coder pythonic llama deepseek deepseek31 deepseek32
        deepseek_v4 glm45_moe glm47_moe step3 sarashina kimik2 kimi_k3 inkling minimax_m2 cohere""",
    "smg, reasoning": """
        deepseek_r1 qwen3 qwen3_thinking kimi glm45 step3 minimax cohere_cmd nano_v3 inkling
        deepseek_v31 kimi_k25 kimi_thinking kimi_k3""",
    "Ollama": """
        qwen3 qwen3-thinking qwen3.5 ornith qwen3-coder qwen3-vl-instruct qwen3-vl-thinking
        ministral harmony cogito deepseek3 olmo3 olmo3-think nemotron-3-nano nemotron-3.5-nano
        functiongemma glm-4.7 gemma4 gemma4-no-thinking glm-ocr lfm2 lfm2-thinking laguna
        poolside-v1 cohere glimmer""",
    "vLLM, reasoning": """
        deepseek_r1 deepseek_v3 deepseek_v4 poolside_v1 cohere_command3 cohere_command4 ernie45
        gemma4 glm45 glm47 openai_gptoss granite holo2 hunyuan_a13b hy_v3 kimi_k2 kimi_k3 mimo
        minimax_m2 minimax_m2_append_think minimax_m3 mistral nemotron_v3 olmo3 qwen3 seed_oss step3
        step3p5 inkling solar_open2""",
    "SGLang, reasoning": """
        apertus2509 deepseek-r1 deepseek-v3 deepseek-v4 glm45 hunyuan gpt-oss kimi kimi_k2 kimi_k3
        mimo poolside_v1 qwen3 qwen3-thinking minimax minimax-append-think minimax-m3 step3 step3p5
        mistral nemotron_3 interns1 gemma4 inkling cohere_command4""",
    "vLLM and SGLang, tool calls": "beam",
    "vLLM and its plug-ins, tool calls": """
        cwm granite_pythonic hyperclovax_seed_think minicpmv openpangu openpangu_v2 pangu rwkv
        spark3 telechat4 xing4_0 xingchen4""",
    "SGLang, tool calls": "deepseekv3.1 deepseek-v41",
    "lmdeploy": """
        qwen qwen2d5 qwen3 qwen3coder internlm intern-s1 interns2-preview kimi_k2 kimi-k2 llama3
        glm47 deepseek-v32 deepseek-v4 gpt-oss""",
    "mlx-lm": """
        atem cohere2_moe function_gemma gemma4 glm47 json_tools kimi_k2 kimi_k3 laguna longcat
        minicpm5 minimax_m2 mistral pythonic qwen3_coder""",
    "xllm": "glm4 glm5",
}
"""Names of tool calls that vLLM and SGLang have are those of the catalogue."""


@pytest.mark.parametrize("server", NAMES)
def test_every_name_of_a_server_leads_to_a_parser(server: str) -> None:
    for name in NAMES[server].split():
        assert parse("Hello", name).content == "Hello"


def test_no_name_has_two_meanings() -> None:
    names = [*FORMATS, *SETS, *SET_ALIASES, *REFUSED]
    names += [alias for form in FORMATS.values() for alias in form.aliases]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("name", REFUSED)
def test_a_name_that_cannot_be_had_says_what_to_give_instead(name: str) -> None:
    assert name not in formats
    with pytest.raises(UsageError, match=f"'{name}'; .*'auto'"):
        parse("Hello", name)


@pytest.mark.parametrize(
    "text",
    [f"<tool_call>{FIND}</tool_call>", with_parameters("find_files", folder="src", depth="2")],
)
def test_a_family_of_two_formats_reads_both(text: str) -> None:
    for name in ("qwen3", "qwen3-thinking"):
        assert said(read(text, name, TOOLS)) == [FOUND]
