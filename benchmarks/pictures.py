"""`python -m benchmarks.pictures [DIRECTORY]`: pictures of diffy's screen, made with the real program."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from benchmarks.terminal_picture import svg

BEFORE = {
    "src/shop/cart.py": '''"""The cart of a shop."""

from decimal import Decimal

TAX = Decimal("0.19")


class Cart:
    """Items and what they cost."""

    def __init__(self):
        self.items = []

    def total(self):
        total = 0
        for name, price in self.items:
            total += price
        return total

    def clear(self):
        self.items = []


def describe(cart):
    lines = []
    for name, price in cart.items:
        lines.append(name + ": " + str(price))
    return "\\n".join(lines)


def checkout(cart, account):
    if not cart.items:
        raise ValueError("empty cart")
    account.charge(cart.total())
    cart.clear()
''',
    "src/shop/account.py": "def charge(amount, retries=3):\n    return amount\n",
    "docs/guide.md": "# Guide\n\nAdd an item to the cart.\n\n장바구니에 상품을 추가합니다.\n",
    "run.sh": "#!/bin/sh\nexec python -m shop\n",
}
OLD_SUM = """\
        total = 0
        for name, price in self.items:
            total += price
        return total"""
NEW_SUM = '''\
        """The sum with tax, rounded to cents."""
        net = sum(price for _, price in self.items)
        return (net * (1 + TAX)).quantize(Decimal("0.01"))'''
CHANGES = {
    "src/shop/cart.py": (
        (OLD_SUM, NEW_SUM),
        (
            'name + ": " + str(price))\n    return "\\n".join(lines)',
            'f"{name}: {price:.2f}")\n    return "\\n".join(sorted(lines))',
        ),
        ('ValueError("empty cart")', 'EmptyCart("nothing to pay for")'),
    ),
    "src/shop/account.py": (
        ("retries=3):\n", "retries=5):\n    # only for ad\u200bmins \u202e\n"),
        ("amount\n", "amount * 1\n"),
    ),
    "docs/guide.md": (("an item", "items"), ("상품을", "상품과 수량을")),
}
# Name, columns, rows, environment, keys.
PICTURES: list[tuple[str, int, int, dict[str, str], list[str]]] = [
    (
        "diffy-unified",
        100,
        32,
        {},
        ["G", "k", "k", "r", "k", "c", "keep the loop, it is easier to read", "Enter", "j", "S", "a"],
    ),
    ("diffy-side-by-side", 132, 32, {"DIFFY_THEME": "light"}, ["n", "n", "n", "a", "r", "r", "u", "f", "d"]),
    ("diffy-lines", 90, 16, {}, ["n", "n", "v", "j"]),
    ("diffy-finish", 90, 20, {}, ["a", "a", "r", "Enter"]),
    ("diffy-no-color", 90, 20, {"NO_COLOR": "1"}, ["n", "n", "n", "a", "/", "price", "Enter"]),
    ("diffy-keys", 100, 54, {}, ["?"]),
]


def main() -> int:
    target = sys.argv[1] if len(sys.argv) > 1 else "docs/pictures"
    os.makedirs(target, exist_ok=True)
    for name, columns, rows, more, keys in PICTURES:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
            lines = _capture(place, (columns, rows), more, keys)
        ground = more.get("DIFFY_THEME", "dark")
        with open(os.path.join(target, f"{name}.svg"), "w", encoding="utf-8") as file:
            file.write(svg(lines, columns, ground))
        print(name)
    return 0


def _capture(place: str, size: tuple[int, int], more: dict[str, str], keys: list[str]) -> list[str]:
    root = os.path.join(place, "shop")
    _make(root)
    env = {**os.environ, "HOME": place, "DIFFY_RUNTIME_DIR": place, "COLORTERM": "truecolor", **more}
    tmux = ["tmux", "-S", os.path.join(place, "t"), "-f", "/dev/null"]
    words = [sys.executable, "-P", "-m", "forge.hosts.diffy", "--base", "HEAD"]
    settings = [word for name, value in more.items() for word in ("-e", f"{name}={value}")]
    subprocess.run(
        [*tmux, "new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), "-c", root, *settings, *words],
        env=env,
        check=True,
    )
    try:
        _wait(tmux, "finish")
        for key in keys:
            literal = ["-l"] if " " in key else []
            subprocess.run([*tmux, "send-keys", *literal, key], check=True)
            time.sleep(0.3)
        shown = subprocess.run(
            [*tmux, "capture-pane", "-e", "-p"], capture_output=True, text=True, check=True
        )
        return shown.stdout.split("\n")
    finally:
        subprocess.run([*tmux, "send-keys", "Escape", "Escape", "Q"], check=False)
        time.sleep(1.0)
        subprocess.run([*tmux, "kill-server"], check=False, stderr=subprocess.DEVNULL)


def _wait(tmux: list[str], text: str) -> None:
    for _ in range(100):
        shown = subprocess.run([*tmux, "capture-pane", "-p"], capture_output=True, text=True, check=False)
        if text in shown.stdout:
            return
        time.sleep(0.1)
    raise TimeoutError(shown.stdout)


def _make(root: str) -> None:
    _write(root, BEFORE)
    git = ["git", "-C", root, "-c", "user.name=n", "-c", "user.email=e@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True)
    after = dict(BEFORE)
    for path, changes in CHANGES.items():
        for old, new in changes:
            after[path] = after[path].replace(old, new)
    after["src/shop/receipt.py"] = (
        '"""Receipts."""\n\n\ndef receipt(cart):\n    return f"Total: {cart.total()}"\n'
    )
    _write(root, after)
    os.chmod(os.path.join(root, "run.sh"), 0o755)


def _write(root: str, files: dict[str, str]) -> None:
    for path, text in files.items():
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    sys.exit(main())
