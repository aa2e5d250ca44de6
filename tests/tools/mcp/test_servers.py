"""A server's tools and results arrive, and whatever a server breaks is its own failure."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest

from tests.tools.mcp.processes import is_running, sees_processes
from tunaeval import Executor, ToolCall, mcp_tools, to_tools
from tunaeval.errors import ToolsError, TransportFailure, UsageError
from tunaeval.tools import mcp
from tunaeval.tools.mcp import McpResult, McpServer, read_servers, shown_place
from tunaeval.tools.tool_prompts import tool_spec

Raw = Callable[..., str]


async def called(place: str, *calls: str) -> list[McpResult]:
    async with McpServer(place) as server:
        return [await server.call("do", {"how": how}) for how in calls]


def test_a_command_and_an_address_offer_the_same_tools(offering: str, address: str) -> None:
    tools = mcp_tools(offering)
    assert [*tools] == ["weather", "note"]
    assert tools["weather"].description == "Say the weather in a city."
    assert tools == mcp_tools(address)


def test_both_versions_of_the_protocol_are_spoken(offering: str, address: str, raw: Raw) -> None:
    async def versions() -> list[str]:
        found = []
        for place in (offering, address, raw()):
            async with McpServer(place) as server:
                found.append(server.protocol)
        return found

    assert asyncio.run(versions()) == ["2026-07-28", "2026-07-28", "2025-11-25"]


def test_a_server_that_is_not_ours_is_asked_and_called(clock: str) -> None:
    async def told() -> tuple[McpResult, McpResult]:
        zones = {"source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "Etc/UTC"}
        async with McpServer(clock) as server:
            right = await server.call("convert_time", zones)
            return right, await server.call("convert_time", {**zones, "time": "noon"})

    right, wrong = asyncio.run(told())
    assert not right.is_error
    assert right.structured["time_difference"] == "-9.0h"
    assert wrong.is_error


def test_structured_results_are_kept_and_errors_are_failures(address: str) -> None:
    async def told() -> list[McpResult]:
        async with McpServer(address) as server:
            cities = ("Oslo", "Atlantis")
            found = [await server.call("weather", {"city": city}) for city in cities]
            return [*found, await server.call("weather", {}), await server.call("nothing", {})]

    oslo, *failed = asyncio.run(told())
    assert oslo.structured == {"city": "Oslo", "degrees": 21}
    assert not oslo.is_error
    assert all(one.is_error for one in failed)
    assert "no such city" in failed[0].text


def test_its_tools_can_be_described_and_run(raw: Raw) -> None:
    async def told() -> tuple[list[str], object]:
        async with McpServer(raw()) as server:
            (result,) = await Executor(server.tools).execute([ToolCall("do", {"how": "well"})])
            return [tool_spec(one).name for one in server.tools], result.value

    assert asyncio.run(told()) == (["do"], McpResult("did well"))


def test_the_objects_of_the_sdk_are_tools() -> None:
    from mcp.types import Tool

    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    (spec,) = to_tools([Tool(name="weather", description="Say it.", input_schema=schema)]).values()
    assert (spec.name, spec.description, spec.parameters) == ("weather", "Say it.", schema)


def test_results_are_text_for_the_model(raw: Raw) -> None:
    structured, media, printed = asyncio.run(called(raw(), "structured", "media", "print"))
    assert structured == McpResult(f'{{"n": {10**30}}}', structured={"n": 10**30})
    assert media.text.split("\n") == [
        "did media", "(image: image/png, 4 characters of base64)", "(resource_link: file:///a)",
        "in b",
    ]  # fmt: skip
    assert printed.text == "did print"


@pytest.mark.parametrize("how", ["failed", "-32602", "7"])
def test_what_is_wrong_with_a_call_is_its_result(raw: Raw, how: str) -> None:
    failed, well = asyncio.run(called(raw(), how, "well"))
    assert failed.is_error
    assert not well.is_error


def test_a_lone_surrogate_in_the_arguments_does_not_reach_the_server(raw: Raw) -> None:
    refused, well = asyncio.run(called(raw(), "\ud800", "well"))
    assert refused.is_error
    assert not well.is_error


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("die", r"ended at the call of 'do'; the last line of its stderr: out of luck \x1b[31m"),
        ("garbage", "answered the call of 'do' with what MCP does not allow: content: "),
        ("nan", "answered the call of 'do' with what MCP does not allow: "),
        ("-32603", "failed (-32603, error -32603) at the call of 'do'"),
    ],
)
def test_what_is_wrong_with_a_server_is_a_failure_and_stays_one(
    raw: Raw, how: str, words: str
) -> None:
    async def failures() -> list[str]:
        async with McpServer(raw()) as server:
            found = []
            for one in (how, "well"):
                with pytest.raises(TransportFailure) as caught:
                    await server.call("do", {"how": one})
                found.append(str(caught.value))
            return found

    first, second = asyncio.run(failures())
    assert words in first
    assert first == second


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("two-of-a-name", "cannot be used: it offers two tools of the name 'do'"),
        ("endless", "its list of tools does not end: after 0 it names another page"),
        (
            "no-schema",
            "what MCP does not allow: tools.0.inputSchema.type: Input",
        ),
        ("dies", "ended before it answered; the last line of its stderr: no licence"),
    ],
)
def test_a_server_that_cannot_be_used_is_named_with_the_reason(
    raw: Raw, fault: str, words: str
) -> None:
    with pytest.raises(ToolsError, match=r"the MCP server .*raw\.py") as caught:
        mcp_tools(raw(fault))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("no-such-program at all", "cannot be started: No such file or directory"),
        ("http://user:secret@127.0.0.1:9/mcp?key=secret", "'http://127.0.0.1:9/mcp' failed"),
    ],
)
def test_a_server_that_is_not_there_is_named_without_secrets(place: str, words: str) -> None:
    with pytest.raises(ToolsError) as caught:
        mcp_tools(place)
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_silent_server_is_not_waited_for(raw: Raw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp, "CONNECT_SECONDS", 0.5)
    with pytest.raises(ToolsError, match=r"did not answer within 0\.5 s; it prints to stdout"):
        mcp_tools(raw("prints", "silent"))


def test_five_hundred_tools_in_pages_and_a_banner_on_stdout_are_no_failure(raw: Raw) -> None:
    assert len(mcp_tools(raw("many", "prints"))) == 500


def test_two_servers_with_one_name_are_refused(raw: Raw) -> None:
    with pytest.raises(ToolsError, match="the tool 'do' is also one of the MCP server"):
        mcp_tools(raw(), raw("prints"))


@sees_processes
def test_a_process_that_ignores_its_end_is_killed(raw: Raw) -> None:
    mark = f"mark-{time.monotonic_ns()}"
    mcp_tools(raw("stays", mark))
    assert not is_running(mark)


@sees_processes
def test_a_start_that_is_cancelled_ends_the_process_soon(raw: Raw) -> None:
    mark = f"mark-{time.monotonic_ns()}"

    async def enter() -> None:
        async with McpServer(raw("silent", mark)):
            pass

    async def seconds() -> float:
        task = asyncio.create_task(enter())
        while not is_running(mark):  # noqa: ASYNC110 - another process reports nothing
            await asyncio.sleep(0.05)
        task.cancel()
        began = time.monotonic()
        await asyncio.wait({task})
        assert task.cancelled()
        return time.monotonic() - began

    assert asyncio.run(seconds()) < mcp._CLOSE_SECONDS - 3
    assert not is_running(mark)


def test_tools_are_listed_where_an_event_loop_runs(raw: Raw) -> None:
    async def inside() -> list[str]:
        return [*mcp_tools(raw())]

    assert asyncio.run(inside()) == ["do"]


@pytest.mark.parametrize("place", ["", "  ", "python 'server.py"])
def test_what_is_no_command_is_refused(place: str) -> None:
    with pytest.raises(UsageError, match="the MCP server"):
        read_servers(place, "mcp")


def test_an_address_is_shown_without_user_and_query() -> None:
    assert shown_place("https://me:pw@host:1/mcp?key=a#b") == "https://host:1/mcp"
    assert shown_place("python server.py?") == "python server.py?"
