"""The clients of models: over HTTP, embedded, from a recording, or from a script.

This is the only package that uses the network. A client's module is imported when it is named,
because httpx2 takes longer to import than everything else of tunaeval together.
"""
