"""Checks of practical 2. Oracles: SciPy, ``torch.distributions``, autograd and NumPy in double precision."""

from course.checks.approximate_inference.curvature import GGN, NETWORK_LOG_EVIDENCE
from course.checks.approximate_inference.descent import GRADIENT_DESCENT
from course.checks.approximate_inference.dropout import DROPOUT_MLP
from course.checks.approximate_inference.elbo import GAUSSIAN_KL, NEGATIVE_ELBO
from course.checks.approximate_inference.laplace import (
    LAPLACE_COVARIANCE,
    LAPLACE_LOG_EVIDENCE,
    SOFTMAX_LAPLACE_COVARIANCE,
)
from course.checks.approximate_inference.layers import (
    LINEAR_VARIATIONAL,
    LOCAL_LINEAR_VARIATIONAL,
)
from course.checks.approximate_inference.linearised import (
    LAST_LAYER_LAPLACE,
    LINEARISED_PREDICTIVE,
)
from course.checks.approximate_inference.many_modes import (
    CYCLICAL_STEP_SIZE,
    RANDOMISED_MAP,
    SWAG_MOMENTS,
)
from course.checks.approximate_inference.mode import (
    FIND_MODE,
    HESSIAN_BY_BACKWARD,
    LOGISTIC_HESSIAN,
)
from course.checks.approximate_inference.networks import VARIATIONAL_MLP
from course.checks.approximate_inference.objective import (
    NEGATIVE_LOG_JOINT,
    PRIOR_VARIANCE_OF,
)
from course.checks.approximate_inference.predictions import (
    PROBIT_PREDICTIVE,
    SAMPLED_PREDICTIVE,
)
from course.checks.approximate_inference.quiz import (
    LAPLACE_FOR_NETWORKS,
    LOGISTIC_REGRESSION,
    NETWORKS,
)
from course.checks.approximate_inference.reparametrisation import REPARAMETRISED_SAMPLE
from course.quiz import quizzes
from course.task import tasks

TASKS = tasks(
    __name__,
    NEGATIVE_LOG_JOINT,
    PRIOR_VARIANCE_OF,
    GRADIENT_DESCENT,
    HESSIAN_BY_BACKWARD,
    LOGISTIC_HESSIAN,
    FIND_MODE,
    LAPLACE_COVARIANCE,
    LAPLACE_LOG_EVIDENCE,
    SAMPLED_PREDICTIVE,
    PROBIT_PREDICTIVE,
    SOFTMAX_LAPLACE_COVARIANCE,
    REPARAMETRISED_SAMPLE,
    GAUSSIAN_KL,
    NEGATIVE_ELBO,
    LINEAR_VARIATIONAL,
    LOCAL_LINEAR_VARIATIONAL,
    VARIATIONAL_MLP,
    DROPOUT_MLP,
    GGN,
    LINEARISED_PREDICTIVE,
    LAST_LAYER_LAPLACE,
    NETWORK_LOG_EVIDENCE,
    RANDOMISED_MAP,
    SWAG_MOMENTS,
    CYCLICAL_STEP_SIZE,
)

QUIZZES = quizzes(
    __name__,
    logistic_regression=LOGISTIC_REGRESSION,
    networks=NETWORKS,
    laplace_for_networks=LAPLACE_FOR_NETWORKS,
)
