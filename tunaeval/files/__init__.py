"""JSON lines that survive a crash, and which lines of a run's results count."""
