"""Which test shows which fault: numbers are rows of the list of faults, F those found since,
H and holes those that were found by breaking it.
H holes that were found by breaking it.

What is not listed is shown by the tests of its own package.
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
    "F13: imports": "faults/test_plugin_imports.py",
    "F13: names claimed twice": "test_registry.py"
    "::test_a_plugin_cannot_take_a_built_in_name",
    "F14: stderr closed": "faults/test_interrupts.py"
    "::test_a_run_whose_stderr_is_closed_early_goes_on_to_its_end",
    "F16: small things": "faults/test_small_things.py",
    "Long runs: many in flight": "faults/test_many_at_once.py",
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
    "11, 40: odd shapes and depths": "faults/test_odd_answers.py",
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
    "20: no descriptor left": "faults/test_scarce_resources.py"
    "::test_with_few_descriptors_fewer_are_asked_at_once_and_none_fails",
    "20: descriptors taken meanwhile": "faults/test_scarce_resources.py"
    "::test_descriptors_that_others_take_meanwhile_cost_no_result",
    "23: a full disk": "faults/test_scarce_resources.py"
    "::test_a_full_disk_ends_the_run_with_whole_records_and_no_more_requests",
    "24: nowhere to write": "runs/test_broken_runs.py",
    "25: a clock that jumps": "faults/test_scarce_resources.py"
    "::test_a_clock_that_jumps_by_hours_changes_no_wait_and_no_result",
    "26: two runs in one directory": "faults/test_one_writer.py",
    "27: another way of asking": "runs/test_resume.py",
    "28: plug-ins": "cli/test_rogue_plugins.py",
    "29: no verdict of a judge": "faults/test_judges_that_fail.py"
    "::test_what_is_no_verdict_is_a_judge_failure_and_no_score",
    "30: orders to a judge": "faults/test_judges_that_fail.py"
    "::test_no_payload_leaves_the_frame_that_a_judge_is_sent",
    "30: how many are turned": "faults/test_judges_that_fail.py"
    "::test_how_many_verdicts_the_payloads_turn_is_published",
    "31: the key in a log": "faults/test_small_things.py"
    "::test_a_key_that_a_server_echoes_is_in_no_log",
    "31: the key in all that a run writes": "faults/test_canary.py",
    "32: markup in a page": "reports/page/test_page_in_browser.py"
    "::test_no_payload_runs_wherever_it_is_written",
    "33: escapes": "cli/test_hostile_texts.py",
    "34: formulas": "faults/test_hostile_suites.py"
    "::test_no_cell_of_a_table_begins_a_formula",
    "35: ids that are paths": "faults/test_hostile_suites.py"
    "::test_an_id_is_data_and_names_no_file",
    "36: bombs and tags": "faults/test_archives.py",
    "37: templates": "faults/test_hostile_suites.py"
    "::test_no_text_of_a_suite_or_model_is_a_template",
    "38: whom to ask": "faults/test_hostile_suites.py"
    "::test_no_suite_says_whom_to_ask",
    "38: other schemes": "faults/test_hostile_suites.py"
    "::test_an_address_is_http_or_refused",
    "39: schemas": "faults/test_hostile_suites.py"
    "::test_a_schema_costs_no_time_no_stack_and_no_request",
    "39: patterns": "faults/test_hostile_suites.py"
    "::test_an_expectations_pattern_is_searched_in_linear_time",
    "hole 7: keys by how they look": "files/test_keys.py"
    "::test_a_key_is_covered_by_its_shape",
    "hole 7: ordinary texts stay": "files/test_keys.py"
    "::test_an_ordinary_text_stays_as_it_is",
    "hole 7: headers": "files/test_keys.py"
    "::test_headers_are_known_by_what_their_names_say",
    "hole 7: variables": "files/test_keys.py"
    "::test_variables_are_known_by_the_usual_names",
    "hole 7: parts of keys": "files/test_keys.py"
    "::test_what_quotes_a_part_of_a_secret_has_none_of_it",
    "hole 7: what a run writes": "faults/test_canary.py"
    "::test_no_canary_of_any_kind_is_in_what_a_run_writes",
    "hole 7: cassettes": "faults/test_canary.py"
    "::test_no_canary_of_any_kind_is_in_a_cassette",
    "hole 7: files of scores": "faults/test_canary.py"
    "::test_no_canary_of_any_kind_is_in_a_file_of_scores",
    "hole 10: reprs and tracebacks": "faults/test_frames.py",
    "hole 11: plug-ins that hang or end the process": "cli/test_plugins_that_hang.py",
    "H2: git alone runs any program": "tasks/test_configurations.py"
    "::test_a_model_cannot_make_git_run_a_program",
    "H2: what other commands read": "tasks/test_configurations.py"
    "::test_what_a_command_reads_as_its_configuration_is_not_written",
    "H2: moved, linked, deleted": "tasks/test_configurations.py"
    "::test_no_command_writes_moves_or_deletes_it",
    "H12: results there twice": "faults/test_doubled_results.py",
    "H: pipes and devices": "faults/test_pipes_and_devices.py",
    "H: pipes and devices that are written to": "faults/test_pipes_and_devices.py"
    "::test_no_command_writes_to_one",
    "H: what a shell has opened": "faults/test_pipes_and_devices.py"
    "::test_what_a_shell_has_opened_is_written_to",
    "H: a pipe in the place of a run": "cli/test_command_line.py"
    "::test_a_pipe_in_the_place_of_a_run_is_said_to_be_one",
    "H: a directory in the place of a file": "cli/test_command_line.py"
    "::test_a_directory_in_the_place_of_a_file_is_named_once",
    "H: a timeout below 0": "tasks/test_workspaces.py"
    "::test_a_timeout_that_is_none_is_refused_in_a_sentence",
    "H: a pipe in a command": "tasks/test_configurations.py"
    "::test_a_command_is_given_no_pipe",
    "H: directories that are swapped": "tasks/test_configurations.py"
    "::test_what_changes_between_check_and_start_leads_nowhere",
    "H: odd values in rows": "faults/test_odd_values.py"
    "::test_a_row_from_nobody_is_a_fault",
    "H: keys that are no texts": "faults/test_odd_values.py"
    "::test_a_key_that_is_no_text_is_a_sentence",
    "H: shared alternatives": "faults/test_odd_values.py"
    "::test_shared_alternatives_are_looked_at_once",
    "H: runs without options that go on": "cli/test_resume_option.py"
    "::test_a_run_that_was_made_in_python_goes_on_by_its_fields",
    "H: hostile values everywhere": "fuzz/test_fuzzing.py"
    "::test_hostile_values_end_in_documented_errors_at_every_entrance",
    "H1: packed streams": "clients/test_labels.py"
    "::test_a_compressed_reply_is_read_whole_and_streamed",
    "H4: the upstream's size": "endpoint/test_upstream.py"
    "::test_an_upstreams_answer_is_bounded",
    "H5: strangers at the endpoint": "endpoint/test_strangers.py"
    "::test_a_foreign_request_is_refused_and_counted",
    "H5: pages of other ports": "endpoint/test_strangers.py"
    "::test_the_endpoints_own_origin_is_answered_and_that_of_another_port_is_not",
    "H5: a body announced too long": "endpoint/test_strangers.py"
    "::test_a_body_that_is_announced_too_long_is_refused_before_it_comes",
    "H5: a body whose end is unclear": "endpoint/test_strangers.py"
    "::test_a_body_whose_end_is_unclear_is_refused_and_the_connection_ends",
    "H6: proxies": "endpoint/test_upstream.py"
    "::test_proxies_of_the_environment_are_used",
    "H6: a proxy that is not there": "clients/test_network.py"
    "::test_a_proxy_that_is_not_there_is_named",
    "H8: a base URL with path and query": "endpoint/test_upstream.py"
    "::test_path_and_query_of_the_base_url_are_kept",
    "H9: other variables of certificates": "clients/test_addresses.py"
    "::test_an_untrusted_certificate_is_told_with_what_is_read",
    "H9: a client certificate": "clients/test_addresses.py"
    "::test_a_server_that_wants_a_client_certificate_is_named",
    "H low: two choices": "clients/test_labels.py"
    "::test_the_choice_of_index_0_is_the_answer",
    "H low: a mask that goes back": "endpoint/test_masks.py",
    "H low: ports and hosts": "clients/test_addresses.py"
    "::test_an_address_that_cannot_be_is_refused_in_a_sentence",
    "H low: Retry-After": "clients/test_addresses.py"
    "::test_what_is_no_number_of_seconds_is_no_pause",
    "H low: raw deflate": "clients/test_labels.py"
    "::test_it_does_not_matter_where_a_packed_body_is_cut",
    "H low: labels of content": "clients/test_labels.py"
    "::test_a_wrong_type_of_content_hides_nothing",
    "H low: duplicate events": "clients/test_labels.py"
    "::test_events_that_are_there_twice_are_noted",
    "H low: null and other oddities": "endpoint/test_strangers.py"
    "::test_a_request_with_anything_anywhere_is_answered_or_refused",
    "H low: long headers": "endpoint/test_strangers.py"
    "::test_headers_that_are_too_long_are_answered",
    "10.1: python -m imports the workspace": "tasks/test_configurations.py"
    "::test_what_python_m_runs_is_not_imported_from_the_workspace",
    "10.2: a bare workspace": "tools/test_launching.py"
    "::test_a_bare_workspace_sees_nothing_of_other_processes",
    "10.3: arguments by reference": "tools/test_passed.py"
    "::test_a_tool_that_changes_its_arguments_changes_no_call",
    "10.3: the recorder": "tools/test_passed.py::test_the_recorder_keeps_what_was_passed",
    "10.3: clients": "runs/test_handed_out.py"
    "::test_a_client_that_changes_its_requests_changes_no_other",
    "10.3: tools, users and checks of a task": "runs/test_handed_out.py"
    "::test_nobody_in_a_task_changes_what_others_see",
    "10.3: judges and categories": "scoring/test_handed_out.py"
    "::test_a_judge_and_categories_change_nothing_that_they_are_shown",
    "10.7: what a server prints": "tools/mcp/test_supervised.py"
    "::test_of_what_a_server_prints_to_stderr_only_the_end_is_kept",
    "10.7: a killed parent": "tools/mcp/test_supervised.py"
    "::test_no_server_survives_that_its_parent_is_killed",
    "H low: HEAD": "endpoint/test_strangers.py"
    "::test_head_and_options_are_answered_and_are_no_turns",
    "10.4: packed files": "faults/test_packed_files.py",
    "10.4: a folder with a damaged file": "faults/test_packed_files.py"
    "::test_a_damaged_file_of_a_folder_is_refused_and_the_others_are_scored",
    "10.4: memory": "faults/test_packed_files.py"
    "::test_what_unpacks_to_too_much_is_refused_in_bounded_memory",
    "10.10: configuration": "cli/test_settings.py"
    "::test_a_file_that_cannot_be_read_is_never_taken_for_none",
    "10.15: looking up a path": "faults/test_paths_that_cannot_be_looked_up.py"
    "::test_no_command_fails_below_a_directory_that_cannot_be_searched",
    "10.16: a full disk": "faults/test_writing.py"
    "::test_a_full_disk_is_no_fault_of_what_is_read",
    "10.16: a link to nothing": "faults/test_writing.py"
    "::test_a_link_to_nothing_is_called_that",
    "10.16: outcomes that are none": "faults/test_writing.py"
    "::test_a_comparison_refuses_the_outcome_that_show_refuses",
    "10.16: pages of long replies": "reports/page/test_page.py"
    "::test_a_page_of_20_000_replies_of_100_kb_takes_seconds",
    "10.8: a check of a template": "parsing/test_templates.py"
    "::test_a_check_ends_in_bounded_time",
    "10.8: one budget": "parsing/test_templates.py"
    "::test_all_renderings_of_a_check_have_one_budget",
    "10.11: parts without their keys": "endpoint/test_strangers.py"
    "::test_a_part_without_its_keys_is_refused_where_it_is",
    "10.11: parts of an upstream": "endpoint/test_strangers.py"
    "::test_an_upstreams_part_without_its_keys_is_no_failure_of_the_endpoint",
    "10.11: schemas that are none": "parsing/test_constraint.py"
    "::test_what_cannot_be_said_is_refused_or_listed",
    "10.11: types that are none": "parsing/test_constraint.py"
    "::test_an_odd_type_somewhere_inside_is_refused_and_read_as_any",
    "10.11: a call without a name": "scoring/test_goal.py"
    "::test_a_call_without_a_tools_name_is_malformed_and_scores_nothing",
    "10.13: keys of the agent": "endpoint/test_known_secrets.py"
    "::test_no_error_repr_or_log_has_a_part_of_the_agents_key",
    "10.13: keys of the environment": "endpoint/test_known_secrets.py"
    "::test_no_error_or_log_has_a_part_of_a_key_of_the_environment",
    "10.13: fields of bodies": "endpoint/test_known_secrets.py"
    "::test_fields_with_the_names_of_headers_are_in_no_cassette",
    "10.13: agents that say their key": "endpoint/test_known_secrets.py"
    "::test_an_agent_that_says_its_key_is_kept_without_it",
    "10.14: more connections than descriptors": "endpoint/test_many_connections.py"
    "::test_more_connections_than_descriptors_close_the_oldest_and_starve_nobody",
    "10.14: a host without descriptors": "endpoint/test_many_connections.py"
    "::test_a_host_that_takes_all_descriptors_is_told_once_and_served_all_the_same",
    "10.9: intervals with repeats": "testing/selftest/test_verdicts.py"
    "::test_intervals_cover_and_tests_raise_few_false_alarms",
    "10.5: rows of the cache": "files/test_reply_cache.py"
    "::test_a_damaged_row_costs_one_request_and_no_run",
    "10.5: replies of clients": "runs/test_damaged_replies.py"
    "::test_a_damaged_reply_of_a_client_is_a_failure_that_names_it_and_costs_no_other",
    "10.5: a run that can be read again": "runs/test_damaged_replies.py"
    "::test_whatever_a_client_gives_the_run_can_be_read_again",
    "10.6: a cache that is held": "files/test_reply_cache.py"
    "::test_a_cache_that_another_process_holds_makes_no_answer_a_timeout",
    "10.6: the event loop": "files/test_reply_cache.py"
    "::test_the_event_loop_goes_on_while_the_cache_waits",
    "10.6: a full disk": "files/test_reply_cache.py"
    "::test_a_full_disk_costs_no_answer_and_what_is_kept_is_used",
    "10.11: databases of others": "files/test_reply_cache.py"
    "::test_a_file_of_others_is_left_as_it_is_and_the_run_goes_on",
    "10.12: results that are joined": "faults/test_changed_runs.py"
    "::test_results_that_are_joined_are_refused_with_their_bytes_and_number",
    "10.12: the law": "faults/test_changed_runs.py"
    "::test_no_change_makes_a_run_ask_again_or_count_what_was_finished_in_silence",
    "10.16: modes of caches": "files/test_reply_cache.py::test_only_its_owner_may_read_it",
    "10.16: modes of runs and recordings": "faults/test_changed_runs.py"
    "::test_a_run_is_as_readable_as_the_umask_says_and_a_recording_is_its_owners",
    "10.16: modes of cassettes": "endpoint/test_cassettes.py"
    "::test_only_its_owner_may_read_a_cassette",
    "10.16: connections that stay open": "cli/test_cache.py"
    "::test_two_processes_share_a_store",
}  # fmt: skip
"""A file below tests/, and the test in it where it is one of many."""
