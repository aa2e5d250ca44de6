"""Statistics of passes and scores: pure functions of numbers.

Every formula has its source in its docstring; `tunaeval selftest stats` measures how often
each interval covers the true value, and how often each test raises a false alarm.
"""
