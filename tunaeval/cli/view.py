"""`tunaeval view`: serves the page of a run, or a list of runs, also while they are written.

    /                    the page of one run, or else the list
    /runs/NAME/          the page of one run of the list
    .../events           its results and its state, as server-sent events

A page is that of `tunaeval report`; it loads itself again when an event says that there is more.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import webbrowser
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from tunaeval.endpoint.connections import (
    EVENTS,
    HttpRequest,
    HttpResponse,
    Loopback,
    foreign,
    whole,
)
from tunaeval.errors import TunaevalError
from tunaeval.files.plain_files import is_there, real
from tunaeval.reports.page.html import list_parts, page_parts, page_policy
from tunaeval.runs.directory import RUN_FILE, load_report, read_info, runs_below
from tunaeval.runs.matrix import is_matrix, load_matrix, loaded_matrix, read_matrix
from tunaeval.runs.watching import Watch
from tunaeval.showing import counted, visible
from tunaeval.types.calls import JsonObject
from tunaeval.workers import in_daemon

from .output import Output
from .show import runs_here

_POLL_SECONDS = 0.3
_QUIET_POLLS = 50
"""After so many polls without news a comment is sent, which finds clients that have gone."""
T = TypeVar("T")


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Serve until a signal ends the command."""
    named = [Path(path) for path in arguments.runs]
    _runs(named)  # raises if there are none
    output.ending.run(_serve(Pages(named), arguments, output))
    return 0


async def _serve(pages: Pages, arguments: argparse.Namespace, output: Output) -> None:
    server = Loopback(pages.respond, arguments.port)
    await server.start()
    try:
        address = f"http://127.0.0.1:{server.port}/"
        output.result(address)
        output.flush()
        output.note("tunaeval: this is the address of the page; Ctrl-C ends it")
        if not arguments.no_browser and _has_screen():
            in_daemon(lambda: webbrowser.open(address))
        await asyncio.Event().wait()
    finally:
        await server.stop()


def _has_screen() -> bool:
    """Whether a browser would open a window; one in the terminal would be in the way."""
    variables = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    return sys.platform in {"win32", "darwin"} or any(map(os.environ.get, variables))


class Pages:
    """Answers requests for the page of a run, the list of runs, and their events.

    The runs in the directories are looked up with each request, as new ones may have begun.
    """

    def __init__(self, named: list[Path]) -> None:
        self._named = named
        self._pages: dict[Path, tuple[object, bytes]] = {}
        self._rows: dict[Path, tuple[object, JsonObject]] = {}

    async def respond(self, http: HttpRequest) -> HttpResponse:
        """Return the response; errors become responses, too."""
        if sent := foreign(http.headers):
            return _text(403, f"the request was sent {sent}; only pages of this server may ask it")
        if http.method not in {"GET", "HEAD"}:
            words = f"there is no {http.method:.40} here, only GET and HEAD"
            return _text(405, words, {"allow": "GET, HEAD"})
        try:
            runs = await _beside(lambda: _runs(self._named))
            return await self._found(http.path.partition("?")[0], runs)
        except TunaevalError as error:
            return _text(404, str(error))
        except Exception as error:  # noqa: BLE001 - an error must not end the connection
            return _text(500, f"this page cannot be made: {error!r}")

    async def _found(self, path: str, runs: list[Path]) -> HttpResponse:
        by_path = {f"/runs{real(one).as_uri().removeprefix('file://')}/": one for one in runs}
        place, _, last = path.rpartition("/")
        chosen = runs[0] if place == "" else by_path.get(f"{place}/")
        if chosen is None or last not in {"", "events"}:
            return _text(404, f"there is no {visible(path, 200)}; there are {', '.join(by_path)}")
        if last == "events":
            return HttpResponse(200, _events(chosen), EVENTS, headers=(*_NOT_KEPT.items(),))
        if place == "" and len(runs) > 1:
            return await self._list(by_path)
        try:
            return _page(await _beside(lambda: self._page_of(chosen)))
        except TunaevalError:  # it is damaged, as the list says
            return await self._list({path: chosen})

    async def _list(self, runs: dict[str, Path]) -> HttpResponse:
        rows = await _beside(lambda: [self._row(path, one) for path, one in runs.items()])
        return _page("".join(list_parts(rows)).encode("utf-8", "backslashreplace"))

    def _page_of(self, directory: Path) -> bytes:
        watch = _watch_of(directory)
        seen, is_running = (watch.seen(), watch.state()), watch.state()["state"] == "running"
        before, page = self._pages.get(directory, (None, b""))
        if before == seen:
            return page
        if is_matrix(directory):
            matrix = loaded_matrix(directory, is_running=is_running)
            parts = page_parts(matrix.cells, matrix.ranking, is_live=True)
        else:
            report = load_report(directory)
            shown = report.model_copy(update={"interrupted": report.interrupted and not is_running})
            parts = page_parts([shown], is_live=True)
        page = "".join(parts).encode("utf-8", "backslashreplace")
        self._pages[directory] = (seen, page)
        return page

    def _row(self, path: str, directory: Path) -> JsonObject:
        """Return what the list has of one run, or what is wrong with it."""
        row: JsonObject = {"path": path, "name": str(directory), "damage": ""}
        try:
            watch = _watch_of(directory)
            seen = (watch.seen(), watch.state())
            before, known = self._rows.get(directory, (None, row))
            if before == seen:
                return known
            if is_matrix(directory):
                matrix = read_matrix(directory)
                load_matrix(directory)
                about = (matrix.suite, counted(len(matrix.cells), "cell"), matrix.started_at)
            else:
                info = load_report(directory).run
                about = (info.suite, info.model or info.client, info.started_at)
        except TunaevalError as error:
            return {**row, "damage": str(error)}
        row |= {**dict(zip(("suite", "model", "started"), about, strict=True)), **watch.state()}
        self._rows[directory] = (seen, {**row, "passed": watch.passed})
        return self._rows[directory][1]


