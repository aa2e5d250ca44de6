"""Run a suite through Inspect AI: it schedules and logs, tunaeval asks and judges.

$ python examples/inspect_harness.py
2 of 12, run by inspect
"""

from contextlib import redirect_stdout
from dataclasses import dataclass
from sys import stderr

from inspect_ai import Task, dataset, eval_async, scorer, solver

import tunaeval
from tunaeval.types.roles import Client, Parser
from tunaeval.types.runs import Report, Suite


@dataclass
class InspectHarness:
    options: tunaeval.RunOptions
    log_dir: str | None = None

    async def run(self, suite: Suite, client: Client, parser: Parser) -> Report:
        run = tunaeval.SuiteRun(suite, client, parser, self.options)
        ids = [one.id for one in suite.scenarios]

        async def solve(state: solver.TaskState, _: solver.Generate) -> solver.TaskState:
            one = await run.run_one(ids.index(state.sample_id), state.epoch)
            state.scores = {"ok": scorer.Score(value=one.ok, explanation=one.reason)}
            return state

        samples = [dataset.Sample(one.prompt, id=one.id) for one in suite.scenarios]
        task = Task(samples, solver=solver.solver("tunaeval")(lambda: solve)(), name=suite.name)
        times = {"epochs": self.options.repeats, "max_samples": self.options.concurrency}
        with redirect_stdout(stderr):  # where Inspect shows its progress
            await eval_async(task, None, log_dir=self.log_dir, debug_errors=True, **times)
        return run.report()


harnesses = tunaeval.registries()["harnesses"]
harnesses.add("inspect", lambda options: InspectHarness(options, log_dir="memory://logs"))
silent = tunaeval.ScriptedClient(["No."] * 12)
report = tunaeval.run("smoke", client=silent, harness="inspect", out=None, attempts=1)
print(f"{report.passed} of {report.total}, run by {report.run.harness}")
