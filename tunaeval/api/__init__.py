"""The public functions that join several packages: run, score, compare, match, sessions.

`tunaeval` exports them. Each module is imported when one of its names is first used, so that nobody
loads code that they do not call.
"""
