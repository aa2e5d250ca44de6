"""`tunaeval doctor`: does a server call tools correctly, and if not, whose fault is it?"""

from __future__ import annotations

import argparse
import asyncio

from tunaeval.doctor.examination import examine
from tunaeval.doctor.report import markdown, show_examination
from tunaeval.doctor.runner import DoctorSettings
from tunaeval.doctor.values import ServerAnswer
from tunaeval.reports.json import json_text

from .clients import reached_by
from .output import Output


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Return 0 if the server has no fault, 1 if it has one, 2 if it was not tested, 3 if answers
    failed.
    """

    def report(answer: ServerAnswer) -> None:
        output.note(f"tunaeval: {answer.ask.key}: {answer.status or answer.failure}")

    settings = DoctorSettings(
        model=arguments.model,
        repeats=arguments.repeats,
        concurrency=arguments.concurrency,
        deadline_seconds=arguments.deadline,
        quick=arguments.quick,
        timeout_seconds=arguments.timeout,
        extra_body=arguments.extra_body,
        max_errors=arguments.max_errors,
        allow_plain_http=arguments.allow_plain_http,
    )
    network, key_variables = reached_by(arguments)
    found = asyncio.run(
        examine(
            arguments.base_url,
            settings,
            only=arguments.only,
            network=network,
            key_variables=key_variables,
            on_answer=None if arguments.quiet else report,
        )
    )
    if arguments.json:
        output.result(json_text(found.as_json()))
    elif arguments.markdown:
        output.result(markdown(found).rstrip("\n"))
    else:
        output.draw(lambda stream: show_examination(found, stream))
    return found.exit
