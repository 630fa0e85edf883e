from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from e2e.cli.process import forge

# Nothing on this machine may answer by chance.
NOBODY = {
    name: "http://127.0.0.1:9/v1" for name in ("LMSTUDIO_BASE_URL", "VLLM_BASE_URL", "LLAMACPP_BASE_URL")
}
NO_OLLAMA = {**NOBODY, "OLLAMA_HOST": "127.0.0.1:9"}


@pytest.fixture
def server() -> Iterator[str]:
    """A model server that has two models and wants no key."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"data": [{"id": "qwen3-coder"}, {"id": "tiny"}]}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as listening:
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"127.0.0.1:{listening.server_address[1]}"
        listening.shutdown()
        thread.join()


def provider(told: Any, name: str) -> Any:
    return next(row for row in told["providers"] if row["name"] == name)


def test_without_any_key_the_ways_to_get_a_model_are_shown(tmp_path: Path) -> None:
    done = forge("models", cwd=tmp_path, env=NO_OLLAMA)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("No model is configured.\nSet ANTHROPIC_API_KEY")
    listed = " ".join(done.out.split())
    assert "✗ openai no key: set OPENAI_API_KEY ✗" in listed
    assert "✗ ollama no server at http://127.0.0.1:9/v1 ✗" in listed
    assert "claude-opus-5-5" not in done.out


def test_key_makes_a_provider_usable_and_is_never_shown(tmp_path: Path) -> None:
    env = {**NO_OLLAMA, "ANTHROPIC_API_KEY": "sk-ant-tell-nobody"}
    done = forge("models", cwd=tmp_path, env=env)
    told = json.loads(forge("models", "--json", cwd=tmp_path, env=env).out)
    assert done.out.startswith(
        "Default: anthropic/claude-opus-5-5 (Opus 5.5)\n"
        "  because no other model was named; key in ANTHROPIC_API_KEY\n"
    )
    assert "claude-sonnet-5-5  Sonnet 5.5  1M       $2 / $10\n" in done.out
    assert "tell-nobody" not in done.out + json.dumps(told)
    assert told["default"] == {"model": "anthropic/claude-opus-5-5", "key_source": "ANTHROPIC_API_KEY"}
    assert (provider(told, "anthropic")["usable"], provider(told, "anthropic")["asked"]) == (True, False)


def test_servers_on_this_machine_are_asked_for_their_models(tmp_path: Path, server: str) -> None:
    env = {**NOBODY, "OLLAMA_HOST": server}
    done = forge("--model", "ollama/tiny", "models", cwd=tmp_path, env=env)
    assert done.out.startswith("Default: ollama/tiny\n  because --model says ollama/tiny; no key\n")
    listed = " ".join(done.out.split())
    assert f"✓ ollama answers at http://{server}/v1: 2 models, no key ✗" in listed
    assert "\nollama\n  model          context  price in / out\n  qwen3-coder" in done.out


def test_provider_of_the_user_appears_with_its_prices(tmp_path: Path, server: str) -> None:
    row = {
        "protocol": "openai_chat",
        "baseUrl": f"http://{server}/v1",
        "models": {"mine-large": {"contextWindow": 64000, "price": {"input": 1, "output": 2}}},
    }
    assert forge("config", "set", "providers.mine", json.dumps(row), cwd=tmp_path).code == 0
    assert forge("config", "set", "model", "mine/mine-large", cwd=tmp_path).code == 0
    done = forge("models", cwd=tmp_path, env=NO_OLLAMA)
    unwrapped = " ".join(done.out.split())
    assert unwrapped.startswith("Default: mine/mine-large because the setting `model` in ")
    assert "mine-large     64k      $1 / $2\n" in done.out


def test_provider_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    forge("config", "set", "providers.mine", '{"protocol": "telepathy"}', cwd=tmp_path)
    done = forge("models", cwd=tmp_path, env=NO_OLLAMA)
    assert done.code == 1
    assert "(providers.mine): protocol 'telepathy' is unknown" in done.out


def test_model_nobody_has_is_reported_with_what_to_do(tmp_path: Path) -> None:
    done = forge("--model", "opnai/gpt", "models", cwd=tmp_path, env=NO_OLLAMA)
    assert done.out.startswith("There is no provider 'opnai'.")
