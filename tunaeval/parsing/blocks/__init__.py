"""Recovering readers: a block of each kind, step by step, whole or while it arrives."""
