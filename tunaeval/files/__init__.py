"""Files that survive a crash: JSON lines, locks, and what is kept out of them.

Records are lines of JSON that are appended; a line that a crash cut off is found and left out.
`keys` knows the secrets of this process, and values without them.
"""
