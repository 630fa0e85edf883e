"""Pictures of servers are kept as files, and the model is told where: it may want to use them again."""

from __future__ import annotations

import binascii
import os

from forge.agent.context import CallContext
from forge.core.mcp.names import normal
from forge.core.message import Block, Image, Text


def with_files(told: str | list[Block], server: str, context: CallContext) -> str | list[Block]:
    """The result with the place of its file behind each picture."""
    if isinstance(told, str) or not any(isinstance(block, Image) for block in told):
        return told
    whole: list[Block] = []
    for block in told:
        whole.append(block)
        path = _saved(block, server, context) if isinstance(block, Image) else ""
        whole += [Text(f"[Image: source: {path}]")] if path else []
    return whole


def _saved(picture: Image, server: str, context: CallContext) -> str:
    """The file of a picture; empty if it could not be written."""
    parts, ending = context.session.parts, picture.source.media_type.rpartition("/")[2]
    name = f"mcp-{normal(server)}-blob-{round(parts.clock() * 1000)}-{parts.new_id()[:6]}.{ending}"
    path = os.path.join(context.results_dir, name)
    try:
        content = binascii.a2b_base64(picture.source.data)
        os.makedirs(context.results_dir, mode=0o700, exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    except (OSError, ValueError):
        return ""
    return path
