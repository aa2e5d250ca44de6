"""Show one scenario of a run on a terminal: the conversation, with marks in the text.

Marks are colours if the terminal has them, and always numbers: [2] ends what note 2 describes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from tunaeval.reports.console import page_on, print_lines
from tunaeval.showing import counted, visible
from tunaeval.types.tables import verdict_of

from .scenario import (
    CALL,
    DIAGNOSIS,
    MISSING,
    REPAIR,
    SAME,
    UNASKED,
    WENT_WRONG,
    Argument,
    AttemptView,
    Mark,
    RunPair,
    ScenarioView,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_STYLES = {CALL: "green", REPAIR: "yellow", DIAGNOSIS: "red"}
_VERDICTS = {"PASS": "bold green", "FAIL": "bold red", "ERROR": "bold yellow"}
_SIGNS = {SAME: "=", UNASKED: " ", MISSING: "-"}
"""The sign before an argument; "!" marks a fault."""


def show_scenario(view: ScenarioView, stream: TextIO) -> None:
    """Print one result in full: prompt, replies with their marks, checks, and compared calls."""
    with page_on(stream) as console:
        _head(console, view)
        _section(console, "user", visible_lines(view.prompt))
        for number, attempt in enumerate(view.attempts, 1):
            _attempt(console, number, attempt)
        if view.checks:
            console.print("\nchecks", style="bold")
        print_lines(console, view.checks)
        show_pairs(console, view.pairs)


def _head(console: Console, view: ScenarioView) -> None:
    from rich.text import Text  # noqa: PLC0415 - rich is loaded where it draws

    result, verdict = view.result, verdict_of(view.result)
    again = f" #{result.repeat}" if result.repeat > 1 else ""
    head = Text.assemble((verdict, _VERDICTS[verdict]), f"  {visible(result.scenario)}{again}  ")
    head.append(result.outcome, style="dim")
    console.print(head, soft_wrap=True)
    console.print(visible(view.reason), soft_wrap=True)
    levels = (f"{level} {'pass' if at.ok else 'fail'}" for level, at in result.levels.items())
    about = [*levels, *([f"tags {', '.join(map(visible, result.tags))}"] if result.tags else [])]
    console.print("; ".join(about), style="dim", soft_wrap=True)


def _section(console: Console, who: str, words: str | Text) -> None:
    console.print(f"\n{who}", style="bold")
    console.print(words, soft_wrap=True)


def _attempt(console: Console, number: int, attempt: AttemptView) -> None:
    from rich.text import Text  # noqa: PLC0415 - as above

    if attempt.user:
        _section(console, "user", visible_lines(attempt.user))
    text = Text()
    for piece in attempt.pieces:
        kinds = (kind for kind in (DIAGNOSIS, REPAIR, CALL) if kind in piece.kinds)
        text.append(visible_lines(piece.text), style=_STYLES.get(next(kinds, "")))
        text.append("".join(f"[{number}]" for number in piece.ends), style="dim")
    _section(console, f"reply {number} ({', '.join(_about(attempt))})", text or "(no text)")
    if attempt.reasoning:
        _section(console, "reasoning", visible_lines(attempt.reasoning))
    for call in attempt.structured:
        _section(console, "call that the server parsed", visible(call))
    if attempt.marks or attempt.note:
        console.print()
    for mark in attempt.marks:
        console.print(_note(mark), soft_wrap=True)
    if attempt.note:
        console.print(attempt.note, style="dim", soft_wrap=True)
    for tool, words in attempt.results:
        _section(console, f"result of {visible(tool)}", visible_lines(words))


def _about(attempt: AttemptView) -> Iterator[str]:
    record = attempt.record
    yield record.outcome
    if record.finish_reason:
        yield f"ended by {visible(record.finish_reason, 40)}"
    if record.latency_seconds is not None:
        yield f"{record.latency_seconds:.2f} s"
    if record.completion_tokens is not None:
        yield f"{counted(record.completion_tokens, 'token')}"
    if attempt.is_wrong:
        yield WENT_WRONG


def _note(mark: Mark) -> Text:
    from rich.text import Text  # noqa: PLC0415 - as above

    words = ": ".join(filter(None, (mark.code, mark.words)))
    level = f" ({mark.level})" if mark.level else ""
    kind = (f"{mark.kind} ", _STYLES[mark.kind])
    return Text.assemble(f"[{mark.number}] ", kind, visible(words) + level)


def show_pairs(console: Console, pairs: tuple[RunPair, ...]) -> None:
    """Print each expected call beside the one that was made."""
    is_open = bool(pairs) and all(one.wanted is None and one.state == UNASKED for one in pairs)
    console.print("\ncalls" if is_open else "\nexpected, and got", style="bold")
    for pair in pairs:
        wanted, got = pair.wanted or "(no call)", pair.got or "(no call)"
        style = None if pair.state in (SAME, UNASKED) else "red"
        is_alone = wanted == got or (pair.wanted is None and pair.state == UNASKED)
        name = got if is_alone else f"{wanted} -> {got}"
        console.print(visible(name), style=style, soft_wrap=True)
        for argument in pair.arguments:
            for line, faulty in _argument(argument):
                console.print(f"  {line}", style="red" if faulty else None, soft_wrap=True)
    if not pairs:
        console.print("no call, as in the reply")


def _argument(one: Argument) -> Iterator[tuple[str, bool]]:
    sign, name = _SIGNS.get(one.state, "!"), visible(one.name)
    faulty = one.state not in (SAME, UNASKED)
    if one.state == SAME or one.wanted is None or one.got is None:
        shown = one.wanted if one.got is None else one.got
        yield f"{sign} {name} = {visible(shown or '')}", faulty
    else:
        yield f"{sign} {name}: expected {visible(one.wanted)}", faulty
        yield f"  {' ' * len(name)}  got      {visible(one.got)}", faulty
    if one.words and one.state != MISSING:
        yield f"    {visible(one.words)}", faulty


def visible_lines(text: str) -> str:
    """Return the text with its line breaks kept and other invisible characters escaped."""
    return "\n".join(visible(line.replace("\t", "    ")) for line in text.split("\n"))
