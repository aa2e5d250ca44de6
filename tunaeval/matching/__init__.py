"""Expected against got: the one comparison that every score and reward rests on.

Nothing here knows a network, a clock or a disk, and nothing raises on any calls. What reads an
expectation comes with pydantic, and is imported when it is asked for, as are the profiles and the
regular expressions: a reward asks for none of these.
"""
