"""The index of mistakes: all misconceptions that the checks name, by concept.

The directive ``{misconceptions}`` writes a fold for every concept, with the tasks that use it
and the sentences that the checks have for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from authoring.chapter import LABEL, TASK_INFO
from authoring.sphinx_ext import fold
from authoring.typography import with_code
from course.task import find
from project.closure import closure
from project.practicals import Course

# The tasks that use each concept. A task may use several; every task uses at least one.
CONCEPTS = {
    "Log densities and likelihoods": """
        warm-up/log-normal-log-density
        deep-ensembles/gaussian-nll-expression deep-ensembles/laplace-nll-expression
        deep-ensembles/gaussian-nll deep-ensembles/laplace-nll deep-ensembles/student-t-nll
        deep-ensembles/categorical-nll approximate-inference/negative-log-joint
        bayes-by-backprop/log-posterior bayes-by-backprop/log-prior
        bayes-by-backprop/log-likelihood bayes-by-backprop/log-scale-mixture""",
    "Positive parameters and what they stand for": """
        deep-ensembles/heads bayes-by-backprop/reparametrise
        approximate-inference/reparametrised-sample approximate-inference/prior-variance-of
        warm-up/weight-decay-of""",
    "Sums, means and minibatches": """
        warm-up/minibatch-objective warm-up/weight-decay-of
        approximate-inference/prior-variance-of bayes-by-backprop/kl-weights
        bayes-by-backprop/minibatch-loss""",
    "Exponentials, logarithms and precision": """
        warm-up/log-mean-exp warm-up/rounded deep-ensembles/categorical-nll
        deep-ensembles/ensemble-log-probs which-method/last-layer-log-probs
        which-method/mimo-log-probs""",
    "Derivatives, descent and adversarial steps": """
        warm-up/curvature warm-up/squared-errors warm-up/per-example-gradients
        deep-ensembles/adam-step deep-ensembles/fgsm deep-ensembles/adversarial-loss
        approximate-inference/gradient-descent approximate-inference/cyclical-step-size
        bayes-by-backprop/gradient-step bayes-by-backprop/paper-gradients""",
    "KL divergence": """
        warm-up/kl-categorical approximate-inference/gaussian-kl
        bayes-by-backprop/gaussian-kl bayes-by-backprop/sampled-kl
        calibration-and-flows/flow-kl""",
    "The variational objective": """
        approximate-inference/negative-elbo bayes-by-backprop/draw-loss
        bayes-by-backprop/exact-loss calibration-and-flows/negative-elbo""",
    "Reparametrisation and layers with noise": """
        approximate-inference/reparametrised-sample approximate-inference/linear-variational
        approximate-inference/local-linear-variational
        approximate-inference/variational-mlp approximate-inference/dropout-mlp
        bayes-by-backprop/reparametrise bayes-by-backprop/sample-weights
        bayes-by-backprop/bayesian-linear bayes-by-backprop/sample-activations""",
    "Bayesian linear regression and Gaussian processes": """
        warm-up/weight-posterior warm-up/linear-predictive warm-up/fourier-features
        warm-up/log-evidence warm-up/gp-predictive warm-up/gp-log-evidence
        warm-up/student-t-predictive""",
    "Curvature and the Laplace approximation": """
        approximate-inference/hessian-by-backward approximate-inference/logistic-hessian
        approximate-inference/find-mode approximate-inference/laplace-covariance
        approximate-inference/laplace-log-evidence approximate-inference/probit-predictive
        approximate-inference/softmax-laplace-covariance approximate-inference/ggn
        approximate-inference/linearised-predictive
        approximate-inference/last-layer-laplace approximate-inference/network-log-evidence
        which-method/last-layer-log-probs""",
    "Averages over members and samples": """
        deep-ensembles/ensemble-log-probs approximate-inference/sampled-predictive
        calibration-and-flows/predict which-method/mimo-log-probs""",
    "Mixtures and their moments": """
        deep-ensembles/gaussian-mixture-moments deep-ensembles/laplace-mixture-moments
        bayes-by-backprop/predictive-moments approximate-inference/swag-moments""",
    "Many modes, many networks": """
        approximate-inference/randomised-map approximate-inference/swag-moments
        approximate-inference/cyclical-step-size which-method/mimo-inputs
        which-method/mimo-loss""",
    "Entropy and mutual information": """
        deep-ensembles/entropy deep-ensembles/knowledge-uncertainty
        bayes-by-backprop/predictive-entropy acting-on-uncertainty/bald-scores
        acting-on-uncertainty/diverse-batch""",
    "Signal and noise of weights": "bayes-by-backprop/keep-mask",
    "Calibration": """
        calibration-and-flows/calibration-bins calibration-and-flows/calibration-error
        calibration-and-flows/brier-decomposition calibration-and-flows/boundary-line
        calibration-and-flows/fit-temperature calibration-and-flows/calibrated-probs""",
    "Normalizing flows": """
        calibration-and-flows/affine-flow calibration-and-flows/planar-flow
        calibration-and-flows/invertible-u calibration-and-flows/radial-flow
        calibration-and-flows/compose calibration-and-flows/flow-kl""",
    "Scores and comparisons": """
        which-method/gaussian-crps which-method/ood-auroc which-method/difference-interval
        acting-on-uncertainty/pinball-loss""",
    "Conformal prediction": """
        acting-on-uncertainty/conformal-quantile acting-on-uncertainty/split-interval
        acting-on-uncertainty/split-conformal acting-on-uncertainty/coverage-by-group
        acting-on-uncertainty/scaled-interval acting-on-uncertainty/cqr-interval
        acting-on-uncertainty/aps-scores acting-on-uncertainty/weighted-quantile""",
    "Decisions, abstention and information": """
        acting-on-uncertainty/bayes-actions acting-on-uncertainty/chow-labels
        acting-on-uncertainty/risk-coverage acting-on-uncertainty/aurc
        acting-on-uncertainty/mahalanobis-scores
        acting-on-uncertainty/value-of-information acting-on-uncertainty/bald-scores
        acting-on-uncertainty/diverse-batch acting-on-uncertainty/expected-improvement""",
}


NUMBER = re.compile(r"\d+(?:[.,]\d+)*[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]*")


def tasks_by_concept() -> dict[str, list[str]]:
    """Return the ids of the tasks that use each concept."""
    return {concept: ids.split() for concept, ids in CONCEPTS.items()}


def sentences_of(task: str) -> list[str]:
    """Return the sentences that the check of a task has for its misconceptions, each once.

    Sentences that differ in one number are one sentence.
    """
    said = merged(mistake.hint for mistake in find(task).misconceptions)
    return [sentence[0].upper() + sentence[1:] for sentence in said]


def merged(sentences: Iterable[str]) -> list[str]:
    """Merge the sentences that differ in one number: "at rate 1, 0.1 or 0.01"."""
    groups: list[list[str]] = []
    for sentence in dict.fromkeys(sentences):
        for group in groups:
            if _differ(group[:1] + group[-1:] + [sentence]) is not None:
                group.append(sentence)
                break
        else:
            groups.append([sentence])
    return [_merge(group) for group in groups]


def _differ(sentences: list[str]) -> int | None:
    """Return which of their numbers alone differs between the sentences, if one does."""
    if len({NUMBER.sub("0", sentence) for sentence in sentences}) > 1:
        return None
    columns = zip(*map(NUMBER.findall, sentences), strict=True)
    differing = [at for at, values in enumerate(columns) if len(set(values)) > 1]
    return differing[0] if len(differing) == 1 else None


def _merge(group: list[str]) -> str:
    if len(group) == 1:
        return group[0]
    at = _differ(group)
    *others, last = [NUMBER.findall(sentence)[at] for sentence in group]
    place = list(NUMBER.finditer(group[0]))[at]
    numbers = f"{', '.join(others)} or {last}"
    return group[0][: place.start()] + numbers + group[0][place.end() :]


def exercises(course: Course) -> dict[str, str]:
    """Return the label of the exercise that asks for each task: some ask for several."""
    found = {}
    for lab in course.labs():
        text, label = lab.chapter.read_text("utf-8"), ""
        marks = (*LABEL.finditer(text), *TASK_INFO.finditer(text))
        for mark in sorted(marks, key=lambda one: one.start()):
            if mark.re is LABEL:
                label = mark[1]
            else:
                found[mark[1]] = label
    return found


class Misconceptions(SphinxDirective):
    """``{misconceptions}``: every concept with its misconceptions, folded."""

    def run(self) -> list[nodes.Node]:
        """Return a fold for each concept."""
        root = Path(self.env.srcdir)
        course = Course.read(root)
        labs = course.labs()
        checks = {lab.checks for lab in labs}
        read = closure(root, "", root / "_config.yml", *checks)
        for path in (*read, *(lab.chapter for lab in labs)):
            self.env.note_dependency(str(path))
        self.exercises = exercises(course)
        order = list(self.exercises)  # by lab and number
        return [
            fold(
                f"{concept} ({sum(len(sentences_of(task)) for task in tasks)})",
                *(
                    node
                    for task in sorted(tasks, key=order.index)
                    for node in self._of_task(task)
                ),
            )
            for concept, tasks in tasks_by_concept().items()
        ]

    def _of_task(self, task: str) -> Iterator[nodes.Node]:
        link = addnodes.pending_xref(
            "",
            nodes.inline("", task, classes=["xref"]),
            refdoc=self.env.docname,
            refdomain="std",
            reftype="ref",
            reftarget=self.exercises[task],
            refexplicit=False,
            refwarn=True,
        )
        name = nodes.literal("", find(task).name)
        yield nodes.paragraph("", "", link, nodes.Text(", "), name, nodes.Text(":"))
        items = [
            nodes.list_item("", nodes.paragraph("", "", *with_code(sentence)))
            for sentence in sentences_of(task)
        ]
        yield nodes.bullet_list("", *items)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("misconceptions", Misconceptions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
