"""Table 1 of Lakshminarayanan et al. (2017), reproduced on four of its sets.

``data`` fetches the sets and their published splits, ``methods`` trains and predicts, and
``python -m studies.uci`` runs everything and writes ``results.csv`` and ``settings.json``.
``published.csv`` holds the numbers of the paper's table.
"""
