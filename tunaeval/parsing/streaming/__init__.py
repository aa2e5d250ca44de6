"""A text, or a server's messages, that arrive in pieces: events, and the calls told of early."""
