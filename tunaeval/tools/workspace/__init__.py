"""Workspaces: real directories, confined and compared, and tools that work in them."""
