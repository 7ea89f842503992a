"""Practical 6: acting on uncertainty, in NumPy.

Shapes: n calibration data points, N new ones, K classes, G groups, D inputs; A actions, M
members of an ensemble. A calibration data point was not used for training. α is the miscoverage
that is allowed, so that intervals and sets contain the truth with a probability of at least
1 − α.
"""

from solutions.acting_on_uncertainty.intervals import conformal_quantile, split_interval
from solutions.acting_on_uncertainty.scaling import scaled_interval
from solutions.acting_on_uncertainty.quantiles import pinball_loss, cqr_interval
from solutions.acting_on_uncertainty.groups import (
    coverage_law,
    coverage_by_group,
    group_quantiles,
)
from solutions.acting_on_uncertainty.labels import (
    least_ambiguous_scores,
    aps_scores,
    raps_scores,
)
from solutions.acting_on_uncertainty.shift import weighted_quantile
from solutions.acting_on_uncertainty.splitting import (
    hurried_split_conformal,
    split_conformal,
)
from solutions.acting_on_uncertainty.risk import risk_threshold
from solutions.acting_on_uncertainty.decisions import (
    ABSTAIN,
    bayes_actions,
    chow_labels,
    value_of_information,
)
from solutions.acting_on_uncertainty.selection import risk_coverage, aurc, excess_aurc
from solutions.acting_on_uncertainty.detectors import (
    mahalanobis_scores,
    neighbour_scores,
)
from solutions.acting_on_uncertainty.acquisition import bald_scores, diverse_batch
from solutions.acting_on_uncertainty.optimisation import expected_improvement
