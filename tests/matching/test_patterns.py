"""Regular expressions over model text: found where `re` finds them, in linear time."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tunaeval.matching.patterns import MAX_STATES, Pattern

ATOMS = (
    "a", "b", "B", "é", "_", " ", "-", ".", r"\d", r"\W", r"\s", r"\S", r"\w", r"\D",
    "[ab]", "[^a]", "[a-c-]", "[]x]", r"[\d_]", r"[^\s\]]",
    r"\.", r"\n", r"\x41", r"\u00e9", "{", "{}", "a{,b", "]",
)  # fmt: skip
ANCHORS = ("^", "$", r"\b", r"\A", r"\Z")
QUANTIFIERS = ("*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}", "{,3}", "{0}", "{2,3}?")

patterns = st.recursive(
    st.sampled_from(ATOMS + ANCHORS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map("".join),
        st.lists(inner, min_size=1, max_size=3).map("|".join).map("(?:{})".format),
        inner.map("({})".format),
        st.builds("(?:{}){}".format, inner, st.sampled_from(QUANTIFIERS)),
    ),
    max_leaves=8,
)
flags = st.sampled_from(["", "(?i)", "(?s)", "(?m)", "(?im)"])
texts = st.text(st.sampled_from("abBAé_ -.\n1]{x}\u0663"), max_size=8)


@given(flag=flags, pattern=patterns, text=texts)
def test_a_pattern_is_found_where_re_finds_it(flag: str, pattern: str, text: str) -> None:
    try:
        ours = Pattern(flag + pattern)
    except ValueError:
        assume(False)
    assert ours.found_in(text) == bool(re.search(flag + pattern, text))


def test_a_group_may_have_a_name() -> None:
    assert Pattern("^(?P<all>ab)$").found_in("ab")
    for pattern in ("(?P<a", "(?P<1>a)", "(?P<>a)"):
        with pytest.raises(ValueError, match="with an invalid name"):
            Pattern(pattern)


@pytest.mark.parametrize("pattern", ["[b-d]", "[^b-d]", "[b-d0-2]", "(?i)[B-D]", "[ac-]", "."])
def test_a_set_has_the_characters_that_it_has_for_re(pattern: str) -> None:
    ours = Pattern(pattern)
    for character in "aAbBcCdDeE0123-é\n":
        assert ours.found_in(character) == bool(re.search(pattern, character)), character


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("a$", "a\n"),
        ("a$", "a\n\n"),
        (r"a\Z", "a\n"),
        ("a$\n", "a\n"),
        ("(?m)a$", "a\n\n"),
        ("^", ""),
    ],
)
def test_a_newline_at_the_end_may_follow_a_match(pattern: str, text: str) -> None:
    assert Pattern(pattern).found_in(text) == bool(re.search(pattern, text))


@pytest.mark.filterwarnings("ignore:Possible:FutureWarning")  # `[[` may once mean another thing
@given(pattern=st.text(st.sampled_from("ab()[]{}|*+?\\^$.-,1P<>:=!i"), max_size=12))
@example("[[a]")
def test_what_we_read_re_reads_too(pattern: str) -> None:
    try:
        Pattern(pattern)
    except ValueError:
        return
    assert re.compile(pattern).pattern == pattern


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (r"(a)\1", "escape that is not supported"),
        ("(?=a)", "kind of group"),
        ("(?<!a)b", "kind of group"),
        ("(?>a)", "kind of group"),
        ("(?P=x)", "kind of group"),
        ("a*+", "possessive"),
        ("a**", "what is repeated already"),
        ("*a", "nothing before it"),
        ("(a", r"'\(a' at character 0 is a group that is not closed"),
        ("a)", r"'\)' at character 1 closes a group"),
        ("[a", "set that is not closed"),
        ("[b-a]", "range"),
        ("a{3,2}", "a least number above the greatest"),
        ("a{9999}", "repeats more than"),
        ("(a{100}){100}", f"more than {MAX_STATES} states"),
        ("x" * 1001, "1001 characters"),
        ("(" * 100 + ")" * 100, "nested"),
        (r"\q", "escape"),
        (r"\01", "octal"),
        ("\\", "escape"),
        ("^*", "repeats an anchor"),
    ],
)
def test_what_needs_going_back_is_refused_with_its_place(pattern: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a+)+$", "a" * 60_000 + "b"),
        ("(a|a)+$", "a" * 60_000 + "b"),
        ("(.*)(.*)(.*)(.*)x", "a" * 60_000),
        ("(a?){50}a{50}$", "a" * 60_000 + "b"),
        (r"(\w+\s?)+!", "word " * 12_000),
    ],
)
def test_patterns_that_blow_up_elsewhere_take_linear_time(pattern: str, text: str) -> None:
    found = Pattern(pattern)
    half, whole = (min(_seconds(found, part) for _ in range(3)) for part in (text[::2], text))
    assert not found.found_in(text)
    assert whole < max(6 * half, 0.5)  # the half need not be like the whole; hours are the danger


def _seconds(pattern: Pattern, text: str) -> float:
    start = time.process_time()
    pattern.found_in(text)
    return time.process_time() - start


def test_what_is_learned_has_a_bound() -> None:
    pattern = Pattern("(.)*(a|[^b]c){3}$")
    assert not pattern.found_in("".join(map(chr, range(0x20, 0xD000))) * 2)
    assert sum(map(len, pattern._positions.values())) <= 20_001
