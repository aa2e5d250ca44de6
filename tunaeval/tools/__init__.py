"""Tools: how they are described, run and recorded, and the workspaces that they work in.

A parse comes by here only to read its tools (`specs`).
"""
