"""Where each host runs: in this interpreter if its packages are here, else in one of its own.

    python tests/hosts/environments.py [NAME ...]

installs the environments of these hosts, or of all, below `.host-envs/` in the checkout, or below
the directory that TUNAEVAL_HOST_ENVS names. Each is installed anew when `hosts.toml` asks for
other packages.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import venv
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Host(NamedTuple):
    """A row of `hosts.toml`."""

    name: str
    program: str
    requires: tuple[str, ...]
    here: tuple[str, ...] = ()
    untouched: str = ""


def hosts() -> dict[str, Host]:
    """All rows by their names."""
    rows = tomllib.loads(Path(__file__).with_name("hosts.toml").read_text("utf-8"))
    return {
        name: Host(
            name,
            row["program"],
            tuple(row["requires"]),
            tuple(row.get("here", ())),
            row.get("untouched", ""),
        )
        for name, row in rows.items()
    }


def interpreter(host: Host) -> str | None:
    """The Python that can run this host; None where it has to be installed first."""
    if host.here and all(map(_is_here, host.here)):
        return sys.executable
    is_installed = _note(host).is_file() and _note(host).read_text("utf-8") == _wanted(host)
    return str(_python(host)) if is_installed else None


def install(host: Host) -> None:
    """Make an environment with the host's packages and this checkout."""
    venv.create(_directory(host), with_pip=True, clear=True)
    pip = [str(_python(host)), "-m", "pip", "install", "--quiet", "--editable", str(ROOT)]
    subprocess.run([*pip, *host.requires], check=True)
    _note(host).write_text(_wanted(host), "utf-8")


def _is_here(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:  # of the package around it
        return False


def _directory(host: Host) -> Path:
    return Path(os.environ.get("TUNAEVAL_HOST_ENVS") or ROOT / ".host-envs") / host.name


def _python(host: Host) -> Path:
    parts = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return _directory(host).joinpath(*parts)


def _note(host: Host) -> Path:
    """What says that an environment is whole, and what was asked for when it was made."""
    return _directory(host) / "installed.txt"


def _wanted(host: Host) -> str:
    return "\n".join((str(ROOT), *host.requires))


def main(names: list[str]) -> int:
    known = hosts()
    if unknown := sorted(set(names) - known.keys()):
        print(f"no host is called {', '.join(unknown)}; known: {', '.join(known)}", file=sys.stderr)
        return 2
    for host in map(known.__getitem__, names or known):
        if interpreter(host) is None:
            began = monotonic()
            install(host)
            print(f"{host.name}: installed in {monotonic() - began:.0f} s")
        else:
            print(f"{host.name}: can run with {interpreter(host)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
