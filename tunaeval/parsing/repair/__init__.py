"""Reads damaged JSON and converts values to the types of schemas; every repair is named."""
