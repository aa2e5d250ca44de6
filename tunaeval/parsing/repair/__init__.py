"""Reads nearly-JSON and fits values to schemas, with every repair named."""
