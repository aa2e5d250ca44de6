"""No tool writes, moves or deletes what an allowed command reads as its configuration: that would
be a way to run any program.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import assume, example, given, reject
from hypothesis import strategies as st

from tests.faults.runs import within
from tunaeval.errors import WorkspaceError
from tunaeval.tasks.commands import allowed, configurations, run_command
from tunaeval.tasks.space import Workspace
from tunaeval.tasks.toolbox import workspace_tools

REFUSED = "as its configuration"
NAMED = re.compile("finds ['\"].*['\"] in its configuration")
git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@git
@pytest.mark.parametrize("folder", [".git", "bare", "."])
def test_a_model_cannot_make_git_run_a_program(tmp_path: Path, folder: str) -> None:
    mark = tmp_path / "mark"
    config = (
        f'[core]\nrepositoryformatversion = 0\nfsmonitor = "touch {mark}; false"\nbare = false\n'
    )
    files = {"HEAD": "ref: refs/heads/main\n", "objects/x": "", "refs/x": "", "config": config}
    with Workspace({"a.txt": "a"}, commands=[["git", "status"]]) as workspace:
        tools = workspace_tools(workspace)
        for name, content in files.items():
            with pytest.raises(WorkspaceError, match=REFUSED):
                tools["write_file"](f"{folder}/{name}", content)
        tools["bash"]("git status", cwd="." if folder == ".git" else None)
    assert not mark.exists()


SHADOWS = "open('mark', 'w').write('ran')\n"
TOOL = "open('mark', 'w').write('mine')\n"


@pytest.mark.parametrize("name", ["argparse.py", "json/__init__.py", "json/tool.py", "json.py"])
@pytest.mark.parametrize(
    "command",
    [
        ["python", "-m", "json.tool", "{path}"],
        ["python3", "-Bmjson.tool", "{path}"],
        ["python", "-X", "dev", "-m", "json.tool", "{path}"],
        ["timeout", "20", "python", "-m", "json.tool", "{path}"],
        ["sh", "-c", "python -m json.tool a.json"],
    ],
    ids=" ".join,
)
def test_what_python_m_runs_is_not_imported_from_the_workspace(
    command: list[str], name: str
) -> None:
    files = {"a.json": "{}", "json/a.json": "{}"}
    with Workspace(files, commands=[command]) as workspace:
        tools = workspace_tools(workspace)
        tools["write_file"](name, SHADOWS)
        tools["write_file"]("json/argparse.py", SHADOWS)
        line = shlex.join("a.json" if word == "{path}" else word for word in command)
        folders = (".", "json") if name != "json/__init__.py" or "sh" not in command else (".",)
        for folder in folders:
            assert tools["bash"](line, cwd=folder) == "{}\nExit Code: 0"
        assert workspace.run(line).output == "{}"
        assert workspace.run(tuple(shlex.split(line))).output == "{}"
        assert not workspace["mark"].exists
        assert not workspace["json/mark"].exists


@pytest.mark.parametrize(
    ("given", "written", "command"),
    [
        ({"tool/run.py": TOOL}, {}, "python -m tool.run"),  # what is in the workspace
        ({"json/tool.py": TOOL, "json/__init__.py": ""}, {}, "python -m json.tool"),
        ({}, {"mine.py": TOOL}, "python -m mine"),
        ({}, {"mine/__main__.py": TOOL}, "python -m mine"),
        ({"tests.py": "import calc"}, {"calc.py": TOOL}, "python -m unittest tests"),  # on purpose
        ({"tests.py": "import calc"}, {"calc.py": TOOL}, "python tests.py"),
        ({}, {"calc.py": TOOL}, "python -c 'import calc'"),
    ],
)
def test_what_is_in_the_workspace_is_run_and_tests_import_it(
    given: dict[str, str], written: dict[str, str], command: str
) -> None:
    with Workspace(given, commands=[shlex.split(command)]) as workspace:
        tools = workspace_tools(workspace)
        for name, content in written.items():
            tools["write_file"](name, content)
        tools["bash"](command)
        assert workspace["mark"].contains("mine")


@git
def test_a_configuration_that_is_there_is_not_changed(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    with Workspace(at=tmp_path, commands=[["git", "status"]]) as workspace:
        before = (tmp_path / ".git/config").read_text()
        with pytest.raises(WorkspaceError, match=REFUSED):
            workspace_tools(workspace)["update_file"](
                ".git/config", "[core]", '[core]\n\tfsmonitor = "touch mark; false"'
            )
        assert (tmp_path / ".git/config").read_text() == before
        assert "Exit Code: 0" in workspace_tools(workspace)["bash"]("git status")


@git
@pytest.mark.parametrize(
    ("key", "value", "path"),
    [
        ("core.fsmonitor", "{root}/tools/watch.sh", "tools/watch.sh"),
        ("core.fsmonitor", "tools/watch.sh", "tools/watch.sh"),
        ("core.fsmonitor", "sh tools/watch", "tools/watch"),
        ("core.hooksPath", "tools", "tools/pre-commit"),
        ("include.path", "../tools/more", "tools/more"),
        ("filter.tidy.clean", "python tools/tidy.py %f", "tools/tidy.py"),
        ("core.hooksPath", "linked/hooks", "tools/hooks/pre-commit"),
    ],
)
def test_what_the_configuration_of_a_repository_names_is_not_written(
    tmp_path: Path, key: str, value: str, path: str
) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "tools/hooks").mkdir(parents=True)
    (tmp_path / "linked").symlink_to("tools")
    subprocess.run(["git", "-C", tmp_path, "config", key, value.format(root=tmp_path)], check=True)
    commands = [["git", "status"], ["rm", "-r", "{path}"]]
    with Workspace(at=tmp_path, commands=commands) as workspace:
        tools = workspace_tools(workspace)
        with pytest.raises(WorkspaceError, match=NAMED):
            tools["write_file"](path, "touch mark")
        (tmp_path / path).write_text("x")
        for command in (f"rm -r {path}", "rm -r tools"):
            with pytest.raises(WorkspaceError, match="not allowed"):
                tools["bash"](command)
        tools["write_file"]("tools.txt", "x")
        tools["bash"]("git status")
    with Workspace(at=tmp_path, commands=[["ls"]]) as workspace:
        workspace_tools(workspace)["write_file"](f"{path}.txt", "x")


GIT = [["git", "status"], ["rm", "-r", "{path}"]]


def check_named(root: Path, *paths: str) -> None:
    with Workspace(at=root, commands=GIT) as workspace:
        for path in paths:
            with pytest.raises(WorkspaceError, match=NAMED):
                workspace_tools(workspace)["write_file"](path, "touch mark")


def check_free(root: Path, *paths: str) -> None:
    with Workspace(at=root, commands=GIT) as workspace:
        for path in paths:
            workspace_tools(workspace)["write_file"](path, "x")


def repository(folder: Path, **values: str) -> None:
    subprocess.run(["git", "init", "-q", folder], check=True)
    for key, value in values.items():
        name = key.replace("__", ".")
        subprocess.run(["git", "-C", folder, "config", "--add", name, value], check=True)


ODD = ["my cfg", "a,b", "a;b", "a(b)", "a=b", "a:b", "a&b", "it's", 'say "x"', "$x", "a|b", "`x`"]


@git
@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("key", ["include.path", "includeIf.gitdir:/nowhere/.path"])
def test_an_odd_name_of_an_included_file_is_known(tmp_path: Path, key: str, name: str) -> None:
    repository(tmp_path)
    subprocess.run(["git", "-C", tmp_path, "config", key, f"../{name}"], check=True)
    check_named(tmp_path, name)
    check_free(tmp_path, f"{name}2", f"x{name}", "cfg2")


@git
@given(st.text(st.characters(exclude_characters="/"), min_size=1, max_size=12))
@example("\udcff\udcfe.sh")
def test_a_quoted_name_is_known_whatever_it_is(name: str) -> None:
    try:
        command = os.fsencode(f"cat {shlex.quote('./' + name)} --")
    except UnicodeEncodeError:
        reject()
    assume(name not in {".", ".."} and name[0] != "~")  # which is another path
    assume(name.isprintable() or "\udcff" in name)
    with Workspace({}, commands=GIT) as workspace:
        repository(workspace.path)
        subprocess.run(
            ["git", "-C", workspace.path, "config", "filter.x.clean", command], check=True
        )
        with pytest.raises(WorkspaceError, match=f"{REFUSED}|{NAMED.pattern}"):
            workspace_tools(workspace)["write_file"](name, "x")


@git
@pytest.mark.parametrize(
    ("key", "value", "path"),
    [
        ("core.hooksPath", "my hooks", "my hooks/pre-commit"),
        ("filter.x.clean", "'./my filter.sh' %f", "my filter.sh"),
        ("filter.x.clean", "$PWD/f.sh", "f.sh"),
        ("core.fsmonitor", "$PWD/d/t.sh", "d/t.sh"),
        ("core.fsmonitor", "sh too''l.sh", "tool.sh"),
        ("core.fsmonitor", "sh my\\ tool", "my tool"),
        ("core.fsmonitor", "cd d && ./run", "d/run"),
        ("core.fsmonitor", "sh 'my links/go on.sh'", "real/go on.sh"),
        ("core.fsmonitor", "{root}/my links/go on.sh", "real/go on.sh"),
        ("core.hooksPath", "my links", "real/pre-commit"),
        ("core.hooksPath", ".", "pre-commit"),
        ("core.attributesFile", "attrs", "attrs"),
    ],
)
def test_an_odd_name_of_a_program_is_known(tmp_path: Path, key: str, value: str, path: str) -> None:
    repository(tmp_path)
    (tmp_path / "real").mkdir()
    (tmp_path / "my links").symlink_to("real")
    subprocess.run(["git", "-C", tmp_path, "config", key, value.format(root=tmp_path)], check=True)
    check_named(tmp_path, path)


@git
def test_ordinary_values_refuse_no_ordinary_path(tmp_path: Path) -> None:
    values = {
        "user__name": "Tim Main",
        "core__autocrlf": "input",
        "remote__origin__url": "src/x.py",
        "branch__main__merge": "refs/heads/main",
        "branch__main__description": "a.py of src",
        "init__defaultBranch": "src/a.py",
        "core__fsmonitor": "true",
        "core__worktree": "..",
    }
    repository(tmp_path, **values)
    check_free(tmp_path, "true", "input", "origin", "main/a.py", "src/x.py", "src/a.py", "Tim")


@git
def test_a_repository_anywhere_below_counts_for_every_path(tmp_path: Path) -> None:
    repository(tmp_path)
    repository(tmp_path / "a/m", include__path="../../../deep.inc")
    check_named(tmp_path, "deep.inc")
    check_free(tmp_path, "deep.txt")


@git
def test_a_bare_repository_and_one_kept_elsewhere_count(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "a/bare"], check=True)
    with (tmp_path / "a/bare/config").open("a") as file:
        file.write("[core]\nfsmonitor = ../../watch.sh\n")
    kept = f"--separate-git-dir={tmp_path / 'kept'}"
    subprocess.run(["git", "init", "-q", kept, tmp_path / "b"], check=True)
    check_named(tmp_path, "watch.sh", "kept/hooks/pre-commit")


@git
@pytest.mark.parametrize(
    ("link", "target", "path"),
    [
        (".git/hooks/pre-commit", "../../tools/check", "tools/check"),
        (".git/hooks", "../tools", "tools/pre-commit"),
        (".git/config", "../settings", "settings"),
        ("githooks/pre-push", "../tools/check", "tools/check"),
        (".git", "kept", "kept/hooks/pre-commit"),
    ],
)
def test_a_link_in_a_repository_names_its_file(
    tmp_path: Path, link: str, target: str, path: str
) -> None:
    repository(tmp_path, core__hooksPath="githooks")
    (tmp_path / "githooks").mkdir()
    there = tmp_path / link
    if there.exists():
        there.rename((there.parent / target).resolve())
    there.symlink_to(target)
    check_named(tmp_path, path)
    check_free(tmp_path, "tools2/check2")


@git
@pytest.mark.parametrize("where", [".git/config", "more"])
def test_nothing_is_written_where_git_cannot_list_its_configuration(
    tmp_path: Path, where: str
) -> None:
    repository(tmp_path, include__path="../more")
    (tmp_path / where).unlink(missing_ok=True)
    os.mkfifo(tmp_path / where)
    with Workspace(at=tmp_path, commands=GIT) as workspace:
        with within(10), pytest.raises(WorkspaceError, match="cannot list its configuration"):
            workspace_tools(workspace)["write_file"]("a.txt", "x")
        (tmp_path / where).unlink()
        (tmp_path / where).write_text("[core")
        with pytest.raises(WorkspaceError, match="cannot list its configuration"):
            workspace_tools(workspace)["write_file"]("a.txt", "x")


@git
def test_what_is_no_repository_is_written_to(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: nowhere")
    check_free(tmp_path, "a.txt")


PATHS = [
    ("git status", ".git"),
    ("git status", ".git/hooks/pre-commit"),
    ("git status", "./x/../.git/config"),
    ("git status", "a/b/.git/config"),
    ("git status", ".GIT/config"),
    ("git status", ".g\u200cit/config"),
    ("git status", "\uff0egit/config"),
    ("git status", "a/head"),
    ("git status", "a/objects/x"),
    ("git status", "a/refs/x"),
    ("git status", "a/config"),
    ("git status", ".gitattributes"),
    ("git status", "a/.gitmodules"),
    ("/usr/bin/git status", ".git/config"),
    ("timeout 5 git status", ".git/config"),
    ("sh -c 'ls;git status'", ".git/config"),
    ("go build", ".git/config"),
    ("pytest", "conftest.py"),
    ("pytest", "tests/CONFTEST.py"),
    ("pytest", "pyproject.toml"),
    ("pytest", "sitecustomize.py"),
    ("python -m pytest", "pytest.ini"),
    ("python3.12 test_a.py", "sitecustomize.py"),
    ("python test_a.py", "tox.ini"),
    ("python test_a.py", "setup.cfg"),
    ("make", "Makefile"),
    ("make test", "gnumakefile"),
    ("npm test", "package.json"),
    ("npm test", "sub/.npmrc"),
    ("npx jest", "node_modules/.bin/jest"),
    ("cargo test", ".cargo/config.toml"),
    ("cargo test", "build.rs"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "path"), PATHS)
def test_what_a_command_reads_as_its_configuration_is_not_written(command: str, path: str) -> None:
    with Workspace({}, commands=[shlex.split(command)]) as workspace:
        with pytest.raises(WorkspaceError, match=REFUSED):
            workspace_tools(workspace)["write_file"](path, "x")
        assert not workspace.changes()


@pytest.mark.parametrize("path", sorted({path for _, path in PATHS}))
def test_it_is_written_where_no_such_command_is_allowed(path: str) -> None:
    with Workspace({}, commands=[["cat", "{path}"]]) as workspace:
        workspace_tools(workspace)["write_file"](path, "x")
        assert workspace.changes()


@pytest.mark.parametrize(
    ("command", "path"),
    [("git status", "src/config/a.py"), ("git status", ".gitignore"), ("pytest", "test_a.py"),
     ("python a.py", "config"), ("make", "src/make.py"), ("npm test", "src/index.js")],
)  # fmt: skip
def test_other_files_are_written_as_ever(command: str, path: str) -> None:
    with Workspace({}, commands=[command.split()]) as workspace:
        workspace_tools(workspace)["write_file"](path, "x")


NAMES = st.sampled_from([".git", "HEAD", "refs", "conftest.py", "Makefile", "package.json"])
STEPS = st.lists(st.sampled_from(["a", ".", "b/..", "", "é"]), max_size=4)


@given(name=NAMES, above=STEPS, data=st.data())
def test_no_spelling_of_a_path_is_written(name: str, above: list[str], data: st.DataObject) -> None:
    upper = data.draw(st.lists(st.booleans(), min_size=len(name), max_size=len(name)))
    spelt = "".join(one.upper() if up else one.lower() for one, up in zip(name, upper, strict=True))
    path = "/".join([*above, spelt]).lstrip("/")
    commands = [
        ["git", "status"],
        ["pytest"],
        ["make"],
        ["npm", "test"],
        ["cp", "{path}", "{path}"],
    ]
    with Workspace({"x": "x"}, commands=commands) as workspace:
        tools = workspace_tools(workspace)
        with pytest.raises(WorkspaceError, match=REFUSED):
            tools["write_file"](path, "x")
        with pytest.raises(WorkspaceError, match=f"{REFUSED}|is not there"):
            tools["bash"](f"cp x '{path}'")
        assert not workspace.changes()


WRITERS = [
    ["cp", "{path}", "{path}"], ["cp", "-r", "{path}", "{path}"], ["mv", "{path}", "{path}"],
    ["ln", "-s", "{path}", "{path}"], ["ln", "{path}", "{path}"], ["rm", "-r", "{path}"],
    ["rm", "{path}"], ["mkdir", "{path}"], ["touch", "{path}"], ["git", "mv", "{path}", "{path}"],
    ["git", "status"],
]  # fmt: skip


@pytest.mark.parametrize(
    "line",
    ["cp evil .git", "cp -r stash .git", "mv stash .git", "mv stash .GIT", "ln -s stash .git",
     "ln -s .git alias", "ln repo/.gitattributes alias", "rm -r repo/.git", "rm -r repo",
     "mv repo x",
     "rm repo/.gitattributes", "mkdir objects", "touch HEAD", "git mv repo x", "cp -r repo x",
     "cp evil repo/.git/config", "mv a/../repo/.gitattributes x"],
)  # fmt: skip
def test_no_command_writes_moves_or_deletes_it(line: str) -> None:
    files = {"evil": "x", "stash/a": "x", "repo/.git/config": "c", "repo/.gitattributes": "c",
             "a/b": "b"}  # fmt: skip
    with Workspace(files, commands=WRITERS) as workspace:
        with pytest.raises(WorkspaceError, match=REFUSED):
            workspace_tools(workspace)["bash"](line)
        assert not workspace.changes()


def test_it_is_read_and_tested_as_ever() -> None:
    files = {
        "pyproject.toml": "[project]\n",
        "tests/conftest.py": "",
        "tests/test_a.py": "def test_a(): pass\n",
    }
    commands = [["cat", "{path}"], ["python", "-m", "pytest", "-q", "{path}"]]
    with Workspace(files, commands=commands) as workspace:
        tools = workspace_tools(workspace)
        assert tools["bash"]("cat pyproject.toml") == "[project]\nExit Code: 0"
        assert tools["read_file"]("pyproject.toml") == "[project]\n"
        assert "1 passed" in tools["bash"]("python -m pytest -q tests")


def test_the_refusal_names_file_and_command() -> None:
    with (
        Workspace({}, commands=[["git", "status"]]) as workspace,
        pytest.raises(
            WorkspaceError,
            match=r"'\.git/config' is not written, .*: git, which may run here, reads '\.git' ",
        ),
    ):
        workspace_tools(workspace)["write_file"](".git/config", "x")


def test_the_list_is_whole() -> None:
    table = configurations()
    assert {"git", "python", "pytest", "make", "npm", "cargo", "go"} <= table.keys()
    for name, program in table.items():
        assert program.files or program.runs, name
        assert set(program.runs) <= table.keys(), name
        assert all(one and "/" not in one[:-1] for one in program.files), name


# --- paths in commands ---


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text("secret")
    return folder


COMMANDS = [["cat", "{path}"], ["ls", "{path}"], ["wc", "-c", "{path}"]]


@pytest.mark.parametrize("command", ["cat", "wc -c"])
def test_a_path_in_a_command_is_that_of_its_directory(outside: Path, command: str) -> None:
    """`link.txt` is a file at the top, and a link in `src`, where the command runs."""
    files = {"link.txt": "inside", "src/a.txt": "a", "secret.txt": "inside"}
    with Workspace(files, commands=COMMANDS) as workspace:
        (workspace.path / "src/link.txt").symlink_to(outside / "secret.txt")
        (workspace.path / "round").symlink_to(outside)
        bash = workspace_tools(workspace)["bash"]
        with pytest.raises(WorkspaceError, match="link"):
            bash(f"{command} link.txt", cwd="src")
        (outside / "below").mkdir()
        (workspace.path / "below").symlink_to(outside / "below")
        assert "inside" in bash("cat below/../secret.txt")
        assert "a" in bash(f"{command} a.txt", cwd="src")
        assert "Exit Code: 0" in bash(f"{command} ../link.txt", cwd="src")


def test_a_name_that_begins_with_a_dash_is_no_option() -> None:
    with Workspace({"-n": "text"}, commands=COMMANDS) as workspace:
        assert "4 ./-n" in workspace_tools(workspace)["bash"]("wc -c ./-n")


@pytest.mark.parametrize("command", ["cat pipe", "wc -c pipe", "ls pipe"])
def test_a_command_is_given_no_pipe(command: str) -> None:
    with Workspace({}, commands=COMMANDS) as workspace:
        os.mkfifo(workspace.path / "pipe")
        with within(5), pytest.raises(WorkspaceError, match=r"'pipe' is a pipe"):
            workspace_tools(workspace)["bash"](command)


def test_what_changes_between_check_and_start_leads_nowhere(outside: Path) -> None:
    with (
        Workspace({"src/secret.txt": "inside"}, commands=COMMANDS) as workspace,
        allowed("cat src/secret.txt", workspace.commands, workspace.confined) as line,
    ):
        (workspace.path / "src").rename(workspace.path / "old")
        (workspace.path / "src").symlink_to(outside)
        assert run_command(line.words, line.folder, files=line.files).output == "inside"


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="this system has no /proc/self/fd")
def test_the_directory_of_a_command_is_that_which_was_checked(outside: Path) -> None:
    with (
        Workspace({"src/a.txt": "inside"}, commands=[["ls"]]) as workspace,
        allowed("ls", workspace.commands, workspace.confined, ("src",)) as line,
    ):
        (workspace.path / "src").rename(workspace.path / "old")
        (workspace.path / "src").symlink_to(outside)
        assert run_command(line.words, line.folder, files=line.files).output == "a.txt"
