"""What the hooks and fixtures use; it is imported when the first of them needs it."""

from .expectations import ExpectedInFile
from .models import fault_of, served
from .suites import CollectedSuite, judged
from .workspace import Workspace

__all__ = ["CollectedSuite", "ExpectedInFile", "Workspace", "fault_of", "judged", "served"]
