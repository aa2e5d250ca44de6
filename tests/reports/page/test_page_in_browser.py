"""The page in a real browser: it opens from disk, can be used, and runs nothing that it shows.

Needs Chromium (Debian's `chromium`) and playwright; where one is missing, the tests are skipped.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.faults.runs import within
from tests.reports.page.made_runs import (
    ANSWERS,
    PASSED,
    Told,
    made_run,
    multiplied,
    report_of,
)
from tests.reports.page.payloads import HIT, PAYLOADS
from tunaeval.cli import main
from tunaeval.errors import TransportFailure
from tunaeval.reports.page.html import page_writer

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: pip install playwright"
)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium: apt-get install chromium"
)

WIDTHS = (380, 1400)
FAILED_FIRST = [*(name for name in ANSWERS if name not in PASSED), *PASSED]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@contextmanager
def opened(
    browser: Any, file: Path, width: int = 1400, scheme: str = "light", part: str = ""
) -> Iterator[Any]:
    """The page, ready; whatever a browser complains of, asks for or is made to say is a failure.

    `part` is what follows "#" in its address.
    """
    address = f"{file.as_uri()}#{part}"
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: said.append(request.url))
    page.goto(address)
    page.wait_for_selector(".row")
    yield page
    assert said == [file.as_uri()]
    context.close()


def written(folder: Path, *runs: Path) -> Path:
    page_writer.write_runs([report_of(run) for run in runs], folder / "page.html")
    return folder / "page.html"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    return written(folder, made_run(folder))


def ids(page: Any) -> list[str]:
    return [text.strip() for text in page.locator(".row .id").all_text_contents()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_opens_from_disk_and_fits(browser: Any, small: Path, width: int, scheme: str) -> None:
    with opened(browser, small, width, scheme) as page:
        assert ids(page) == FAILED_FIRST
        assert page.evaluate("document.documentElement.scrollWidth") == width
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (dark == "rgb(18, 20, 22)") == (scheme == "dark")


@pytest.mark.parametrize("width", WIDTHS)
def test_it_filters_searches_and_sorts(browser: Any, small: Path, width: int) -> None:
    with opened(browser, small, width) as page:
        page.select_option("#verdict", "PASS")
        assert ids(page) == ["right", "repaired"]
        page.select_option("#verdict", "")
        page.fill("#search", "bash cat")
        page.wait_for_function("document.querySelectorAll('.row').length === 1")
        assert ids(page) == ["wrong-tool"]
        page.fill("#search", "nowhere to be found")
        page.wait_for_selector("#nothing:visible")
        page.fill("#search", "")
        page.wait_for_selector(".row")
        page.click("[data-sort=scenario]")
        assert ids(page) == sorted(ANSWERS)
        page.click("[data-sort=scenario]")
        assert ids(page) == sorted(ANSWERS, reverse=True)
        page.click("[data-sort=scenario]")
        page.select_option("#outcome", label="truncated (1)")
        assert ids(page) == ["cut"]


@pytest.mark.parametrize("width", WIDTHS)
def test_a_result_opens_with_its_marks_and_what_differs(
    browser: Any, small: Path, width: int
) -> None:
    with opened(browser, small, width) as page:
        page.click(".row:has-text('repaired')")
        page.wait_for_selector("#body .raw")
        assert page.text_content("#body .raw mark.k-c >> nth=0") == "{"
        assert set(page.locator("#body mark.k-r").all_text_contents()) == {"'", ","}
        assert "single-quotes" in page.text_content("#body .notes")
        page.click("#close")
        page.click(".row:has-text('wrong-value')")
        page.click("#next")
        page.wait_for_selector("#title:has-text('wrong-tool')")
        page.click("#previous")
        page.wait_for_selector("#body tr.bad td:has-text('b.txt')")
        page.click("#close")
        page.wait_for_selector("#details", state="hidden")
        box = page.locator("#scroll").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


def test_the_keyboard_is_enough(browser: Any, small: Path) -> None:
    with opened(browser, small) as page:
        page.keyboard.press("/")
        page.keyboard.type("read")
        page.keyboard.press("Tab")
        page.focus("#scroll")
        page.keyboard.press("End")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        page.wait_for_selector("#title:has-text('right')")
        page.keyboard.press("k")
        page.wait_for_selector("#title:has-text('nothing')")
        page.keyboard.press("Escape")
        page.wait_for_selector("#details", state="hidden")
        assert page.evaluate("document.activeElement.id") == "scroll"


def test_a_flip_leads_to_its_rows(browser: Any, tmp_path: Path) -> None:
    other = {**ANSWERS, "right": ANSWERS["prose"]}
    file = written(tmp_path, made_run(tmp_path / "a"), made_run(tmp_path / "b", other))
    with opened(browser, file) as page:
        assert page.locator(".row").count() == 2 * len(ANSWERS)
        page.click("button.find:has-text('right')")
        assert ids(page) == ["Bright", "Aright"]


def sayable(text: str) -> str:
    """What a suite may say: it goes to a model."""
    return text.encode("utf-8", "ignore").decode().replace("\x00", "")


def test_there_are_sixty_payloads() -> None:
    assert len(set(PAYLOADS)) >= 60


def test_no_payload_runs_wherever_it_is_written(browser: Any, tmp_path: Path) -> None:
    answers = {}
    for number, payload in enumerate(PAYLOADS):
        call = json.dumps({"name": "read_file", "arguments": {"filepath": payload, payload: 1}})
        answers[f"{number} {sayable(payload)}"] = (
            f"{payload}<tool_call>{call}</tool_call>{{'{payload}"
        )
    run = made_run(tmp_path, answers, prompts={name: name for name in answers}, tags=PAYLOADS[:40])
    info = json.loads((run / "run.json").read_text())
    everywhere = dict.fromkeys(("run_id", "suite", "model", "heading", "profile"), PAYLOADS[1])
    del everywhere["profile"]
    (run / "run.json").write_text(json.dumps({**info, **everywhere}))
    with opened(browser, written(tmp_path, run)) as page:
        expected = page.locator("script").count()
        for at in range(len(PAYLOADS)):
            page.focus("#scroll")
            page.evaluate("document.getElementById('scroll').scrollTop = 0")
            page.keyboard.press("Enter") if at == 0 else page.keyboard.press("j")
            page.wait_for_function(
                "number => document.getElementById('title').textContent.startsWith(number)",
                arg=f"{at} ",
            )
            page.wait_for_selector("#body .message.model")
        page.wait_for_timeout(100)
        assert page.evaluate("window.hit") is None
        assert page.locator("script").count() == expected
        live = "img, iframe, object, embed, link, base, template, form form, [onerror], [onload]"
        assert page.locator(live).count() == 0
        assert page.locator("a[href]").count() == 1
        assert HIT in (page.text_content("#body") or "")


def test_a_payload_would_run_in_a_page_that_took_it_for_markup(
    browser: Any, tmp_path: Path
) -> None:
    """What the test above sees if escaping fails: else it would pass whatever the page did."""
    (tmp_path / "live.html").write_text("<!DOCTYPE html><body>" + PAYLOADS[0])
    context = browser.new_context()
    page = context.new_page()
    page.goto((tmp_path / "live.html").as_uri())
    assert page.evaluate("window.hit") == 1
    context.close()


def test_twenty_thousand_results_open_and_are_filtered_in_time(
    browser: Any, tmp_path: Path
) -> None:
    run = multiplied(made_run(tmp_path), tmp_path / "many", 20_000)
    file = written(tmp_path, run)
    with within(10), opened(browser, file) as page:
        assert page.locator(".row").count() < 100, "only rows that can be seen are in the page"
        took = page.evaluate(
            """() => {
                const began = performance.now();
                const select = document.getElementById('verdict');
                select.value = 'FAIL';
                select.dispatchEvent(new Event('change', {bubbles: true}));
                document.body.getBoundingClientRect();
                return performance.now() - began;
            }"""
        )
        assert took < 1000
        assert "15,000 of 20,000 shown" in page.text_content("#count")
        page.focus("#scroll")
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        page.wait_for_selector("#title:has-text('nothing-19999')")
        page.wait_for_selector("#body .message.model")
        assert len(page.screenshot()) > 10_000


def named(model: str, answers: Mapping[str, Any]) -> Told:
    client = Told(answers)
    client.model = model
    return client


def page_of_matrix(
    folder: Path, models: int, prompts: int, prices: tuple[float, float] | None = None
) -> Path:
    """What `tunaeval report RUN --html -o page.html` writes for so many models and prompts."""
    made_run(folder)  # for its suite
    right = dict.fromkeys(ANSWERS, ANSWERS["right"])
    every = (ANSWERS, right, dict.fromkeys(ANSWERS, ""))
    clients = [named(MODELS.get(at, f"model-{at}"), every[at % 3]) for at in range(models)]
    with ThreadPoolExecutor(1) as thread:  # a driver of browsers has an event loop in this one
        matrix = thread.submit(
            tunaeval.run_matrix,
            folder / "suite.json",
            models=clients,
            system_prompts={f"prompt-{at}": f"Be {at}." for at in range(prompts)},
            out=folder / "runs",
        ).result()
    file = Path(matrix.directory or "") / "matrix.json"
    info = json.loads(file.read_text())
    cells = [{**cell, "prices": prices or cell["prices"]} for cell in info["cells"]]
    file.write_text(json.dumps({**info, "cells": cells}))
    assert main(["report", str(matrix.directory), "--html", "-o", str(folder / "m.html")]) == 0
    return folder / "m.html"


MODELS = {1: "مساعد الأدوات", 2: "long-" * 60}
"""Names that are written from the right, and of 300 characters."""


@pytest.fixture(scope="module")
def of_a_matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return page_of_matrix(tmp_path_factory.mktemp("matrix"), 3, 2)


@pytest.mark.parametrize("width", [375, 1280])
def test_a_failed_cell_of_the_grid_opens_its_reply_and_its_link_opens_it_again(
    browser: Any, of_a_matrix: Path, width: int
) -> None:
    failed = "button.open.v-FAIL[data-scenario='wrong-value']"
    with opened(browser, of_a_matrix, width) as page:
        assert page.locator("table.ranked tbody tr").count() == 6
        assert page.locator("table.ranked").is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") == width
        first = page.locator(f"{failed}[data-run='0']")
        assert first.get_attribute("aria-label") == "wrong-value, 01: failed"
        first.click()
        page.wait_for_selector("#title:has-text('wrong-value')")
        page.wait_for_selector("#body tr.bad td:has-text('b.txt')")
        assert page.evaluate("document.documentElement.scrollWidth") == width
        link = page.url
    assert link.endswith("#result=01%2F1%2Fwrong-value")
    with opened(browser, of_a_matrix, width, part=link.partition("#")[2]) as page:
        page.wait_for_selector("#body tr.bad td:has-text('b.txt')")
        page.click("#close")
        page.locator(f"{failed}[data-run='4']").click()
        page.wait_for_selector("#body .message.model")
        assert "#result=05%2F1%2Fwrong-value" in page.url


def bottom(page: Any, selector: str) -> float:
    box = page.locator(selector).first.bounding_box()
    return float(box["y"] + box["height"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "of_six"), [(1280, 900), (375, 1200)])
def test_the_first_failed_result_is_near_the_top(  # noqa: PLR0917 - fixtures and parameters
    browser: Any, tmp_path: Path, of_a_matrix: Path, width: int, of_six: int, scheme: str
) -> None:
    """Also where a run has the longest heading, names and remarks."""
    run = made_run(tmp_path)
    info = json.loads((run / "run.json").read_text())
    long = dict.fromkeys(("heading", "model", "suite", "system_prompt"), "many words " * 30)
    (run / "run.json").write_text(json.dumps({**info, **long, "scenarios": 900}))
    for file, most in ((written(tmp_path, run), 900), (of_a_matrix, of_six)):
        with opened(browser, file, width, scheme) as page:
            first = page.locator(".row").first
            assert first.get_attribute("data-verdict") == "FAIL"
            assert bottom(page, ".row .id") < most
            assert bottom(page, ".row .got") < most
            assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("width", [375, 1280])
def test_results_are_directly_below_the_scores(
    browser: Any, small: Path, of_a_matrix: Path, width: int
) -> None:
    for file, parts in (
        (small, [".score", ".results", ".stack"]),
        (of_a_matrix, [".ranking", ".matrix", ".results", ".cards"]),
    ):
        with opened(browser, file, width) as page:
            tops = [page.locator(one).first.bounding_box()["y"] for one in parts]
            assert tops == sorted(tops)
            assert page.locator(".cards[open]").count() == 0


def test_the_columns_that_matter_are_seen_on_a_telephone(browser: Any, of_a_matrix: Path) -> None:
    with opened(browser, of_a_matrix, 375) as page:
        heads = page.locator("table.ranked thead th").all_text_contents()
        assert heads[:5] == ["cell", "score", "passed", "of", "ties"]
        for column in (2, 3, 4, 5):
            for cell in page.locator(f"table.ranked tr > :nth-child({column})").all():
                box = cell.bounding_box()
                assert box["x"] + box["width"] <= 375 - 16


BROKEN = """() => {
    const broken = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const node = walker.currentNode;
        for (const found of node.data.matchAll(/[\\d.,]+ (%|tokens?|s)(?!\\w)/g)) {
            const range = document.createRange();
            range.setStart(node, found.index);
            range.setEnd(node, found.index + found[0].length);
            const tops = new Set([...range.getClientRects()].map((one) => Math.round(one.top)));
            if (tops.size > 1 && !node.parentElement.closest('.remarks, pre'))
                broken.push(found[0]);
        }
    }
    return broken;
}"""
"""Returns the numbers that a line break parts from their units."""


@pytest.mark.parametrize("width", [375, 620, 1000])
def test_no_number_is_parted_from_its_unit(
    browser: Any, small: Path, of_a_matrix: Path, width: int
) -> None:
    for file in (small, of_a_matrix):
        with opened(browser, file, width) as page:
            page.eval_on_selector_all("details", "all => all.forEach((one) => { one.open = true })")
            assert page.evaluate(BROKEN) == []


def test_cells_are_numbers_with_a_name_and_no_colour(browser: Any, of_a_matrix: Path) -> None:
    numbers = [f"{at:02}" for at in range(1, 7)]
    with opened(browser, of_a_matrix, 1280) as page:
        assert sorted(page.locator("table.ranked .letter").all_text_contents()) == numbers
        assert sorted(page.locator("table.grid .letter").all_text_contents()) == numbers
        names = page.locator("#cell option").all_text_contents()
        assert names[:3] == ["All cells", "01 · model-0, prompt-0", "02 · model-0, prompt-1"]
        page.click(".cards > summary")
        assert "model-0, prompt-1" in page.locator(".run h2").all_text_contents()
        assert "مساعد الأدوات, prompt-0" in page.locator(".run h2").all_text_contents()
        colours = page.eval_on_selector_all(
            ".letter", "all => all.map((one) => getComputedStyle(one).backgroundColor)"
        )
        assert len(set(colours)) == 1
        words = "Same letter in `ties`: these scenarios cannot tell them apart."
        assert words in page.inner_text(".ranking")


def test_two_runs_are_letters_and_have_colours(browser: Any, tmp_path: Path) -> None:
    file = written(tmp_path, made_run(tmp_path / "a"), made_run(tmp_path / "b"))
    with opened(browser, file, 1280) as page:
        assert page.locator(".runs .letter").all_text_contents() == ["A", "B", "A", "B"]
        colours = page.eval_on_selector_all(
            ".runs .letter", "all => all.map((one) => getComputedStyle(one).backgroundColor)"
        )
        assert len(set(colours)) == 2


def test_the_chart_has_a_labelled_circle_for_each_ranked_cell(
    browser: Any, of_a_matrix: Path, tmp_path: Path
) -> None:
    priced = page_of_matrix(tmp_path, 1, 2, (2.0, 10.0))
    for file, against, cells in ((of_a_matrix, "latency", 6), (priced, "cost", 2)):
        with opened(browser, file, 1280) as page:
            charts = page.locator("svg[role=img][aria-label^='score against']")
            assert charts.get_attribute("aria-label") == f"score against {against}"
            labels = charts.locator("text.point").all_text_contents()
            assert sorted(labels) == [f"{at:02}" for at in range(1, cells + 1)]
            titles = " ".join(charts.locator("circle title").all_text_contents())
            assert charts.locator("circle").count() == cells
            assert "01 (model-0, prompt-0): 25.0 %" in titles


def test_there_is_no_histogram_of_one_value(browser: Any, small: Path, tmp_path: Path) -> None:
    one = written(tmp_path, made_run(tmp_path, {"right": ANSWERS["right"]}))
    for file, count in ((small, 2), (one, 0)):
        with opened(browser, file) as page:
            assert page.locator("svg.histogram").count() == count


def test_each_row_says_what_it_is(browser: Any, tmp_path: Path) -> None:
    """Failed ones first; each group in the order of the suite, however the results arrived."""
    answers = {
        "سؤال": ANSWERS["right"],
        "n" * 300: ANSWERS["prose"],
        "lost": TransportFailure("gone", kind="status"),
        "first": ANSWERS["prose"],
    }
    run = made_run(tmp_path, answers)
    lines = (run / "results.jsonl").read_bytes().splitlines(keepends=True)
    (run / "results.jsonl").write_bytes(b"".join(reversed(lines)))
    with opened(browser, written(tmp_path, run)) as page:
        rows = page.eval_on_selector_all(
            ".row", "all => all.map((one) => [one.dataset.scenario, one.dataset.verdict])"
        )
    assert rows == [["n" * 300, "FAIL"], ["first", "FAIL"], ["lost", "ERROR"], ["سؤال", "PASS"]]


def test_the_address_has_the_filters(browser: Any, of_a_matrix: Path) -> None:
    part = "q=wrong%20bash&verdict=FAIL&outcome=calls&tool=read_file&tag=files&cell=02"
    with opened(browser, of_a_matrix, part=part) as page:
        assert page.url.endswith(f"#{part}")
        assert ids(page) == ["02wrong-tool"]
        page.fill("#search", "")
        page.select_option("#outcome", "")
        page.wait_for_function("document.querySelectorAll('.row').length === 6")
        assert page.url.endswith("#verdict=FAIL&tool=read_file&tag=files&cell=02")
        page.evaluate("location.hash = '#verdict=PASS&cell=01&tool=no-such-tool'")
        page.wait_for_function("document.querySelectorAll('.row').length === 2")
        assert page.input_value("#verdict") == "PASS"
        assert page.url.endswith("#verdict=PASS&cell=01")


def test_keys_work_before_anything_is_clicked(browser: Any, small: Path) -> None:
    with opened(browser, small) as page:
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog[open] #title:has-text('wrong-value')")
        page.keyboard.press("j")
        page.wait_for_selector("#title:has-text('wrong-tool')")
        page.keyboard.press("Escape")
        page.wait_for_selector("#details", state="hidden")
    with opened(browser, small) as page:
        for key in "jjk":
            page.keyboard.press(key)
        page.keyboard.press("Enter")
        page.wait_for_selector("dialog[open] #title:has-text('wrong-tool')")
    with opened(browser, small) as page:
        page.keyboard.press("/")
        page.keyboard.type("jk")
        assert page.input_value("#search") == "jk"
        page.keyboard.press("Escape")
        assert page.evaluate("document.activeElement.id") != "search"


def test_what_is_printed_lists_the_failed_scenarios(browser: Any, of_a_matrix: Path) -> None:
    with opened(browser, of_a_matrix) as page:
        page.emulate_media(media="print")
        page.wait_for_selector("#printed li")
        printed = page.locator("#printed li").all_inner_texts()
        assert len(printed) == 2 * (6 + 8)
        assert "01 wrong-value" in printed[4]
        assert "expected read_file(filepath='a.txt')" in printed[4]
        assert "got read_file(filepath='b.txt')" in printed[4]
        assert not page.locator(".results").is_visible()
        assert len(page.pdf()) > 10_000


@pytest.mark.parametrize(("models", "prompts"), [(1, 2), (20, 10)])
def test_few_and_many_cells_fit(browser: Any, tmp_path: Path, models: int, prompts: int) -> None:
    file = page_of_matrix(tmp_path, models, prompts)
    assert file.stat().st_size < 3_000_000
    for width in (375, 1280):
        with within(10), opened(browser, file, width) as page:
            assert page.evaluate("document.documentElement.scrollWidth") == width
            assert bottom(page, ".row .got") < 1200
            assert page.locator("table.ranked tbody tr").count() == models * prompts
