"""`python -m benchmarks.page_picture [FILE]`: a picture of diffy's page, made in Chromium."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("tests", "src")]

from benchmarks import pictures  # noqa: E402  # the lines above must come first
from chromium import browser  # noqa: E402  # likewise
from diffy_rounds import recording_browser  # noqa: E402  # likewise
from tmux import wait_for  # noqa: E402  # likewise

KEYS = ["n", "n", "n", "c"]
COMMENT = "keep the loop, it is easier to read"


def main() -> int:
    target = sys.argv[1] if len(sys.argv) > 1 else "docs/pictures/diffy-page.png"
    with tempfile.TemporaryDirectory(prefix="p", dir="/tmp", ignore_cleanup_errors=True) as place:
        root = os.path.join(place, "shop")
        pictures._make(root)
        url = Path(place, "url")
        env = {
            **os.environ,
            "HOME": place,
            "DIFFY_RUNTIME_DIR": place,
            "BROWSER": recording_browser(Path(place)),
        }
        words = [sys.executable, "-m", "forge.hosts.diffy", "--base", "HEAD", "--surface", "web"]
        review = subprocess.Popen(words, cwd=root, env=env, stderr=subprocess.DEVNULL)
        try:
            wait_for(url.exists)
            with browser(env) as page:
                page.call(
                    "Emulation.setDeviceMetricsOverride",
                    width=1240,
                    height=700,
                    deviceScaleFactor=1,
                    mobile=False,
                )
                page.open(url.read_text().strip())
                page.until("document.body && document.body.dataset.ready")
                page.press(*KEYS)
                page.until("document.querySelector('#comment[open]')")
                page.write(COMMENT)
                page.click("#comment button.primary")
                page.until(f"document.body.innerText.includes({COMMENT!r})")
                page.press("r", "a")
                page.until("document.querySelector('.rejected') && document.querySelector('.accepted')")
                page.value("new Promise((done) => setTimeout(done, 500))")  # rows come as they are seen
                page.value("document.querySelector('.rejected').previousElementSibling.scrollIntoView()")
                shot = page.call("Page.captureScreenshot", format="png")["data"]
        finally:
            review.terminate()
            review.wait()
    Path(target).write_bytes(base64.b64decode(shot))
    return 0


if __name__ == "__main__":
    sys.exit(main())
