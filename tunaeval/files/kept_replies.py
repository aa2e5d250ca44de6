"""A kept reply as a record: the fields that recordings, cassettes and caches have in common."""

from __future__ import annotations

from typing import Self, TypeVar

from pydantic import BaseModel, ConfigDict, StrictInt, ValidationError

from tunaeval.errors import RecordError
from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, Source
from tunaeval.types.exchange import Reply, fault_of
from tunaeval.types.messages import Usage

_Model = TypeVar("_Model", bound=BaseModel)


class KeptReply(BaseModel):
    """The record of a reply; the files add to it what was asked. Only what was set is written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    message: JsonObject
    finish_reason: str | None = None
    prompt_tokens: StrictInt | None = None
    completion_tokens: StrictInt | None = None
    source: Source | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, reply: Reply) -> Self:
        usage = reply.usage
        return cls(
            message=reply.message,
            finish_reason=reply.finish_reason,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            source=reply.source,
            notes=reply.notes,
        )

    def as_record(self) -> JsonObject:
        """Return the fields that were set, those that say what was asked first."""
        made = self.model_dump(exclude_unset=True)
        return {name: made[name] for name in made if name not in KeptReply.model_fields} | made

    def as_reply(self, where: str, *, cached_at: str | None = None) -> Reply:
        """Return the reply, which has no latency, as no model was run for it. Raises RecordError
        for a damaged one, which is at `where`.
        """
        reply = Reply(
            message=self.message,
            finish_reason=self.finish_reason,
            usage=Usage(self.prompt_tokens, self.completion_tokens),
            source=self.source,
            notes=self.notes,
            cached_at=cached_at,
        )
        if fault := fault_of(reply):
            raise RecordError(f"{where}: the reply has {fault}; record it again")
        return reply


def checked(model: type[_Model], record: JsonObject, where: str, advice: str) -> _Model:
    """Return a record as a model. Raises RecordError with its first fault, its place and advice."""
    try:
        return model.model_validate(record)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"])) or "the whole"
        raise RecordError(
            f"{where}: {field!r} is {brief(first['input'])}; {first['msg'].lower()}; {advice}"
        ) from None
