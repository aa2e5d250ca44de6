"""Reads calls from text, whole or as a stream, with every repair named, and writes them.

`format` is a name, a `Format` value, or any `Parser`; `tools` are what `tools.to_tools` takes.
"""
