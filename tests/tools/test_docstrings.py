"""Docstrings of three styles say the same, and none of them raises."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import indent
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval.tools.signatures import Docstring, read_docstring

words = st.from_regex(r"[A-Z][a-z]{0,7}( [a-z(){}=,\"']{1,8}){0,4}\.", fullmatch=True)
paragraphs = st.lists(words, min_size=1, max_size=3).map("\n".join)
names = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
docstrings = st.builds(
    Docstring,
    st.lists(paragraphs, max_size=3).map("\n\n".join),
    st.dictionaries(names, paragraphs, min_size=1, max_size=4),
)
types = st.sampled_from(["", "int", "dict[str, int], optional", "Callable[[int], str]", "a | b"])


def google(docstring: Docstring, kind: str) -> str:
    typed = f" ({kind})" if kind else ""
    entries = [
        f"{name}{typed}: " + indent(text, "        ").strip()
        for name, text in docstring.arguments.items()
    ]
    return "\n".join(["Args:", *(f"    {entry}" for entry in entries), "", "Returns:", "    It."])


def numpy(docstring: Docstring, kind: str) -> str:
    typed = f" : {kind}" if kind else ""
    entries = [
        f"{name}{typed}\n{indent(text, '    ')}" for name, text in docstring.arguments.items()
    ]
    return "\n".join(
        ["Parameters", "----------", *entries, "", "Returns", "-------", "str", "   a"]
    )


def sphinx(docstring: Docstring, kind: str) -> str:
    typed = f" {kind}" if kind and " " not in kind else ""
    fields = [
        f":param{typed} {name}: " + indent(text, "    ").strip()
        for name, text in docstring.arguments.items()
    ]
    return "\n".join([*fields, ":returns: it", ":raises KeyError: never"])


STYLES: list[Callable[[Docstring, str], str]] = [google, numpy, sphinx]


@pytest.mark.parametrize("style", STYLES)
@given(docstring=docstrings, kind=types, depth=st.sampled_from(["", "    ", "\t"]))
def test_what_is_written_in_a_style_is_read_back(
    style: Callable[[Docstring, str], str], docstring: Docstring, kind: str, depth: str
) -> None:
    text = f"{docstring.description}\n\n{style(docstring, kind)}\n"
    first, _, rest = text.partition("\n")
    assert read_docstring(f"{first}\n{indent(rest, depth)}") == docstring


@given(st.text("Args:\n -Prtum(x)*\\", max_size=80) | st.text())
def test_no_docstring_raises(text: str) -> None:
    read = read_docstring(text)
    assert all(name.isidentifier() for name in read.arguments)


def test_an_argument_may_be_described_over_many_lines() -> None:
    read = read_docstring("""Find.

    Args:
        pattern (str): What to find:
            - a word
              or two

            - an expression
        *paths: Where.
        **options (bool): How.
        no entry, so it goes on

    More, which is no description.
    """)
    assert read.description == "Find."
    assert read.arguments == {
        "pattern": "What to find:\n- a word\n  or two\n\n- an expression",
        "paths": "Where.",
        "options": "How.\nno entry, so it goes on",
    }


def test_numpy_names_several_arguments_at_once() -> None:
    read = read_docstring("""Find.

    Parameters
    ----------
    first, second : int
        Where.
    *rest
        Further.

    Other Parameters
    ----------------
    slow : bool
        Whether.
    """)
    assert read.arguments == {
        "first": "Where.",
        "second": "Where.",
        "rest": "Further.",
        "slow": "Whether.",
    }


@pytest.mark.parametrize(
    "text",
    ["Use it\nArgs: none", "Note: a word", "Say\n---", ":meth:`other` does it", "Args:", ":: x"],
)
def test_what_only_looks_like_a_section_is_description(text: str) -> None:
    assert read_docstring(text) == Docstring(text)


def test_the_first_words_about_an_argument_count() -> None:
    read = read_docstring("X.\n\n:param a: One.\n:param a: Two.\n:param b\n:type a: int")
    assert read == Docstring("X.", {"a": "One.", "b": ""})


def test_no_words_are_no_description() -> None:
    assert read_docstring(None) == read_docstring("  \n ") == Docstring()


@pytest.mark.parametrize("line", ["Parameters\n---\n", "Args:\n  a: b\n", ":param a: b\n", "a(\n"])
def test_four_times_the_text_takes_about_four_times_the_time(line: str) -> None:
    def seconds(count: int) -> float:
        text, begun = line * count, process_time()
        read_docstring(text)
        return process_time() - begun

    small, large = (min(seconds(count) for _ in range(3)) for count in (4_000, 16_000))
    assert large < 8 * small + 0.01  # sixteen times, if it were quadratic
