"""The public functions that join several packages: run, score, compare, match, sessions.

`tunaeval` itself names them. A module here is imported when its first name is used, so that
nobody loads what they do not call.
"""
