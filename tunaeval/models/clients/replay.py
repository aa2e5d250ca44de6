"""Answers from a recording: no model is run, and every score says so."""

from __future__ import annotations

from pathlib import Path

from tunaeval.errors import ClientSetupError, TransportFailure
from tunaeval.types.calls import JsonObject
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.wanted import wanted_path

from .recording import read_recording


class ReplayClient:
    """A client that gives the replies of a recorded run, by scenario, repeat and attempt.

    `path` is a run directory or a file of `write_recording`. A question that nobody asked then
    is a TransportFailure of the kind "replay". What headed the scores of the recorded run heads
    those of the replay too.

    Examples:
        >>> report = tunaeval.run(
        ...     tunaeval.load_suite("smoke"), client=tunaeval.ScriptedClient([""] * 48), out="runs"
        ... )
        >>> tunaeval.ReplayClient(path=report.directory).name
        'replay'
    """

    name: str = "replay"

    def __init__(self, *, path: str | Path | None = None) -> None:
        if path is None:
            raise ClientSetupError(
                "the client 'replay' needs the option 'path': a run directory, or a file that "
                "'tunaeval run --record FILE' wrote"
            )
        self._path = wanted_path(path, "path")
        self._recording = read_recording(self._path)

    @property
    def model(self) -> str | None:
        """The model that gave the recorded replies."""
        return self._recording.model

    @property
    def suite_digests(self) -> dict[str, str]:
        """The digest of each recorded suite, by name, which shows whether the suite has changed."""
        return self._recording.suite_digests

    @property
    def heading(self) -> str:
        recorded = self._recording
        words = f"recorded outputs of {recorded.model}, {recorded.date}; no model was run"
        return f"{words}; {recorded.run.heading}" if recorded.run.heading else words

    @property
    def details(self) -> JsonObject:
        recorded = self._recording
        return {
            **recorded.run.model_details,
            "model": recorded.model,
            "recorded": recorded.date,
            "recording": self._path.name,
            "replies": len(recorded.replies),
        }

    async def complete(self, request: Request) -> Reply:
        place = (request.scenario, request.repeat, request.attempt)
        reply = self._recording.replies.get(place)
        if reply is None:
            raise TransportFailure(
                f"{self._path.name}: no reply was recorded for scenario {request.scenario!r}, "
                f"repeat {request.repeat}, attempt {request.attempt}",
                kind="replay",
            )
        return reply

    async def close(self) -> None:
        """Do nothing: a recording keeps no file open."""

    def __repr__(self) -> str:
        return f"ReplayClient(path={str(self._path)!r})"
