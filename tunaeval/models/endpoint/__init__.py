"""A model on loopback for agents under test: by a script, from a cassette, or passed on.

It sees everything below and is seen by the public functions alone. Nothing is imported until it
is named: a server costs a start-up.
"""
