"""Score transcripts of agents, with rules or with a model as the judge."""

SCORERS: dict[str, str] = {
    "argument-validity": "tunaeval.scoring.trajectory:argument_validity",
    "context-efficiency": "tunaeval.scoring.default:context_efficiency",
    "cost": "tunaeval.scoring.spending:cost",
    "expected-trajectory": "tunaeval.scoring.trajectory:expected_trajectory",
    "goal-completion": "tunaeval.scoring.goal:goal_completion",
    "latency": "tunaeval.scoring.spending:latency",
    "plan-correctness": "tunaeval.scoring.default:plan_correctness",
    "repetition": "tunaeval.scoring.trajectory:repetition",
    "success-ratio": "tunaeval.scoring.default:success_ratio",
}
"""The built-in members of the entry-point group `tunaeval.scorers`."""
