"""Recall quality on public data: `python -m evals NAME --data FOLDER --split dev [--json]`."""