def _runs(named: Sequence[Path]) -> list[Path]:
    """Return the runs and matrices that are named, or below what is named, the newest first; all
    if none is named. Raise RecordError if there are none.
    """
    found: list[Path] = [] if named else runs_here()[::-1]
    for path in named:
        is_one = is_there(path / RUN_FILE) or is_matrix(path)
        inside = [path] if is_one else runs_below(path)[::-1]
        if not inside:
            read_info(path)  # it raises, and says what is there
        found += inside
    return [*dict.fromkeys(found)]


def _watch_of(directory: Path) -> Watch:
    """Return a watch that has seen all results."""
    watch = Watch(directory)
    while any(True for _ in watch.news()):
        pass
    return watch


async def _events(directory: Path) -> AsyncGenerator[bytes]:
    """Yield what is there, and then what comes, until the client goes."""
    watch, last, quiet = Watch(directory), JsonObject(), 0
    while True:
        news, state = await _beside(lambda: _next(watch))
        text = "".join(_event("result", one) for one in news)
        if not news and state != last:
            text, last = _event("state", state), state
        quiet = 0 if text else quiet + 1
        if quiet > _QUIET_POLLS:
            text, quiet = ": nothing new\n\n", 0
        if text:
            yield text.encode()
        if not news:
            await asyncio.sleep(_POLL_SECONDS)


def _next(watch: Watch) -> tuple[list[JsonObject], JsonObject]:
    try:
        return [*watch.news()], watch.state()
    except TunaevalError:  # it is damaged, as its page says
        return [], {"state": "stopped", "done": 0, "of": 0}


def _event(name: str, data: JsonObject) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


async def _beside(work: Callable[[], T]) -> T:
    """Do what takes time in a thread that keeps no process from ending."""
    return await asyncio.wrap_future(in_daemon(work))


_NOT_KEPT = {"cache-control": "no-store"}


def _page(body: bytes) -> HttpResponse:
    headers = {**_NOT_KEPT, "content-security-policy": page_policy(is_live=True)}
    return whole(200, body, "text/html; charset=utf-8", headers)


def _text(status: int, words: str, headers: Mapping[str, str] | None = None) -> HttpResponse:
    body = f"{visible(words)}\n".encode("utf-8", "backslashreplace")
    return whole(status, body, "text/plain; charset=utf-8", headers)
