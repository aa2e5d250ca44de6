"""The models that can be asked: over HTTP, embedded, from a recording, from a script.

The only package with a network. Nothing is imported until it is named: httpx2 costs a start-up more
than everything else of tunaeval together.
"""
