"""Every method of the course on eight data sets, with test data shifted in severity.

- ``data`` loads the sets, one split per seed, and shifts the test inputs;
- ``methods`` trains each method, with settings chosen on the validation data;
- ``experiment`` scores the forecasts at each severity;
- ``ranks`` compares the methods: paired intervals, ranks, and a rank correlation;
- ``summary`` reads the committed results for the pages that show them;
- ``python -m studies.shift`` runs everything, goes on where it was stopped, and writes
  ``results.csv`` and ``settings.json``. ``published.csv`` has the published scores.
"""
