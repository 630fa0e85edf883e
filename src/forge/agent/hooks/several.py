"""Tells output that is several JSON objects, which is no answer, from output that is merely text."""

from __future__ import annotations

import json


def several_objects(text: str) -> bool:
    """Whether a text is nothing but objects, at least two, with nothing but white space between them."""
    decoder, at, count = json.JSONDecoder(), 0, 0
    while at < len(text):
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return False
        if not isinstance(value, dict):
            return False
        count += 1
        while at < len(text) and text[at].isspace():
            at += 1
    return count > 1
