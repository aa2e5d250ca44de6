"""Tools: how each way of describing one becomes a `ToolSpec`, how they are run, and recorded.

Every parse comes by here to read its tools, so whatever else there is waits until it is named.
"""
