"""What numbers of passes and scores say about the model behind them: pure functions of numbers.

Every formula has its source in its docstring; `tunaeval selftest stats` measures how often
each interval covers, and how often each test raises a false alarm.
"""
