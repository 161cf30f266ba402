"""A rollout service for tests: what Homeground's does, with a harness that is a Python function."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# As Node's `fetch`, which a harness asks with.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def ask(policy: str, messages: list[dict], **more: object) -> dict:
    """One model call of a harness; the message that came back."""
    body = json.dumps({"model": "policy", "messages": messages, **more}).encode()
    request = urllib.request.Request(f"{policy}/chat/completions", body, {"content-type": "application/json"})
    with DIRECT.open(request, timeout=60) as answer:
        return json.load(answer)["choices"][0]["message"]


class FakeService:
    """`play(policy, task, repeat)` gives what a line says beside its id; raising is an errored rollout. `lines` changes the whole answer."""

    def __init__(self, play: Callable, *, tape_bound: bool = False, lines: Callable[[list[str]], list[str]] = lambda lines: lines) -> None:
        self.asked: list[dict] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_GET(self) -> None:
                self.reply(json.dumps({"name": "fake", "hash": "f" * 64, "tapeBound": tape_bound}))

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                service.asked.append(body)
                played: list[str] = []
                threads = [
                    threading.Thread(target=lambda each=each: played.append(service.line(play, body, each))) for each in body["rollouts"]
                ]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                self.reply("".join(f"{line}\n" for line in lines(played)))

            def reply(self, text: str) -> None:
                self.send_response(200)
                self.end_headers()
                try:
                    self.wfile.write(text.encode())
                except BrokenPipeError:
                    pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}/key"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def line(self, play: Callable, body: dict, rollout: dict) -> str:
        told = {"id": rollout["id"], "score": None, "criteria": {}, "offTape": 0, "stop": "done"}
        try:
            told |= play(body["policy"].replace("{id}", rollout["id"]), rollout["task"], rollout["repeat"])
        except Exception as error:
            told |= {"stop": "error", "error": {"type": type(error).__name__, "message": str(error)}}
        return json.dumps(told)

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
