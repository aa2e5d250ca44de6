"""Text to calls and back, whole or as a stream, with every repair named.

`format` is a name, a `Format` value, or any `Parser`; `tools` are what `tools.to_tools` takes.
"""
