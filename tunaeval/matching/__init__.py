"""Compares the calls that a model made with the expected ones, for all scores and rewards.

No code here uses a network, a clock or a disk, and no calls make it raise. The modules that read
expectations import pydantic, so only those who need them import them: a reward does not.
"""
