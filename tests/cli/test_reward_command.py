"""`tunaeval reward stress`: what exploits are paid by functions of other people, and of ours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Tuna
from tunaeval.rewards.trl import trl_reward
from tunaeval.testing import Exploit, check_exploit, exploits
from tunaeval.testing.stress import paid

FUNCTIONS = """
import json, re
from tunaeval.rewards.trl import trl_reward

strict = trl_reward("EXACT")
other_columns = trl_reward(gold="answer", tools="functions")
number = 7

def naive(completions, gold, **columns):
    words = [completion[-1]["content"] for completion in completions]
    return [float("Paris" in text) for text in words]

def text(completions, **columns):
    return [-float(len(text)) for text in completions]

async def later(completions, **columns):
    return [len(completions[0]), 9.0]

def abstains(completions, **columns):
    return [None, float("nan")]

def nothing(completions, **columns):
    return [-3.0] * len(completions)

def reads_words(completions, **columns):
    return [float("Paris" in str(one[-1]["content"])) for one in completions]

def raises(completions, **columns):
    raise ValueError("no grader")

def ends(completions, **columns):
    raise SystemExit(0)

def short(completions, **columns):
    return [1.0]

def table(completions, **columns):
    return {"reward": 1.0}

def words(completions, **columns):
    return ["1.0", "0.5"]

def infinite(completions, **columns):
    return [float("inf"), 1.0]

def reads_text(completions, **columns):
    return [float("Paris" in text.lower()) for text in completions]

def few(prompts, completions):
    return [0.0, 1.0]
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path) -> str:
    """A module of a name of its own, for an imported one stays imported."""
    name = f"functions_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(FUNCTIONS)
    return name


def test_an_exploit_that_earns_as_much_is_named_and_ends_with_1(here: Tuna, module: str) -> None:
    done = here("reward", "stress", f"{module}:naive", "--only", "prose", "--only", "honest")
    assert done.returncode == 1
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["fooled", "prose", "named-in-words", "1.0", "1.0"] in [line[:5] for line in lines]
    assert ["safe", "prose", "refusal", "0.0", "1.0"] in [line[:5] for line in lines]
    assert ["underpaid", "honest", "honest-structured", "0.0", "1.0"] in [one[:5] for one in lines]
    assert "earn as much as the honest answer" in done.stderr


def test_a_function_that_no_exploit_fools_ends_with_0(here: Tuna, module: str) -> None:
    for words in ((), ("--text",)):
        done = here("reward", "stress", f"{module}:strict", "--only", "guesses", *words)
        assert done.returncode == 0
        assert "strict: 0 of 6 exploits earn as much as the honest answer" in done.stderr


def test_columns_have_the_names_that_are_given_and_async_functions_are_awaited(
    here: Tuna, module: str
) -> None:
    named = ("--gold", "answer", "--tools", "functions")
    done = here("reward", "stress", f"{module}:other_columns", "--only", "guesses", *named)
    assert done.returncode == 0
    assert here("reward", "stress", f"{module}:later", "--only", "guesses").returncode == 0


def test_texts_leave_out_exploits_in_messages_and_say_so(here: Tuna, module: str) -> None:
    done = here("reward", "stress", f"{module}:text", "--text", "--json")
    assert done.returncode == 1, "nothing is shorter than the honest answer"
    rows = json.loads(done.stdout)["exploits"]
    assert not [row for row in rows if row["group"] == "structured"]
    assert f"{len(exploits()) - len(rows)} need messages and are left out" in done.stderr


@pytest.mark.parametrize(("function", "code"), [("nothing", 3), ("reads_words", 1)])
def test_beside_an_honest_answer_that_earns_nothing_a_comparison_is_void(
    here: Tuna, module: str, function: str, code: int
) -> None:
    done = here("reward", "stress", f"{module}:{function}", "--json")
    rows = json.loads(done.stdout)["exploits"]
    void = [row for row in rows if row["verdict"] == "void"]
    assert all(row["pays"] == row["honest"] <= 0 for row in void)
    assert {row["group"] for row in void} >= {"structured"}
    assert (len(void) == len(rows)) == (function == "nothing")
    assert done.returncode == code
    assert f"the honest answer earns nothing in {len(void)} rows, which are void" in done.stderr


def test_to_abstain_is_said_and_judges_nothing(here: Tuna, module: str) -> None:
    done = here("reward", "stress", f"{module}:abstains", "--only", "guesses", "--json")
    assert done.returncode == 3
    assert {row["verdict"] for row in json.loads(done.stdout)["exploits"]} == {"abstains"}
    assert "it abstains from 6" in done.stderr


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("raises", "exploit honest-call: the function failed with ValueError: no grader; wanted a"),
        ("ends", "exploit honest-call: the function failed with SystemExit"),
        ("short", "its result is [1.0]; wanted a list of 2 finite numbers for 2 completions"),
        ("table", "its result is {'reward': 1.0}; wanted"),
        ("words", "its result is ['1.0', '0.5']; wanted"),
        ("infinite", "its result is [inf, 1.0]; wanted"),
        ("few", "the keywords prompts, completions, completion_ids"),
        (
            "trl_reward",
            "tools. If it makes the function, name what it returns, as in f = trl_reward()",
        ),
        ("reads_text", "They are messages, and the keywords"),
        ("number", "TypeError: 'int' object is not callable"),
        ("nave", "there is no 'nave' in"),
    ],
)
def test_a_function_that_does_not_keep_the_signature_is_refused(
    here: Tuna, module: str, function: str, said: str
) -> None:
    done = here("reward", "stress", f"{module}:{function}")
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_an_unknown_group_or_module_is_refused(here: Tuna, module: str) -> None:
    done = here("reward", "stress", f"{module}:strict", "--only", "guess")
    assert (done.returncode, "did you mean 'guesses'" in done.stderr) == (2, True)
    done = here("reward", "stress", "no_such_module:f")
    assert "reward stress 'no_such_module:f': there is no module" in done.stderr
    for path in (f"./{module}.py", f"{module}.py", f"sub/{module}.py", f".{module}"):
        done = here("reward", "stress", f"{path}:strict")
        assert "MODULE:NAME, as in my_agent.tools:TOOLS; MODULE is no path" in done.stderr


# --- as parameters of pytest ---------------------------------------------------------------------


@pytest.mark.parametrize("exploit", exploits("guesses", "honest"), ids=str)
def test_exploits_are_parameters(exploit: Exploit) -> None:
    check_exploit(exploit, trl_reward())


def test_a_check_says_what_is_paid_or_skips() -> None:
    [twice] = [one for one in exploits("guesses") if one.name == "twice"]
    with pytest.raises(AssertionError, match=r"twice earns 1\.0, an honest answer 1\.0"):
        check_exploit(twice, lambda completions, **_: [1.0] * len(completions))
    with pytest.raises(AssertionError, match=r"twice earns 0\.0, an honest answer 0\.0"):
        check_exploit(twice, lambda completions, **_: [0.0] * len(completions))
    with pytest.raises(pytest.skip.Exception, match="twice: the function abstains"):
        check_exploit(twice, lambda **_: [None, 1.0])


def test_arrays_are_lists_of_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    found = paid(exploits("guesses")[0], lambda **_: numpy.array([0.5, True]))
    assert found == ("safe", 0.5, 1.0)
