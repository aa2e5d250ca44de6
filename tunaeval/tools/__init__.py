"""Tools: how they are described, run and recorded, and the workspaces that they work in.

The parser imports only `specs` from this package.
"""
