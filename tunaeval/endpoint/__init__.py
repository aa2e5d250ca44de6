"""A model on loopback for agents under test: scripted, replayed from a cassette, or passed on.

Only the public functions import it, and each name is imported when it is used, since the server's
libraries slow down a start.
"""
