"""Files that survive a crash: JSON lines and locks, and `keys`, which keeps secrets out of them.

Records are appended as lines of JSON; a line that a crash cut off is found and left out.
"""
