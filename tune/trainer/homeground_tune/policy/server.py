"""OpenAI's Chat Completions over the model of this process: HTTP threads only ask, the thread that owns the model answers.

`/v1/…` is open to any client. `/s/ID/v1/…` belongs to one rollout: its turns are kept as token ids for training.
"""

from __future__ import annotations

import hmac
import json
import queue
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ..messages import parse_json
from .chat import CALL_START, BadRequest, ChatRequest, Message, prompt_ids, read_completion, read_request
from .generate import Generator, Job
from .session import Session, Turn

MOST_BODY = 32 * 2**20


class PolicyServer:
    """`models` maps the names that clients may ask for to adapters (None: without). The first is the default."""

    def __init__(
        self,
        tokenizer,
        generator: Generator,
        *,
        models: dict[str, str | None],
        context: int,
        host="127.0.0.1",
        port=0,
        key: str | None = None,
        temperature: float | None = None,
        turn_tokens: int | None = None,
        rollout_tokens: int | None = None,
    ) -> None:
        self.tokenizer = tokenizer
        self.generator = generator
        self.models = models
        self.context = context
        self.key = key
        # What a rollout must keep to, whatever the product asks for.
        self.temperature = temperature
        self.turn_tokens = turn_tokens
        self.rollout_tokens = rollout_tokens
        self.sessions: dict[str, Session] = {}
        self.http = ThreadingHTTPServer((host, port), handler_for(self))
        self.http.daemon_threads = True
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()

    def jobs(self, request: ChatRequest, session: Session | None) -> list[Job]:
        """Raises BadRequest. None at all where a rollout has used its tokens up."""
        if request.model not in self.models and session is None:
            raise BadRequest(f"model: there is no {request.model} here; there is {', '.join(self.models)}", "model_not_found")
        prompt = (
            prompt_ids(self.tokenizer, request.messages, request.tools)
            if session is None
            else session.prompt(self.tokenizer, request.messages, request.tools)
        )
        most = self.context if session is None or self.rollout_tokens is None else min(self.context, self.rollout_tokens)
        room = most - len(prompt)
        if room < 1 and session is not None and session.capped == 0:
            session.capped = 1
            return []
        if room < 1:
            raise BadRequest(f"messages: {len(prompt)} tokens; this model takes {most}", "context_length_exceeded")
        wanted = request.max_tokens or room
        return [
            Job(
                prompt=prompt,
                max_tokens=min(room, wanted, self.turn_tokens or wanted) if session is not None else min(room, wanted),
                temperature=request.temperature if session is None or self.temperature is None else self.temperature,
                top_p=request.top_p if session is None else 1.0,
                seed=seed_of(request, session, number),
                stop=request.stop,
                adapter=next(iter(self.models.values())) if session is not None else self.models[request.model],
            )
            for number in range(request.choices)
        ]

    def answer(self, request: ChatRequest, jobs: list[Job], session: Session | None) -> dict:
        """Waits for the jobs; the body of the unstreamed answer. Without jobs: an empty one, cut for length, so that the product comes to its end."""
        if not jobs:
            choice = {"index": 0, "message": {"role": "assistant", "content": ""}, "finish_reason": "length", "logprobs": None}
            usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
            return {**head(request, "chat.completion"), "choices": [choice], "usage": usage}
        for job in jobs:
            self.generator.submit(job)
        for job in jobs:
            job.done.wait()
            if job.error is not None:
                raise RuntimeError(job.error)
        if session is not None:
            session.take(Turn(jobs[0].prompt, jobs[0].ids, jobs[0].logprobs), len(request.messages))
        return {
            **head(request, "chat.completion"),
            "choices": [self.choice(request, job, number) for number, job in enumerate(jobs)],
            **self.tail(request, jobs),
        }

    def choice(self, request: ChatRequest, job: Job, number: int) -> dict:
        message = self.message(request, job)
        out = {"index": number, "message": message.openai(), "finish_reason": finish_reason(job, message), "logprobs": None}
        if request.logprobs:
            out["logprobs"] = {"content": [self.logprob(token, value) for token, value in zip(job.ids, job.logprobs, strict=True)]}
        if request.token_ids:
            out["token_ids"] = job.ids
        return out

    def message(self, request: ChatRequest, job: Job) -> Message:
        message = read_completion(self.tokenizer, job.ids, job.prompt, request.tools, lambda: f"call_{uuid.uuid4().hex[:24]}")
        for stop in request.stop:
            message.content = message.content.split(stop)[0]
        return message

    def tail(self, request: ChatRequest, jobs: list[Job]) -> dict:
        usage = {"prompt_tokens": len(jobs[0].prompt), "completion_tokens": sum(len(job.ids) for job in jobs)}
        usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]
        return {"usage": usage, **({"prompt_token_ids": jobs[0].prompt} if request.token_ids else {})}

    def logprob(self, token: int, value: float) -> dict:
        text = self.tokenizer.decode([token])
        return {"token": text, "logprob": value, "bytes": list(text.encode()), "top_logprobs": []}

    def stream(self, request: ChatRequest, jobs: list[Job], send) -> None:
        """Text goes out as it comes, but for what may be a tool call; calls follow whole. `send` takes one chunk."""
        ready: queue.Queue[tuple[int, int, float] | None] = queue.Queue()
        for number, job in enumerate(jobs):
            job.on_token = lambda token, value, number=number: ready.put((number, token, value))
            self.generator.submit(job)
        threading.Thread(target=lambda: ([job.done.wait() for job in jobs], ready.put(None)), daemon=True).start()
        base = head(request, "chat.completion.chunk")
        for number in range(len(jobs)):
            ids = {"prompt_token_ids": jobs[0].prompt} if request.token_ids and number == 0 else {}
            send({**base, **ids, "choices": [delta(number, {"role": "assistant", "content": ""})]})
        sent = [""] * len(jobs)
        seen: list[list[int]] = [[] for _ in jobs]
        while (item := ready.get()) is not None:
            number, token, value = item
            seen[number].append(token)
            text = safe_text(self.tokenizer, seen[number], request.stop)
            extra = {"token_ids": [token]} if request.token_ids else {}
            if request.logprobs:
                extra["logprobs"] = {"content": [self.logprob(token, value)]}
            if extra or len(text) > len(sent[number]):
                send(
                    {
                        **base,
                        "choices": [
                            {**delta(number, {"content": text[len(sent[number]) :]} if len(text) > len(sent[number]) else {}), **extra}
                        ],
                    }
                )
                sent[number] = max(text, sent[number], key=len)
        for number, job in enumerate(jobs):
            if job.error is not None:
                raise RuntimeError(job.error)
            message = self.message(request, job)
            if len(message.content) > len(sent[number]):
                send({**base, "choices": [delta(number, {"content": message.content[len(sent[number]) :]})]})
            for index, call in enumerate(message.tool_calls):
                send({**base, "choices": [delta(number, {"tool_calls": [{"index": index, **call}]})]})
            send({**base, "choices": [delta(number, {}, finish_reason(job, message))]})
        if request.stream_usage:
            send({**base, "choices": [], "usage": self.tail(request, jobs)["usage"]})


