"""The page as a file: of a size that can be sent, with nothing from elsewhere, and nothing live."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import time
import zlib
from pathlib import Path
from typing import Any

import pytest

from tests.reports.page.made_runs import ANSWERS, READ, made_run, multiplied, report_of
from tunaeval.reports.page.html import page_writer
from tunaeval.reports.page.scenario import SHORT_CHARACTERS, Viewer
from tunaeval.types.json_text import encode

_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')


def page(folder: Path, *runs: Path) -> str:
    page_writer.write_runs([report_of(run) for run in runs], folder / "page.html")
    return (folder / "page.html").read_text("utf-8")


def details(text: str) -> list[Any]:
    blocks = re.findall(r'<script type="text/plain" id="block-\d+">([^<]*)</script>', text)
    return [one for block in blocks for one in json.loads(zlib.decompress(base64.b64decode(block)))]


def rows(text: str) -> list[Any]:
    found = re.findall(r'<script type="application/json" class="rows">([^<]*)</script>', text)
    return [row for block in found for row in json.loads(block)]


def test_it_names_the_scripts_and_styles_that_it_carries_and_no_source(tmp_path: Path) -> None:
    text = page(tmp_path, made_run(tmp_path))
    found = _POLICY.search(text)
    assert found
    policy = html.unescape(found[1])
    assert policy.startswith("default-src 'none';")
    assert not re.search(r"https?:|unsafe|\*|data:|'self'", policy)
    for element in ("style", "script"):
        (carried,) = re.findall(f"<{element}>(.*?)</{element}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(carried.encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}'" in policy


def test_it_has_no_handler_no_style_and_no_address_in_its_markup(tmp_path: Path) -> None:
    text = page(tmp_path, made_run(tmp_path))
    assert text.startswith("<!DOCTYPE html>")
    markup = re.sub(r"<(script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    assert not re.findall(r"<[^>]*\s(?:on\w+|style|src|srcset|action)=", markup)
    assert re.findall(r'href="([^"]*)"', markup) == ["#results"]


def test_each_result_has_a_row_and_its_details(tmp_path: Path) -> None:
    text = page(tmp_path, made_run(tmp_path))
    assert [row[1] for row in rows(text)] == [one["id"] for one in details(text)]
    assert {row[1]: row[3] for row in rows(text)} == {
        name: "PASS" if name in ("right", "repaired") else "FAIL" for name in ANSWERS
    }


def test_a_reply_is_marked_in_place(tmp_path: Path) -> None:
    found = {one["id"]: one for one in details(page(tmp_path, made_run(tmp_path)))}
    right = found["right"]["attempts"][0]
    assert [piece[:2] for piece in right["pieces"]] == [
        ["I look. <tool_call>", ""],
        [READ, "c"],
        ["</tool_call> Done.", ""],
    ]
    repaired = found["repaired"]["attempts"][0]
    assert {mark[1] for mark in repaired["marks"]} == {"call", "repair"}
    malformed = found["malformed"]["attempts"]
    assert len(malformed) == 2, "it was asked again"
    assert "d" in "".join(piece[1] for piece in malformed[0]["pieces"])


def test_the_argument_that_differs_is_said(tmp_path: Path) -> None:
    found = {one["id"]: one for one in details(page(tmp_path, made_run(tmp_path)))}
    ((wanted, got, state, arguments),) = found["wrong-value"]["pairs"]
    assert (wanted, got, state) == ("read_file", "read_file", "differs")
    assert arguments[0][:4] == ["filepath", '"a.txt"', '"b.txt"', "differs"]


def test_two_runs_have_their_difference_and_what_flipped(tmp_path: Path) -> None:
    better = {**ANSWERS, "prose": ANSWERS["right"], "repaired": ANSWERS["prose"]}
    text = page(tmp_path, made_run(tmp_path / "a"), made_run(tmp_path / "b", better))
    assert "B against A" in text
    assert re.findall(r'data-scenario="([^"]*)"', text) == ["repaired", "prose"]
    assert {row[0] for row in rows(text)} == {0, 1}


def test_runs_of_other_questions_are_shown_and_not_compared(tmp_path: Path) -> None:
    one, other = made_run(tmp_path / "a"), made_run(tmp_path / "b", {"right": "no"})
    text = page(tmp_path, one, other)
    assert "another suite" in text
    assert len(rows(text)) == len(ANSWERS) + 1


def test_keys_are_covered_wherever_they_were_written(tmp_path: Path) -> None:
    key = "sk-proj-" + "Zx9" * 12
    answer = f'<tool_call>{{"name": "read_file", "arguments": {{"filepath": "{key}"}}}}</tool_call>'
    run = made_run(tmp_path, {"leaky": answer}, prompts={"leaky": f"Use {key}."})
    text = page(tmp_path, run)
    assert key not in text
    assert key not in json.dumps(details(text))
    assert "Use <key>." in json.dumps(details(text))


def test_a_parser_that_is_gone_leaves_what_the_run_wrote_down(tmp_path: Path) -> None:
    run = made_run(tmp_path)
    info = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps({**info, "format": "acme-lines-of-old"}))
    found = {one["id"]: one for one in details(page(tmp_path, run))}
    attempt = found["repaired"]["attempts"][0]
    assert attempt["pieces"] == [[ANSWERS["repaired"], "", []]]
    assert "single-quotes" in {mark[2] for mark in attempt["marks"]}
    assert "cannot be read again" in attempt["note"]


def test_a_thousand_results_are_under_a_megabyte_and_a_half(tmp_path: Path) -> None:
    words = "I read the file that you asked for, line by line, and weigh what it says. " * 15
    long = {name: f"{words}{text}" for name, text in ANSWERS.items()}
    run = multiplied(made_run(tmp_path, long), tmp_path / "many", 1000)
    page(tmp_path, run)
    assert (tmp_path / "page.html").stat().st_size < 1_500_000


def test_long_replies_are_shown_in_full_within_a_budget_and_failed_ones_first(
    tmp_path: Path,
) -> None:
    answers = {f"right-{n}": f"{'I look. ' * 2000}<tool_call>{READ}</tool_call>" for n in range(6)}
    answers |= {f"wrong-{n}": "No, I will not. " * 400 for n in range(3)} | {"short": "No."}
    report = report_of(made_run(tmp_path, answers))
    (size, *_) = (len(encode(one.model_dump())) for one in report.results)
    viewer = Viewer(report, 8 * size)
    views = {one.scenario: viewer.look(one) for one in report.results}
    cut = [name for name, view in views.items() if "shows only" in view.attempts[-1].note]
    assert cut == ["right-4", "right-5"]
    assert all(len(views[name].attempts[0].pieces[0].text) == SHORT_CHARACTERS for name in cut)
    whole = {one.scenario: Viewer(report).look(one) for one in report.results}
    assert all(views[name] == whole[name] for name in answers if name not in cut)


@pytest.mark.slow
def test_a_page_of_20_000_replies_of_100_kb_takes_seconds(tmp_path: Path) -> None:
    answers = {"long": "I look, and I will not say what I see. " * 2560}
    run = multiplied(made_run(tmp_path, answers), tmp_path / "many", 20_000)
    began = time.process_time()
    text = page(tmp_path, run)
    assert time.process_time() - began < 120
    assert len(text) < 64 << 20


def test_secrets_in_what_is_cut_are_covered(tmp_path: Path) -> None:
    key = f"sk-proj-{'abcDEF0123' * 8}"
    report = report_of(made_run(tmp_path, {"long": f"{'x ' * 480}{key} {'y' * 5000}"}))
    (attempt, *_) = Viewer(report, 0).look(report.results[0]).attempts
    assert "abcDEF" not in attempt.pieces[0].text
