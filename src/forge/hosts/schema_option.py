"""The --json-schema option: parsed and checked before anything runs."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.schema_check import check_schema
from forge.foundation.encode import NOT_JSON
from forge.foundation.errors import UsageError


def read_schema(text: str | None) -> dict[str, Any] | None:
    """The schema a run must satisfy; raises UsageError for text that is no JSON schema."""
    if text is None:
        return None
    try:
        schema = msgspec.json.decode(text)
    except NOT_JSON as error:
        raise UsageError(f"Error: --json-schema is not valid JSON: {error}") from None
    if not isinstance(schema, dict):
        raise UsageError("Error: --json-schema is not a valid JSON Schema: it must be an object")
    if wrong := check_schema(schema):
        raise UsageError(f"Error: --json-schema {wrong}")
    return schema
