"""A page that is open while its run is written, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_view_command import Slow, running, slow, viewed
from tests.reports.page.test_page_in_browser import CHROMIUM, browser, playwright

__all__ = ["browser", "slow"]

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium: apt-get install chromium"
)


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """An empty page; whatever it complains of is a failure."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    made = context.new_page()
    said: list[str] = []
    made.on("console", lambda message: said.append(message.text))
    made.on("pageerror", lambda error: said.append(str(error)))
    yield made
    assert said == []
    context.close()


def test_new_results_appear_and_nothing_that_a_reader_did_is_lost(
    page: Any, tmp_path: Path, slow: Slow
) -> None:  # fmt: skip
    with running(tmp_path, slow) as process, viewed(tmp_path) as (url, _):
        page.goto(f"{url}#q=call")
        page.wait_for_selector("#live:has-text('running: 0 of 6')")
        slow.turns.release(2)
        page.wait_for_selector("[data-scenario=s1][data-verdict=PASS]")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_selector("#details[open] #title:has-text('s1')")
        page.fill("#search", "call", force=True)
        slow.turns.release()
        page.wait_for_selector("[data-scenario=s2]", state="attached")
        assert page.inner_text("#title") == "s1"
        page.keyboard.press("j")
        page.wait_for_selector("#title:has-text('s2')")
        page.keyboard.press("Escape")
        page.wait_for_function("location.hash === '#q=call'")
        slow.turns.release(9)
        assert process.wait(60) == 0
        page.wait_for_selector("#live:has-text('finished: 6 of 6')")
        page.wait_for_selector("#count:has-text('6 shown, 6 passed')")
        assert page.input_value("#search") == "call"
        assert playwright is not None


def test_a_list_leads_to_the_page_of_a_run(
    page: Any, tmp_path: Path, slow: Slow
) -> None:  # fmt: skip
    slow.turns.release(99)
    for _ in range(2):
        with running(tmp_path, slow) as process:
            assert process.wait(60) == 0
    with viewed(tmp_path) as (url, _):
        page.goto(url)
        assert page.locator(".list li").count() == 2
        assert "finished: 6 of 6 · 6 passed" in page.inner_text(".list li >> nth=0")
        page.click(".list a >> nth=1")
        page.wait_for_selector("#live:has-text('finished: 6 of 6')")
        assert page.locator(".row").count() == 6
