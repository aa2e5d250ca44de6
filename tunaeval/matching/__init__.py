"""Expected against got: the one comparison that every score and reward rests on.

Nothing here knows a network, a clock or a disk, and nothing raises on any calls. What reads an
expectation comes with pydantic, and is imported when it is asked for, as are the profiles and the
regular expressions: a reward asks for none of these.
"""

from .calls import match as match
from .expectations import read_expectation as read_expectation
from .gold import wanted_arguments as wanted_arguments
from .profiles import PROFILES as PROFILES
from .profiles import Profile as Profile
