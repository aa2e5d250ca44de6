"""`tunaeval template check`, and `tunaeval convert --template`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.parsing.test_templates import HERMES, NO_CALLS
from tunaeval.cli import main

ROW = {
    "role": "assistant",
    "content": "I look.",
    "tool_calls": [{"function": {"name": "ls", "arguments": {"path": "."}}}],
}


@pytest.mark.parametrize(
    ("template", "code", "format_"),
    [(HERMES, 0, "hermes"), (NO_CALLS, 1, None), ("{% for %}", 2, None)],
)
def test_the_exit_code_says_whether_calls_are_read_back(
    template: str,
    code: int,
    format_: str | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "template.jinja"
    file.write_text(template, "utf-8")
    assert main(["template", "check", str(file), "--json"]) == code
    out, err = capsys.readouterr()
    if code == 2:
        assert "line 1 of the template is no Jinja" in err
    else:
        found = json.loads(out)
        assert (found["format"], found["arguments"]) == (format_, "object")
        assert found["equal"] == (format_ is not None)


def test_the_template_of_a_tokenizers_configuration_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tokenizer_config.json"
    file.write_text(json.dumps({"chat_template": HERMES}), "utf-8")
    assert main(["template", "check", str(file)]) == 0
    assert "read back as hermes" in capsys.readouterr().out
    file.write_text("{}", "utf-8")
    assert main(["template", "check", str(file)]) == 2
    assert "is JSON without a template" in capsys.readouterr().err


FIRST_ALONE = """{% for m in messages %}{{ m.role }}: {% if m.tool_calls %}<tool_call>
{{ m.tool_calls[0].function | tojson }}
</tool_call>{% else %}{{ m.content }}{% endif %}{% endfor %}"""


def test_what_a_template_leaves_out_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "template.jinja"
    file.write_text(FIRST_ALONE, "utf-8")
    assert main(["template", "check", str(file)]) == 0
    said = capsys.readouterr().err
    assert "of two calls in one turn only the first is read back" in said
    assert "words beside calls are left out" in said
    file.write_text(HERMES, "utf-8")
    assert main(["template", "check", str(file)]) == 0
    assert not capsys.readouterr().err


def test_replies_are_written_by_a_template(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, template = tmp_path / "rows.jsonl", tmp_path / "template.jinja"
    rows.write_text(json.dumps(ROW) + "\n", "utf-8")
    template.write_text(HERMES, "utf-8")
    words = ["convert", str(rows), "--from", "structured", "--template", str(template)]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out) == {
        "role": "assistant",
        "content": 'I look.<tool_call>\n{"name": "ls", "arguments": {"path": "."}}\n</tool_call>',
    }
    assert main([*words, "--to", "hermes"]) == 2
    assert "--to or --template" in capsys.readouterr().err


def test_a_template_that_is_not_read_back_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    template = tmp_path / "template.jinja"
    template.write_text(NO_CALLS, "utf-8")
    assert main(["convert", "-", "--from", "structured", "--template", str(template)]) == 2
    assert "is not read back" in capsys.readouterr().err
