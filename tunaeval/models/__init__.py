"""All that speaks to models: clients, and an endpoint on loopback that plays a model.

It is the only package with a network.
"""