def seed_of(request: ChatRequest, session: Session | None, number: int) -> int | None:
    """A rollout's turns are sampled the same whatever runs beside it."""
    if session is not None:
        return None if session.seed is None else session.seed + len(session.turns)
    return None if request.seed is None else request.seed + number


def head(request: ChatRequest, kind: str) -> dict:
    return {"id": f"chatcmpl-{uuid.uuid4().hex}", "object": kind, "created": int(time.time()), "model": request.model}


def delta(number: int, content: dict, finish: str | None = None) -> dict:
    return {"index": number, "delta": content, "finish_reason": finish}


def finish_reason(job: Job, message: Message) -> str:
    return "tool_calls" if message.tool_calls and job.finish == "stop" else job.finish


def safe_text(tokenizer, ids: list[int], stops: list[str]) -> str:
    """What of the text can be sent already: nothing from a tool call on, no half character, nothing that may grow into either or into a stop."""
    text = tokenizer.decode(ids[:-1] if ids and ids[-1] == tokenizer.eos_token_id else ids)
    for mark in (CALL_START, *stops):
        text = text.split(mark)[0]
        for length in range(min(len(mark) - 1, len(text)), 0, -1):
            if text.endswith(mark[:length]):
                text = text[:-length]
                break
    # White space before a call belongs to the call.
    return text.rstrip("\ufffd").rstrip("\n")


