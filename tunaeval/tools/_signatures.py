"""What a function's signature and docstring say to a model; the only tools module with pydantic."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import cast

from pydantic import PydanticUserError, TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.json_schema import GenerateJsonSchema

from tunaeval.types import JsonObject

_UNNAMED: dict[object, str] = {
    inspect.Parameter.POSITIONAL_ONLY: "can only be given by position",
    inspect.Parameter.VAR_POSITIONAL: "takes any number of values by position",
}


class _Untitled(GenerateJsonSchema):
    """Without the titles that repeat each name: a model pays for every token."""

    def field_title_should_be_set(self, schema: object) -> bool:
        del schema
        return False


def described(function: Callable[..., object]) -> tuple[str, str, JsonObject]:
    """The name, the first paragraph of the docstring, and the JSON schema of the arguments.

    Raises ValueError saying what cannot be told to a model, and what to do.
    """
    name = getattr(function, "__name__", "")
    if not name.isidentifier():
        raise ValueError("it has no name a model could call; write a def around it")
    for parameter in inspect.signature(function).parameters.values():
        how = _UNNAMED.get(parameter.kind)
        if how is not None:
            raise ValueError(
                f"the parameter {parameter.name!r} {how}, but a model gives arguments by name"
            )
    paragraph = (inspect.getdoc(function) or "").strip().partition("\n\n")[0]
    return name, " ".join(paragraph.split()), _schema(function)


def _schema(function: Callable[..., object]) -> JsonObject:
    try:
        # pydantic takes functions; its annotation speaks of types alone
        adapter = TypeAdapter(cast("type[object]", function))
        schema = adapter.json_schema(schema_generator=_Untitled)
    except (PydanticUserError, PydanticSchemaGenerationError, NameError) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(
            f"a parameter's type has no JSON schema ({reason}); "
            "annotate it with JSON types, or describe the tool with a dict"
        ) from error
    for argument in schema.get("properties", {}).values():
        argument.pop("title", None)  # arguments are named without asking the hook above
    return {"type": "object", "properties": {}, **schema}
