"""Expected against got: the one comparison that every score and reward rests on.

Nothing here knows a network, a clock or a disk, and nothing raises on any calls. What reads an
expectation comes with pydantic, and is imported by those who need it: a reward does without.
"""
