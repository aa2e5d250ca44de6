"""The page in a real browser: it opens from disk, can be used, and runs nothing that it shows.

Needs Chromium (Debian's `chromium`) and playwright; where one is missing, the tests are skipped.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.faults.runs import within
from tests.reports.page.made_runs import ANSWERS, Told, made_run, multiplied, report_of
from tests.reports.page.payloads import HIT, PAYLOADS
from tunaeval.cli import main
from tunaeval.reports.page.html import page_writer

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright is not installed: pip install playwright"
)
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium: apt-get install chromium"
)

WIDTHS = (380, 1400)


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
        assert ids(page) == list(ANSWERS)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (dark == "rgb(18, 20, 22)") == (scheme == "dark")


@pytest.mark.parametrize("width", WIDTHS)
def test_it_filters_searches_and_sorts(browser: Any, small: Path, width: int) -> None:
    with opened(browser, small, width) as page:
        page.select_option("#verdict", "p")
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
        page.click("#next")
        page.wait_for_selector("#title:has-text('wrong-value')")
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
        page.wait_for_selector("#title:has-text('cut')")
        page.keyboard.press("k")
        page.wait_for_selector("#title:has-text('malformed')")
        page.keyboard.press("Escape")
        page.wait_for_selector("#details", state="hidden")
        assert page.evaluate("document.activeElement.id") == "scroll"


def test_a_flip_leads_to_its_rows(browser: Any, tmp_path: Path) -> None:
    other = {**ANSWERS, "right": ANSWERS["prose"]}
    file = written(tmp_path, made_run(tmp_path / "a"), made_run(tmp_path / "b", other))
    with opened(browser, file) as page:
        assert page.locator(".row").count() == 2 * len(ANSWERS)
        page.click("button.find:has-text('right')")
        assert ids(page) == ["Aright", "Bright"]


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
                select.value = 'f';
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


@pytest.fixture(scope="module")
def of_a_matrix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `tunaeval report RUN --html -o page.html` writes for three models and two prompts."""
    folder = tmp_path_factory.mktemp("matrix")
    made_run(folder)  # for its suite
    right = dict.fromkeys(ANSWERS, ANSWERS["right"])
    with ThreadPoolExecutor(1) as thread:  # a driver of browsers has an event loop in this one
        matrix = thread.submit(
            tunaeval.run_matrix,
            folder / "suite.json",
            models=[Told(ANSWERS), Told(right), Told(dict.fromkeys(ANSWERS, ""))],
            system_prompts={"terse": "Be brief.", "kind": "Be kind. " * 9},
            out=folder / "runs",
        ).result()
    assert main(["report", str(matrix.directory), "--html", "-o", str(folder / "m.html")]) == 0
    return folder / "m.html"


@pytest.mark.parametrize("width", [375, 1280])
def test_a_failed_cell_of_the_grid_opens_its_reply_and_its_link_opens_it_again(
    browser: Any, of_a_matrix: Path, width: int
) -> None:
    failed = "button.open.v-f[data-scenario='wrong-value']"
    with opened(browser, of_a_matrix, width) as page:
        assert page.locator("table.ranked tbody tr").count() == 6
        assert page.locator("table.ranked").is_visible()
        assert page.evaluate("document.documentElement.scrollWidth") == width
        first = page.locator(f"{failed}[data-run='0']")
        assert first.get_attribute("aria-label") == "wrong-value, made-1, terse: failed"
        first.click()
        page.wait_for_selector("#title:has-text('wrong-value')")
        page.wait_for_selector("#body tr.bad td:has-text('b.txt')")
        assert page.evaluate("document.documentElement.scrollWidth") == width
        link = page.url
    assert "#result=0/1/wrong-value" in link
    with opened(browser, of_a_matrix, width, part=link.partition("#")[2]) as page:
        page.wait_for_selector("#body tr.bad td:has-text('b.txt')")
        page.click("#close")
        page.locator(f"{failed}[data-run='4']").click()
        page.wait_for_selector("#body .message.model")
        assert "#result=4/1/wrong-value" in page.url
