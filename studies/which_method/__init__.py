"""Chapter 5's experiment: every method of the course on the same data.

- ``problems`` draws the data, one draw and split per seed, the same for all methods;
- ``methods`` says what is compared, and which settings the validation data choose from;
- ``with_torch`` and ``with_jax`` train and predict, each in a process of its own;
- ``scores`` judges the predictions, whoever made them;
- ``python -m experiments.which_method`` runs all of it and writes ``results.csv``,
  ``settings.json`` and ``maps.npz`` beside this file, which the chapter reads.
"""
