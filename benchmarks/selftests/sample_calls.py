"""Calls as a coding agent makes them: paths, commands, patterns, and code full of quotes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

Call: TypeAlias = dict[str, Any]
"""A name and arguments, under these keys."""

_CODE = (
    'def greet(name: str) -> str:\n    """Say hello."""\n    return f"Hello, {name}!"\n',
    "import re\n\nWORD = re.compile(r'\\w+\\s*[\"\\']')\nassert WORD.match('a \"')\n",
    'const rows = data.map((r) => ({ id: r.id, "label": `${r.name}: ${r.n}` }));\n',
    "if [ -f \"$HOME/.bashrc\" ]; then\n\techo 'it''s there' >> log.txt\nfi\n",
    '{\n  "name": "left-pad",\n  "scripts": {"test": "jest --ci", "lint": "eslint ."}\n}\n',
    "<a href=\"/docs?x=1&y=2\" class='link'>Read, then write</a>\n",
    "SELECT id, 'it''s' AS note FROM t WHERE a = \"b\" AND c IN (1, 2); -- all of them\n",
    "# Title\n\n- one: first\n- two [link](https://example.org/a,b)\n\n```sh\nls -la\n```\n",
    "fn main() {\n    println!(\"{:?}, {}\", vec![1, 2], '\\n'); // done\n}\n",
    '[tool.ruff]\nline-length = 100\nselect = ["ALL"]\n',
    "été, 東京: « oui », “non” – d’accord\n",
    "x = {'a': [1, 2, {'b': None}], 'c': True}  # literal\n",
)
_PATHS = ("src/main.py", "docs/a b.md", "tests/test_api.py", "/etc/hosts", "web\\index.html", "./x")
_COMMANDS = (
    "ls -la", 'grep -rn "def " src | wc -l', "git commit -m 'fix: a, b'", 'echo "a\tb" > out.txt',
    "python -c 'print({\"a\": 1})'", "sed -i 's/\\bfoo\\b/bar/g' *.py", "make test, lint; echo $?",
)  # fmt: skip
_PATTERNS = ("TODO", "class \\w+\\(", '"name":\\s*"[^"]+"', "a|b", "import (os|re)", "x, y")


def sample_call(random: Random) -> Call:
    """A call of one of the tools of a coding agent."""
    name, arguments = random.choice(_MAKERS)
    return {"name": name, "arguments": arguments(random)}


def _code(random: Random) -> str:
    return "".join(random.choice(_CODE) for _ in range(random.randint(1, 3)))


def _read_file(random: Random) -> Call:
    return {"filepath": random.choice(_PATHS), "offset": random.randint(0, 400), "limit": None}


def _write_file(random: Random) -> Call:
    return {"filepath": random.choice(_PATHS), "content": _code(random), "append": False}


def _grep(random: Random) -> Call:
    return {
        "pattern": random.choice(_PATTERNS),
        "directory": random.choice(_PATHS),
        "include": ["*.py", "*.{js,ts}", "a.md"][: random.randint(0, 3)],
        "use_regex": random.random() < 0.5,
    }


def _bash(random: Random) -> Call:
    env = {"PATH": "/usr/bin:/bin", "N": "1"} if random.random() < 0.5 else {}
    return {"command": random.choice(_COMMANDS), "env": env, "timeout": random.choice((5, 0.5))}


def _update_file(random: Random) -> Call:
    path = random.choice(_PATHS)
    return {"filepath": path, "target": random.choice(_CODE), "patch": _code(random)}


_MAKERS: tuple[tuple[str, Callable[[Random], Call]], ...] = (
    ("read_file", _read_file),
    ("write_file", _write_file),
    ("grep", _grep),
    ("bash", _bash),
    ("update_file", _update_file),
)
