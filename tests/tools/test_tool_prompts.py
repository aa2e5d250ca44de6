"""A prompt file speaks in the docstring's place, and cannot do anything else."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval import read_tool_prompt
from tunaeval.errors import ToolsError
from tunaeval.tools.tool_prompts import MAX_BYTES, MAX_DEPTH, prompt_of, tool_spec

PROMPTS = Path(__file__).parent / "prompts"
DESCRIBED = "<t><description>d</description>{}</t>"


def exit_plan_mode(plan: str, reason: str = "", *, quiet: bool = False) -> str:
    """Leave.

    Args:
        plan: What the docstring says.
        reason: Why.
    """
    return f"{plan}{reason}{quiet}"


def test_a_prompt_has_a_description_and_may_name_parameters() -> None:
    prompt = read_tool_prompt(PROMPTS / "exit_plan_mode_prompt.xml")
    assert prompt.description == "Leave plan mode when the plan is complete."
    assert prompt.parameters == {"plan": "The plan, as Markdown.", "reason": ""}
    assert (prompt.line, prompt.lines) == (4, {"plan": 8, "reason": 12})


def test_a_prompt_overrides_the_docstring() -> None:
    spec = tool_spec(exit_plan_mode, prompt=PROMPTS / "exit_plan_mode_prompt.xml")
    assert spec.description == "Leave plan mode when the plan is complete."
    described = {k: v.get("description") for k, v in spec.parameters["properties"].items()}
    assert described == {"plan": "The plan, as Markdown.", "reason": "Why.", "quiet": None}


def test_entities_of_xml_itself_are_characters() -> None:
    prompt = read_tool_prompt(PROMPTS / "update_file_prompt.xml")
    assert prompt.description.endswith("before you call this & do not guess")
    assert prompt.description.startswith("Change a part of a file.")


@given(st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"])))
def test_what_is_written_is_told(words: str) -> None:
    text = f"<tool_prompt><description>{escape(words)}</description></tool_prompt>"
    assert prompt_of(text.encode()).description == words.strip()


@given(st.binary() | st.text("<>/!?[]&;=\"' descriptionparm").map(str.encode))
def test_no_bytes_raise_anything_else(text: bytes) -> None:
    for whole in (text, b"<t>" + text + b"</t>", DESCRIBED.encode().replace(b"{}", text)):
        try:
            prompt_of(whole)
        except ToolsError as error:
            assert str(error).startswith("prompt:")  # noqa: PT017 - an error is one of two ends


LAUGHS = (
    '<!DOCTYPE t [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><t><description>&b;</description></t>'
)
FETCH = '<!DOCTYPE t SYSTEM "http://localhost/x.dtd"><t><description>d</description></t>'
FILE = (
    '<!DOCTYPE t [<!ENTITY x SYSTEM "file:///etc/hostname">]><t><description>&x;</description></t>'
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (LAUGHS, "a document type; wanted none"),
        (FETCH, "a document type; wanted none"),
        (FILE, "a document type; wanted none"),
        ("<t>\n<description>&nothing;</description></t>", "prompt:2:14: no XML: undefined entity"),
        ("<t>\n  <description>d</t>", "prompt:2:19: no XML: mismatched tag"),
        ("", "prompt:1:1: no XML: no element found"),
        ("<t></t>", "prompt:1:8: no <description>"),
        ("<t><a><description>d</description></a></t>", "no <description>"),
        (DESCRIBED.format("\n<description>e</description>"), "a second <description>; the first"),
        (DESCRIBED.format("<parameters><parameter/></parameters>"), "<parameter> has no name"),
        (
            DESCRIBED.format(
                '<parameters><parameter name="a"/>\n<parameter name="a"/></parameters>'
            ),
            "prompt:2:1: <parameter name='a'> is in line 1, too",
        ),
        ("<t>" + "<a>" * MAX_DEPTH, f"nest more than {MAX_DEPTH} deep"),
        (
            '<?xml version="1.0" encoding="klingon"?><t/>',
            "its encoding cannot be read: unknown encoding: klingon",
        ),
        ("<t>" + " " * MAX_BYTES + "</t>", "more than 1,000,000 bytes"),
    ],
    ids=range(14),
)
def test_what_cannot_be_read_is_refused_by_its_place(text: str, said: str) -> None:
    with pytest.raises(ToolsError) as caught:
        prompt_of(text.encode())
    assert said in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ToolsError, match=r"nowhere\.xml' cannot be read: No such file"):
        tool_spec(exit_plan_mode, prompt=tmp_path / "nowhere.xml")


def test_an_error_names_its_file(tmp_path: Path) -> None:
    broken = tmp_path / "broken.xml"
    broken.write_text("<t>", "utf-8")
    with pytest.raises(ToolsError, match=r"broken\.xml:1:4: no XML"):
        read_tool_prompt(broken)
