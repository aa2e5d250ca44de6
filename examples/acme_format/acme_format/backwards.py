"""A harness: the last scenario of a suite is asked first."""

from __future__ import annotations

import tunaeval
from tunaeval.types.roles import Client, Parser
from tunaeval.types.runs import Report, Suite


class Backwards:
    """Asks one scenario after the other, from the last to the first."""

    def __init__(self, options: tunaeval.RunOptions) -> None:
        self.options = options

    async def run(self, suite: Suite, client: Client, parser: Parser) -> Report:
        run = tunaeval.SuiteRun(suite, client, parser, self.options)
        for repeat in range(1, self.options.repeats + 1):
            for index in reversed(range(len(suite.scenarios))):
                await run.run_one(index, repeat)
        return run.report()
