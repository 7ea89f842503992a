"""Chapter 5's experiment: every method of the course on the same data.

- ``problems`` draws the data, one draw and split per seed, the same for all methods;
- ``methods`` lists the methods, and the settings from which each is chosen on the
  validation data;
- ``with_torch`` and ``with_jax`` train and predict, each in a separate process;
- ``baselines`` has two baselines without a network;
- ``record`` collects predictions and costs; ``scores`` scores the predictions;
- ``python -m studies.which_method`` runs all of it and writes ``results.csv``,
  ``asides.csv``, ``settings.json`` and ``maps.npz`` beside this file, for the chapter to read.
"""
