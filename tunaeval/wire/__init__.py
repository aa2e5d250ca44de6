"""What providers send and are sent: one file an API, and one assembler of streams.

Nothing here knows a network, a disk or a clock, and no function raises for what a provider sent.
"""
