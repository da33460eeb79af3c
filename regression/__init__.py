"""The regression command over the zoo: `python -m regression` from the repository's root, or `regression/run.py` from
anywhere.

zoo: descriptions of the models. plan: the pieces of a run. schedule: runs them, some at a time. job: one piece, in a
process of its own. report, page, plots: what a run leaves. metrics, ocr, ocr_metric, samples, wordpiece: end metrics
and what they are fed with.
"""
