"""Which test shows which fault: numbers are rows of the list of faults, F those found since.

What is not listed is shown by the tests of its own package, or is not shown.
"""

from __future__ import annotations

SHOWN = {
    "F1: a refusal of one request": "faults/test_refusals.py",
    "F3: failures asked again": "faults/test_asking_again.py",
    "F4: two writers": "faults/test_one_writer.py",
    "F5: a shared rest": "faults/test_pauses.py"
    "::test_a_shared_rest_longer_than_the_deadline_fails_no_scenario",
    "F6: tries by time": "faults/test_pauses.py"
    "::test_tries_end_by_time_and_not_by_number",
    "F6: the breaker": "faults/test_pauses.py"
    "::test_a_breaker_slows_down_and_says_so",
    "F7: memory": "faults/test_memory.py",
    "F8: signals in a row": "faults/test_interrupts.py",
    "F9: terminal escapes": "cli/test_hostile_texts.py",
    "F10: archives": "faults/test_archives.py",
    "F11: keys twice": "faults/test_small_things.py"
    "::test_many_keys_and_one_of_them_twice_take_no_time",
    "F11: YAML's tags": "faults/test_small_things.py"
    "::test_a_tag_that_its_text_does_not_fit_is_an_error_of_the_suite",
    "F13: imports": "test_plugin_imports.py",
    "F13: names claimed twice": "test_registry.py"
    "::test_a_plugin_cannot_take_a_built_in_name",
    "F14: stderr closed": "faults/test_interrupts.py"
    "::test_a_run_whose_stderr_is_closed_early_goes_on_to_its_end",
    "F16: small things": "faults/test_small_things.py",
    "1: Retry-After": "clients/test_retries.py"
    "::test_a_pause_that_makes_sense_is_read",
    "2: a burst of 5xx": "faults/test_pauses.py"
    "::test_an_outage_shorter_than_the_deadline_fails_nothing",
    "3, 4: broken connections": "clients/test_retries.py"
    "::test_a_broken_connection_is_retried",
    "5: slow loris": "clients/test_retries.py"
    "::test_a_slow_drip_does_not_outlast_a_try",
    "6: silence": "clients/test_retries.py"
    "::test_silence_is_retried",
    "7 to 10, 12: broken bodies": "clients/test_retries.py"
    "::test_a_broken_body_is_retried_once_and_then_named",
    "13: streams cut off": "clients/test_streamed_replies.py"
    "::test_a_stream_that_was_cut_is_never_a_reply",
    "14, 15: large bodies": "clients/test_hostile_servers.py",
    "16: redirects": "clients/test_hostile_servers.py"
    "::test_redirects_are_not_followed",
    "17: certificates": "clients/test_openai.py"
    "::test_an_untrusted_certificate_is_not_tried_again",
    "18, 21, 22: ends and kills": "faults/test_kills.py",
    "19: a wrong key": "faults/test_refusals.py"
    "::test_what_every_first_request_meets_ends_the_run_and_is_in_no_file",
    "24: nowhere to write": "harness/test_broken_runs.py",
    "26: two runs in one directory": "faults/test_one_writer.py",
    "27: another way of asking": "harness/test_resume.py",
    "28: plug-ins": "cli/test_rogue_plugins.py",
    "31: the key in a log": "faults/test_small_things.py"
    "::test_a_key_that_a_server_echoes_is_in_no_log",
    "33: escapes": "cli/test_hostile_texts.py",
    "36: bombs and tags": "faults/test_archives.py",
}  # fmt: skip
"""A file below tests/, and the test in it where it is one of many."""
