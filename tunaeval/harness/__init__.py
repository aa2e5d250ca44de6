"""Suites asked of a model: what is asked, one scenario as an episode, and whole runs."""

from ._suite_bfcl import BFCL_CATEGORIES, BFCL_DEFECTS
from ._suite_tools import catalogue_names, load_catalogue
from ._suite_writing import write_suite
from .check import Doubt, check_suite
from .choosing import chosen
from .directory import RUN_FILE, load_report, read_info, run_source
from .driving import Environment
from .episode import MAX_ATTEMPTS, MAX_TOKENS, Episode, Read, Rules, episode
from .left_behind import beside
from .options import CONCURRENCY, DEADLINE_SECONDS, RunOptions
from .prompts import ASKS, Ask, Asking, asking, retry_prompt
from .renamed import renamed
from .replies import Replies
from .rescore import Rescored, rescore
from .rescore_bfcl import BfclModel, rescore_bfcl
from .results import KeptResults
from .runner import AsyncHarness, SuiteRun, run_suite
from .suites import about_suites, load_suite, own_tools, suite_names, without
from .with_faults import FaultAxis, with_faults

__all__ = [
    "ASKS",
    "BFCL_CATEGORIES",
    "BFCL_DEFECTS",
    "CONCURRENCY",
    "DEADLINE_SECONDS",
    "MAX_ATTEMPTS",
    "MAX_TOKENS",
    "RUN_FILE",
    "Ask",
    "Asking",
    "AsyncHarness",
    "BfclModel",
    "Doubt",
    "Environment",
    "Episode",
    "FaultAxis",
    "KeptResults",
    "Read",
    "Replies",
    "Rescored",
    "Rules",
    "RunOptions",
    "SuiteRun",
    "about_suites",
    "asking",
    "beside",
    "catalogue_names",
    "check_suite",
    "chosen",
    "episode",
    "load_catalogue",
    "load_report",
    "load_suite",
    "own_tools",
    "read_info",
    "renamed",
    "rescore",
    "rescore_bfcl",
    "retry_prompt",
    "run_source",
    "run_suite",
    "suite_names",
    "with_faults",
    "without",
    "write_suite",
]
