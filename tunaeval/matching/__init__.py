"""Matching of expected calls against those got, on which all scores and rewards are based.

No code here uses a network, a clock or a disk, and no calls make it raise. The modules that read
expectations import pydantic, so only those who need them import them: a reward does not.
"""
