"""Which certificate authorities to trust, from the environment's variables."""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Mapping
from typing import TypeVar

from forge.foundation.errors import ModelError

T = TypeVar("T")

_REPLACING = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


def trust(env: Mapping[str, str]) -> ssl.SSLContext:
    """A verifying context: the system's authorities or a given bundle, plus NODE_EXTRA_CA_CERTS."""
    bundle = next((env[name] for name in _REPLACING if env.get(name)), "")
    folder = env.get("SSL_CERT_DIR", "")
    if bundle and os.path.isdir(bundle):
        bundle, folder = "", bundle
    context = _loaded("SSL_CERT_FILE", bundle, lambda: _default(bundle, folder))
    extra = env.get("NODE_EXTRA_CA_CERTS", "")
    if extra:
        _loaded("NODE_EXTRA_CA_CERTS", extra, lambda: context.load_verify_locations(extra))
    own = env.get("CLAUDE_CODE_CLIENT_CERT", "")
    if own:
        key = env.get("CLAUDE_CODE_CLIENT_KEY") or None
        word = env.get("CLAUDE_CODE_CLIENT_KEY_PASSPHRASE") or None
        _loaded("CLAUDE_CODE_CLIENT_CERT", own, lambda: context.load_cert_chain(own, key, word))
    return context


def _default(bundle: str, folder: str) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=bundle or None, capath=folder or None)


def _loaded(variable: str, path: str, load: Callable[[], T]) -> T:
    try:
        return load()
    except OSError as error:
        reason = error.strerror or error.__class__.__name__
        raise ModelError(
            f"API Error: The certificate file {path} cannot be used: {reason}.",
            kind="connection",
            hint=f"Correct {variable}; it must name a readable PEM file.",
        ) from None
