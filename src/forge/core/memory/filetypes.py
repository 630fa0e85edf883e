"""Which files may be imported into memory: text by its extension, and names without one."""

from __future__ import annotations

import os

from forge.foundation.permissions.syntax import word_set

_TEXT = word_set(
    """md txt text json yaml yml toml xml csv html htm css scss sass less js jsx ts tsx mjs cjs mts cts vue
    svelte astro pug jade hbs ejs py pyi pyw rb erb rake go rs java kt kts scala sbt swift dart c h cc cpp cxx
    hpp hxx cs php lua r pl pm ex exs erl hrl hs lhs ml mli clj cljs cljc edn elm f for f90 f95 sh bash zsh
    fish ps1 bat cmd sql graphql gql proto ini cfg conf config env properties lock log diff patch gradle cmake
    make rst adoc asciidoc org tex"""
)


def importable(path: str) -> bool:
    """Whether a file of this name may be imported."""
    extension = os.path.splitext(os.path.basename(path))[1]
    return not extension or extension[1:].lower() in _TEXT
