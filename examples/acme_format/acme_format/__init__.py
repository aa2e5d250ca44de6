"""What Acme's models need to be judged by tunaeval; `pyproject.toml` says under which names."""
