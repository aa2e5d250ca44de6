"""A run as a person looks at it: one conversation on a terminal, or all of it as a page."""

from .console import show_scenario
from .html import page_writer
from .scenario import Viewer

__all__ = ["Viewer", "page_writer", "show_scenario"]
