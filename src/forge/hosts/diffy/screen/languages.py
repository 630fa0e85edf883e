"""What the syntax colours know about languages: comments, texts and words, by family. Enough to read by, and
cheap enough to colour a page in a fraction of a millisecond."""

from __future__ import annotations

import msgspec

_DOUBLE = r'"(?:\\.|[^"\\\n])*"?'
_SINGLE = r"'(?:\\.|[^'\\\n])*'?"
_TRIPLE = r'"""(?s:.*?)(?:"""|\Z)|' + r"'''(?s:.*?)(?:'''|\Z)"
_TICKS = r"`(?s:(?:\\.|[^`\\])*)(?:`|\Z)"
_BLOCK = r"/\*(?s:.*?)(?:\*/|\Z)"
_TAGS = r"</?[A-Za-z][\w:.-]*|/?>"
_KEYS = r"(?m:^[ \t]*(?:- )*[\w.\"'-]+(?=[ \t]*[:=])|^\[.*\])"
_HEADINGS = r"(?m:^#{1,6} .*|^[ \t]*(?:[-*+]|\d+\.) )"


class Language(msgspec.Struct, frozen=True):
    """Patterns for comments, texts and marks, and the words with a meaning of their own."""

    comment: str = ""
    text: str = f"{_DOUBLE}|{_SINGLE}"
    mark: str = ""
    words: frozenset[str] = frozenset()
    any_case: bool = False


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CONSTANTS = _words("True False None true false null nil undefined NULL NaN nullptr self this super it")

_PYTHON = _words(
    "and as assert async await break case class continue def del elif else except finally for from global"
    " if import in is lambda match nonlocal not or pass raise return try type while with yield"
)
_CURLY = _words(
    "abstract as async auto await bool break byte case catch chan char class const constexpr continue"
    " crate debugger declare default defer delete do double dyn else enum export extends extern final"
    " finally float fn for foreach from fun func function get go goto if impl implements import in include"
    " inline int interface internal is let long loop macro match mod module move mut namespace new of"
    " operator override package private protected public pub range readonly record ref return sealed"
    " select set short signed sizeof static string struct switch template throw throws trait try type"
    " typedef typename typeof union unsafe unsigned use using val var virtual void volatile when where"
    " while with yield"
)
_SHELL = _words(
    "case do done elif else esac export fi for function if in local return set shift then trap unset"
    " until while FROM RUN COPY ADD ENV ARG CMD ENTRYPOINT WORKDIR EXPOSE ifeq ifneq endif define include"
)
_RUBY = _words(
    "alias and begin break case class def defmodule do else elsif end ensure fn for if in module my next"
    " not or our redo require rescue retry return sub then undef unless until use when while yield"
    " function local repeat"
)
_SQL = _words(
    "add alter and as asc begin between by case check commit constraint create default delete desc"
    " distinct drop else end exists foreign from full group having if in index inner insert into is join"
    " key left like limit not null offset on or order outer primary references returning right rollback"
    " select set table then trigger union unique update values view when where with"
)

_HASH = "#[^\n]*"
FAMILIES = {
    "python": Language(_HASH, rf"[rbfuRBFU]{{0,2}}(?:{_TRIPLE}|{_DOUBLE}|{_SINGLE})", r"@[\w.]+", _PYTHON),
    "curly": Language(
        f"//[^\n]*|{_BLOCK}", f"{_DOUBLE}|{_SINGLE}|{_TICKS}", r"@\w+|(?m:^[ \t]*#\w+)", _CURLY
    ),
    "shell": Language(r"(?<![\w$\\{])#[^\n]*", mark=r"\$\{?\w+\}?", words=_SHELL),
    "ruby": Language(_HASH, words=_RUBY),
    "lua": Language("--[^\n]*", words=_RUBY),
    "sql": Language(f"--[^\n]*|{_BLOCK}", words=_SQL, any_case=True),
    "markup": Language(r"<!--(?s:.*?)(?:-->|\Z)", mark=_TAGS),
    "style": Language(f"{_BLOCK}|//[^\n]*", mark=r"[.#@][A-Za-z_][\w-]*|[\w-]+(?=\s*:)"),
    "config": Language(r"(?m:^[ \t]*[#;][^\n]*| #[^\n]*)", mark=_KEYS),
    "json": Language(mark=r'"(?:\\.|[^"\\\n])*"(?=\s*:)', text=_DOUBLE),
    "lisp": Language(";[^\n]*", _DOUBLE, r"(?<=\()[\w*+!<>=/?-]+"),
    "prose": Language("", r"`[^`\n]+`", _HEADINGS),
}

_ENDINGS = {
    "python": "py pyi pyw pyx bzl star",
    "curly": "c h cc cpp cxx hpp hh m mm java js mjs cjs jsx ts mts cts tsx go rs swift kt kts cs php"
    " scala dart groovy gradle proto zig sol v glsl",
    "shell": "sh bash zsh fish mk makefile dockerfile containerfile justfile",
    "ruby": "rb rake gemspec gemfile rakefile pl pm r ex exs jl cr nim tcl",
    "lua": "lua hs elm ada adb",
    "sql": "sql ddl",
    "markup": "html htm xml svg xhtml vue svelte xsd plist astro",
    "style": "css scss sass less",
    "config": "yaml yml toml ini cfg conf env properties editorconfig gitignore gitattributes tf hcl nix",
    "json": "json jsonc json5 jsonl ipynb lock",
    "lisp": "el clj cljs lisp scm rkt edn",
    "prose": "md markdown rst txt adoc",
}
BY_ENDING = {ending: family for family, endings in _ENDINGS.items() for ending in endings.split()}
