"""Reads the table of commands: sub-commands, options and what each of them means."""

from __future__ import annotations

from forge.core.shell.analysis.options import parse_options
from forge.core.shell.analysis.tables import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _typeshed import Incomplete

    from forge.core.shell.analysis.state import Frame, Word


def judge_by_table(spec: Incomplete, words: list[Word], frame: Frame) -> None:
    """Adds the findings of a table entry: a code, a list of code, reason and effect, or an object."""
    while isinstance(spec, dict):
        if spec.get("cloud"):
            _cloud(words, frame)
            return
        options = parse_options(words, spec.get("values", ""), permute="sub" not in spec)
        _flags(spec, words, options.given, frame)
        if "sub" not in spec:
            given = {w.text for w in words} | _letters(words)
            looks = any(_present(flag, given) for flag in spec.get("looks", "").split())
            spec = "R1" if looks else _leaf(spec, words, options.operands)
            break
        spec, words = _descend(spec, options.operands, frame)
    _note(spec, frame)


def _letters(words: list[Word]) -> set[str]:
    """The options of short clusters: -lf is -l and -f."""
    clusters = [
        w.text[1:] for w in words if w.text[:1] == "-" and len(w.text) in (3, 4) and w.text[1:].isalpha()
    ]
    return {f"-{letter}" for cluster in clusters for letter in cluster}


def _leaf(spec: dict[str, Incomplete], words: list[Word], operands: list[Word]) -> Incomplete:
    """The meaning without sub-commands: options that make it softer, operands that make it stricter."""
    texts = {w.text for w in words}
    for flags, meaning in spec.get("softer", {}).items():
        if any(_present(flag, texts) for flag in flags.split()):
            return meaning
    return spec["operands"] if operands and "operands" in spec else spec.get("is", "W4")


def _flags(
    spec: dict[str, Incomplete], words: list[Word], given: list[tuple[str, Word | None]], frame: Frame
) -> None:
    texts = {name for name, _ in given} | {w.text for w in words}
    texts |= {w.text.split("=", 1)[0] for w in words if w.text.startswith("-")}
    for flags, meaning in spec.get("if", {}).items():
        if any(_present(flag, texts) for flag in flags.split()):
            _note(meaning, frame)
    for flags, meaning in spec.get("unknown", {}).items() if any(w.unknown for w in words) else ():
        if any(_present(flag, texts) for flag in flags.split()):
            _note(meaning, frame)
    wanted = spec.get("interactive")
    if any(_present(flag, texts) for flag in spec.get("batch", "").split()):
        return
    if spec.get("stdin") and frame.stdin is None and not words:
        frame.run.is_interactive("waits for input from the keyboard")
    if wanted is True or (wanted and any(_present(flag, texts) for flag in wanted.split())):
        frame.run.is_interactive("the program waits for a person")
    elif spec.get("interactive_alone") and not [w for w in words if not w.text.startswith("-")]:
        frame.run.is_interactive("without arguments the program waits for a person")


def _cloud(words: list[Word], frame: Frame) -> None:
    """Command lines of clouds are nouns and verbs: the verb decides."""
    verbs = table("commands")["cloud_verbs"]
    spoken = {w.text for w in words if not w.text.startswith("-")} if len(words) < 6 else _first(words)
    spoken |= {part for word in spoken for part in word.split(":")}
    flags = {w.text for w in words if w.text.startswith("--del")}
    if frame.step is not None:
        frame.step.sub = " ".join(sorted(spoken)[:3])
    if spoken == {"configure"} or "login" in spoken:
        frame.run.is_interactive("asks for an account")
    if any(w.text in ("--dryrun", "--dry-run") for w in words):
        frame.run.note(frame, "R2", "shows what would change in a cloud", "network")
        return
    if any(_present(verb, spoken | flags) for verb in verbs["loses"].split()):
        frame.run.note(frame, "D8", "deletes something in a cloud", "cloud_loss")
    elif any(_present(verb, spoken) for verb in verbs["tells"].split()):
        frame.run.note(frame, "C6", "prints credentials of a cloud", "secret", "secret")
    elif any(_present(verb, spoken) for verb in verbs["reads"].split()):
        frame.run.note(frame, "R2", "asks a cloud", "network")
    else:
        frame.run.note(frame, "C6", "changes something in a cloud", "cloud")


def _first(words: list[Word]) -> set[str]:
    """The words before the first option, or the first five that are none."""
    plain = [w.text for w in words if not w.text.startswith("-")]
    return set(plain[:5])


def _present(flag: str, texts: set[str]) -> bool:
    """`-f`, `--force` (or an abbreviation), a word, `a+b` for both, `x*` for a beginning."""
    if "+" in flag[1:]:
        return all(_present(part, texts) for part in flag.split("+"))
    if flag.startswith("*"):
        return any(t.endswith(flag[1:]) for t in texts)
    if flag.endswith("*"):
        return any(t.startswith(flag[:-1]) for t in texts)
    if flag in texts:
        return True
    return flag.startswith("--") and any(
        t.startswith("--") and len(t) > 4 and flag.startswith(t) for t in texts
    )


def _descend(
    spec: dict[str, Incomplete], operands: list[Word], frame: Frame
) -> tuple[Incomplete, list[Word]]:
    if not operands:
        if spec.get("interactive_bare"):
            frame.run.is_interactive("without arguments the program waits for a person")
        return spec.get("bare", spec.get("is", "R1")), []
    name = operands[0].text
    if frame.step is not None:
        frame.step.sub = (frame.step.sub + " " + name).strip()
    for names, meaning in spec["sub"].items():
        if name in names.split("|"):
            return meaning, operands[1:]
    for prefix, meaning in spec.get("starts", {}).items():
        if name.startswith(prefix):
            return meaning, operands[1:]
    return spec.get("is", "W4"), operands[1:]


def _note(meaning: Incomplete, frame: Frame) -> None:
    if meaning == "interactive":
        frame.run.is_interactive("the program waits for a person")
        return
    if isinstance(meaning, str):
        code, _, reason = meaning.partition(" ")
        effect = ""
    else:
        code, reason, effect = (*meaning, "")[:3]
    frame.run.note(frame, code, reason or _REASONS[code[0]], effect or _EFFECTS[code[0]])


_REASONS = {
    "R": "only reads",
    "W": "changes files of the workspace",
    "C": "changes something that is not easily undone",
    "D": "can destroy what cannot be brought back",
    "F": "destroys the system",
}
_EFFECTS = {"R": "read", "W": "write", "C": "change", "D": "destroy", "F": "destroy"}