def handler_for(server: PolicyServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            if self.path == "/healthz":
                return self.reply(200, {"ok": True})
            if self.path == "/v1/models" and self.allowed():
                data = [{"id": name, "object": "model", "created": 0, "owned_by": "homeground"} for name in server.models]
                return self.reply(200, {"object": "list", "data": data})
            return None if self.path == "/v1/models" else self.fail(404, f"no such route: GET {self.path}")

        def do_POST(self) -> None:
            length = self.headers.get("content-length", "")
            told = length.isdecimal()
            if not told or int(length) > MOST_BODY:
                self.close_connection = True
                return self.fail(413 if told else 411, f"expected a body of at most {MOST_BODY} bytes with its content-length")
            text = self.rfile.read(int(length))
            path = self.path.split("?")[0]
            session = None
            if path.startswith("/s/"):
                name, _, path = path.removeprefix("/s/").partition("/")
                path = f"/{path}"
                session = server.sessions.get(name)
                if session is None:
                    return self.fail(404, "no such rollout: it has ended")
            elif not self.allowed():
                return None
            if path != "/v1/chat/completions":
                return self.fail(404, f"no such route: POST {self.path}")
            try:
                request = read_request(parse_json(text.decode("utf-8-sig")), default_model=next(iter(server.models)))
                if session is not None and request.choices != 1:
                    raise BadRequest("n: a rollout takes one choice a turn")
                jobs = server.jobs(request, session)
                if request.stream and session is None:
                    return self.stream(request, jobs)
                body = server.answer(request, jobs, session)
                return self.stream_whole(body) if request.stream else self.reply(200, body)
            except BadRequest as error:
                return self.fail(400, str(error), error.code)
            except ValueError as error:
                return self.fail(400, f"the body is not JSON: {error}")
            except BrokenPipeError:
                return None
            except RuntimeError as error:
                return self.fail(500, str(error))

        def allowed(self) -> bool:
            given = self.headers.get("authorization", "")
            if server.key is None or hmac.compare_digest(given.encode(), f"Bearer {server.key}".encode()):
                return True
            self.fail(401, "this server wants a key: authorization: Bearer KEY")
            return False

        def stream(self, request: ChatRequest, jobs: list[Job]) -> None:
            self.start_stream()
            try:
                server.stream(request, jobs, self.send_chunk)
            except RuntimeError as error:
                self.send_chunk({"error": {"message": str(error), "type": "server_error"}})
            self.end_stream()

        def stream_whole(self, body: dict) -> None:
            """A rollout's turn is streamed once it is whole: training needs it whole, and the product's own reader is exercised all the same."""
            self.start_stream()
            base = {name: body[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
            for choice in body["choices"]:
                message = choice["message"]
                calls = [{"index": index, **call} for index, call in enumerate(message.get("tool_calls") or [])]
                content = {"role": "assistant", "content": message["content"] or ""}
                self.send_chunk({**base, "choices": [delta(choice["index"], {**content, **({"tool_calls": calls} if calls else {})})]})
                self.send_chunk({**base, "choices": [delta(choice["index"], {}, choice["finish_reason"])]})
            self.send_chunk({**base, "choices": [], "usage": body["usage"]})
            self.end_stream()

        def start_stream(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream; charset=utf-8")
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True

        def send_chunk(self, chunk: dict) -> None:
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
            self.wfile.flush()

        def end_stream(self) -> None:
            self.wfile.write(b"data: [DONE]\n\n")

        def reply(self, status: int, body: dict) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def fail(self, status: int, message: str, code: str | None = None) -> None:
            kind = "invalid_request_error" if status < 500 else "server_error"
            self.reply(status, {"error": {"message": message, "type": kind, "code": code, "param": None}})

    return Handler
