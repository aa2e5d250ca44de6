"""`tunaeval convert`: line by line, byte for byte where nothing is converted, all or nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Tuna = Callable[..., subprocess.CompletedProcess[str]]
LS = '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>'
XML = (
    "<tool_call>\n<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call>"
)
TO_XML = ("convert", "--from", "hermes", "--to", "qwen3-coder")


def test_lines_go_from_stdin_to_stdout(tuna: Tuna) -> None:
    rows: list[object] = [LS, {"text": f"Größe: {LS}", "id": 10**30}]
    done = tuna(*TO_XML, stdin="".join(json.dumps(row) + "\n" for row in rows).encode())
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        XML,
        {"text": f"Größe: {XML}", "id": 10**30},
    ]
    assert "Größe" in done.stdout
    assert done.returncode == 0
    assert done.stderr == "2 lines: 2 converted, 0 without calls to convert, 0 left as they were\n"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"text": "<tool_call>{}</tool_call>"}', "missing-name"),
        (b'{"text": 1.50, "text": 2}', "twice in one object"),
        (b'{"text": 1e999}', "beyond all floats"),
        (b'{"text": "caf\xe9"}', "not JSON"),
        (b"{broken", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"17", "a row is a text or an object"),
    ],
)
def test_what_cannot_be_converted_passes_as_it_is_and_is_told(
    line: bytes, why: str, tuna: Tuna, tmp_path: Path
) -> None:
    (tmp_path / "in.jsonl").write_bytes(b'"%s"\n%s' % (LS.replace('"', '\\"').encode(), line))
    done = tuna(*TO_XML, "in.jsonl", "-o", "out.jsonl")
    assert done.returncode == 1
    assert "line 2 is left as it is: " in done.stderr
    assert why in done.stderr
    first, second = (tmp_path / "out.jsonl").read_bytes().split(b"\n")
    assert json.loads(first) == XML
    assert second == line


def test_lines_without_calls_pass_byte_for_byte(here: Tuna, tmp_path: Path) -> None:
    lines = (
        b'{ "text":"none",  "x": 1.50 }\r\n\n"\\u00e9 \\ud800"\n{"role": "user", "content": "a"}'
    )
    (tmp_path / "in.jsonl").write_bytes(lines)
    done = here(*TO_XML, "in.jsonl", "--out", "out.jsonl")
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "out.jsonl").read_bytes() == lines


def test_half_a_surrogate_pair_is_kept(here: Tuna, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps(f"\ud800 {LS}"))
    assert here(*TO_XML, "in.jsonl", "-o", "out.jsonl").returncode == 0
    assert json.loads((tmp_path / "out.jsonl").read_text()) == f"\ud800 {XML}"


def test_a_file_may_be_converted_in_its_place(here: Tuna, tmp_path: Path) -> None:
    file = tmp_path / "data.jsonl"
    message = {"role": "assistant", "content": f"Sure.\n{LS}"}
    file.write_text(json.dumps({"messages": [message]}))
    assert here("convert", "data.jsonl", "--from", "hermes", "--to", "openai",
                "-o", "data.jsonl").returncode == 0  # fmt: skip
    (there,) = json.loads(file.read_text())["messages"]
    assert there["tool_calls"][0]["function"] == {
        "name": "bash",
        "arguments": {"command": "ls"},
    }
    assert here("convert", "data.jsonl", "--from", "openai", "--to", "qwen3_coder",
                "-o", "data.jsonl").returncode == 0  # fmt: skip
    assert json.loads(file.read_text()) == {"messages": [{**message, "content": f"Sure.\n{XML}"}]}
    assert [path.name for path in tmp_path.iterdir()] == ["data.jsonl"]


def test_structured_calls_have_a_name_and_an_alias(here: Tuna, tmp_path: Path) -> None:
    row = (
        b'{"messages": [{"role": "assistant", "content": "<tool_call>\\n'
        b'{\\"name\\": \\"ls\\", \\"arguments\\": {}}\\n</tool_call>"}]}\n'
    )
    written = []
    for name in ("structured", "openai"):
        (tmp_path / "in.jsonl").write_bytes(row)
        done = here("convert", "in.jsonl", "--from", "hermes", "--to", name, "-o", "out.jsonl")
        assert done.returncode == 0, done.stderr
        written.append((tmp_path / "out.jsonl").read_bytes())
        (tmp_path / "out.jsonl").unlink()
    assert written[0] == written[1]
    assert b'"tool_calls"' in written[0]


def test_a_template_says_how_arguments_are_written(here: Tuna, tmp_path: Path) -> None:
    call = {"name": "ls", "arguments": {"path": "."}}
    row = {"conversations": [{"from": "human", "value": "?"}, {"from": "function_call",
           "value": json.dumps(call)}]}  # fmt: skip
    (tmp_path / "in.jsonl").write_text(json.dumps(row))
    (tmp_path / "text.jinja").write_text(TEXT_TEMPLATE)
    (tmp_path / "object.jinja").write_text(
        TEXT_TEMPLATE.replace("arguments }}", "arguments | tojson }}")
    )
    for given, wanted in (
        ((), {"path": "."}),
        (("--arguments", "object"), {"path": "."}),
        (("--arguments", "text"), '{"path": "."}'),
        (("--arguments", "text.jinja"), '{"path": "."}'),
        (("--arguments", "object.jinja"), {"path": "."}),
    ):
        done = here("convert", "in.jsonl", "--from", "hermes", "--to", "structured", *given)
        (called,) = json.loads(done.stdout)["messages"][1]["tool_calls"]
        assert called["function"]["arguments"] == wanted, given
        assert "in 1 row a call has no id, so one was made for it (made-id)" in done.stderr
    done = here("convert", "in.jsonl", "--from", "hermes", "--to", "openai", "--arguments", "txt")
    assert done.returncode == 2
    assert "'txt' cannot be read" in done.stderr


TEXT_TEMPLATE = (
    "{% for message in messages %}{{ message.content }}{% for call in message.tool_calls or [] %}"
    "<tool_call>{{ call.function.name }} {{ call.function.arguments }}</tool_call>"
    "{% endfor %}{% endfor %}"
)


def test_tools_say_what_types_arguments_have(here: Tuna, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps({"answer": LS.replace("ls", "5")}))
    to = (*TO_XML, "in.jsonl", "--field", "answer")
    assert here(*to).returncode == 1
    tools = [{"name": "bash", "parameters": {"properties": {"command": {"type": "string"}}}}]
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    done = here(*to, "--tools", "tools.json", "-o", "out.jsonl")
    assert done.returncode == 0
    assert json.loads((tmp_path / "out.jsonl").read_text()) == {"answer": XML.replace("ls", "5")}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("in.jsonl", "--from", "hermse", "--to", "glm45"), "did you mean 'hermes'"),
        (("in.jsonl", "--from", "hermes", "--to", "auto"), "give the one that is meant"),
        (("in.jsonl", "--from", "openai", "--to", "openai"), "nothing to convert"),
        (("none.jsonl", "--from", "hermes", "--to", "glm45"), "'none.jsonl' cannot be read"),
        (
            ("in.jsonl", "--from", "hermes", "--to", "glm45", "-o", "in.jsonl/out"),
            "cannot be written",
        ),
        (("in.jsonl", "--to", "glm45"), "--from"),
    ],
)
def test_wrong_use_is_told(
    arguments: tuple[str, ...], said: str, here: Tuna, tmp_path: Path
) -> None:
    (tmp_path / "in.jsonl").write_text('"a"\n')
    done = here("convert", *arguments)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_reader_that_goes_away_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(f"{json.dumps(LS)}\n" * 2000)
    with subprocess.Popen(
        [sys.executable, "-m", "tunaeval", *TO_XML, "in.jsonl"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    ) as process:  # fmt: skip
        assert process.stdout
        assert process.stderr
        first = process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
    assert json.loads(first) == XML
    assert "Traceback" not in said


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are told in /proc")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    program = """\
import sys
from pathlib import Path
from tunaeval.cli import main
main(sys.argv[1:])
(peak,) = [line for line in Path("/proc/self/status").open() if line.startswith("VmHWM")]
print(peak.split()[1], file=sys.stderr)"""
    peaks = []
    for megabytes in (1, 24):
        line = json.dumps({"prompt": "x" * 20_000, "text": LS}) + "\n"
        (tmp_path / "in.jsonl").write_text(line * (megabytes * 50))
        done = subprocess.run(
            [sys.executable, "-c", program, *TO_XML, "in.jsonl", "-o", "out.jsonl"],
            capture_output=True, text=True, cwd=tmp_path, check=True, timeout=120,
        )  # fmt: skip
        peaks.append(int(done.stderr.splitlines()[-1]))
    assert peaks[1] < peaks[0] + 8_000, f"{peaks} kB"
