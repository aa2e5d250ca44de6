"""What numbers of passes and scores say about the model behind them: pure functions of numbers.

Every formula has its source in its docstring; `tunaeval selftest stats` measures how often
each interval covers, and how often each test raises a false alarm.
"""

from .agreement import Corrected, Kappa, cohen_kappa, krippendorff_alpha, rogan_gladen
from .clusters import Clusters, Estimate, clustered_rate, clusters_of, mean, paired_difference
from .distributions import beta_cdf, beta_quantile, normal_quantile, student_quantile
from .hypotheses import benjamini_hochberg, holm, mcnemar, sign_flip
from .power import detectable_effect, needed_scenarios
from .proportions import clopper_pearson, wilson
from .repeats import VarianceSplit, pass_at_k, pass_hat_k, variance_split
from .resampling import bootstrap

__all__ = [
    "Clusters",
    "Corrected",
    "Estimate",
    "Kappa",
    "VarianceSplit",
    "benjamini_hochberg",
    "beta_cdf",
    "beta_quantile",
    "bootstrap",
    "clopper_pearson",
    "clustered_rate",
    "clusters_of",
    "cohen_kappa",
    "detectable_effect",
    "holm",
    "krippendorff_alpha",
    "mcnemar",
    "mean",
    "needed_scenarios",
    "normal_quantile",
    "paired_difference",
    "pass_at_k",
    "pass_hat_k",
    "rogan_gladen",
    "sign_flip",
    "student_quantile",
    "variance_split",
    "wilson",
]
