"""Suites asked of a model: what is asked, one scenario as an episode, and whole runs."""

from ._suite_bfcl import BFCL_CATEGORIES, BFCL_DEFECTS
from ._suite_tools import catalogue_names, load_catalogue
from ._suite_writing import write_suite
from .check import Doubt, check_suite
from .directory import RESULTS_FILE, RUN_FILE, load_report, run_source
from .driving import Environment
from .episode import MAX_ATTEMPTS, MAX_TOKENS, Episode, Read, Rules, episode
from .left_behind import beside
from .options import CONCURRENCY, DEADLINE_SECONDS, RunOptions
from .prompts import ASKS, Ask, Asking, asking, retry_prompt
from .renamed import renamed
from .rescore import Rescored, rescore
from .runner import AsyncHarness, SuiteRun, run_suite
from .suites import about_suites, load_suite, own_tools, suite_names, without

__all__ = [
    "ASKS",
    "BFCL_CATEGORIES",
    "BFCL_DEFECTS",
    "CONCURRENCY",
    "DEADLINE_SECONDS",
    "MAX_ATTEMPTS",
    "MAX_TOKENS",
    "RESULTS_FILE",
    "RUN_FILE",
    "Ask",
    "Asking",
    "AsyncHarness",
    "Doubt",
    "Environment",
    "Episode",
    "Read",
    "Rescored",
    "Rules",
    "RunOptions",
    "SuiteRun",
    "about_suites",
    "asking",
    "beside",
    "catalogue_names",
    "check_suite",
    "episode",
    "load_catalogue",
    "load_report",
    "load_suite",
    "own_tools",
    "renamed",
    "rescore",
    "retry_prompt",
    "run_source",
    "run_suite",
    "suite_names",
    "without",
    "write_suite",
]
