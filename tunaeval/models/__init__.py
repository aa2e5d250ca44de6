"""All that speaks to models: clients, and an endpoint on loopback that plays one."""
