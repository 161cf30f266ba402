"""Between OpenAI's messages and the model's text: a request becomes prompt ids, sampled ids become a message with tool calls."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from ..control_tokens import token_ids
from ..encode import CannotRender, render
from ..faults import FaultList
from ..messages import normalise_message, normalise_tools


class BadRequest(Exception):
    """Answered with 400 and this message. `code` is OpenAI's word where there is one."""

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class ChatRequest:
    model: str
    messages: list[dict]
    tools: list[dict] | None
    max_tokens: int | None
    temperature: float
    top_p: float
    seed: int | None
    stop: list[str]
    choices: int
    stream: bool
    stream_usage: bool
    logprobs: bool
    token_ids: bool


def read_request(body: object, *, default_model: str) -> ChatRequest:
    """Raises BadRequest for what cannot be done, rather than doing something else."""
    if not isinstance(body, dict) or not isinstance(body.get("messages"), list) or not body["messages"]:
        raise BadRequest("messages: expected a list of at least one message")
    if not all(isinstance(each, dict) and isinstance(each.get("role"), str) for each in body["messages"]):
        raise BadRequest("messages: expected objects with a role")
    choice = body.get("tool_choice") or "auto"
    if choice not in ("auto", "none"):
        raise BadRequest("tool_choice: this server knows auto and none; it cannot force a call")
    form = body.get("response_format") or {}
    if not isinstance(form, dict) or form.get("type", "text") != "text":
        raise BadRequest("response_format: this server answers in text only")
    stop = body.get("stop") or []
    if not isinstance(stop, (str, list)) or not all(isinstance(each, str) and each for each in stop):
        raise BadRequest("stop: expected a text or a list of texts, none of them empty")
    streamed = body.get("stream_options") or {}
    if not isinstance(streamed, dict):
        raise BadRequest("stream_options: expected an object")
    faults = FaultList()
    messages = [read_message(message, f"messages[{index}]", faults) for index, message in enumerate(body["messages"])]
    tools = normalise_tools(body.get("tools"), "request", faults)
    for fault in faults.faults:
        raise BadRequest(f"{fault.field.removeprefix('request ')}: expected {fault.expected}, found {fault.found}")
    return ChatRequest(
        model=str(body.get("model") or default_model),
        messages=messages,
        tools=None if choice == "none" else tools,
        max_tokens=number(body, "max_completion_tokens", "max_tokens", minimum=1, kind=int),
        temperature=number(body, "temperature", minimum=0, default=1.0),
        top_p=number(body, "top_p", minimum=0, default=1.0),
        seed=number(body, "seed", minimum=0, kind=int),
        stop=[stop] if isinstance(stop, str) else list(stop),
        choices=number(body, "n", minimum=1, maximum=128, default=1, kind=int),
        stream=bool(body.get("stream")),
        stream_usage=bool(streamed.get("include_usage")),
        logprobs=bool(body.get("logprobs")),
        token_ids=bool(body.get("return_token_ids") or body.get("logprobs")),
    )


def number(body: dict, *names: str, minimum: float, maximum: float = 2**63 - 1, default=None, kind: type = float):
    """What torch takes: Python's JSON knows NaN, Infinity and whole numbers of any length too."""
    for name in names:
        value = body.get(name)
        if value is None:
            continue
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not is_number or not minimum <= value <= maximum or (kind is int and value != int(value)):
            raise BadRequest(f"{name}: expected a number from {minimum} to {maximum:g}")
        return kind(value)
    return default


def read_message(message: dict, place: str, faults: FaultList) -> dict:
    """Arguments become objects where they are JSON: templates write them so."""
    out = normalise_message(message, place, faults)
    assert isinstance(out, dict)
    return {**out, "role": "system"} if out["role"] == "developer" else out


def prompt_ids(tokenizer, messages: list[dict], tools: list[dict] | None) -> list[int]:
    try:
        return token_ids(tokenizer, render(tokenizer, messages, tools, generate=True))
    except (CannotRender, ValueError) as error:
        raise BadRequest(f"messages: the model's chat template refuses them: {error}") from error


@dataclass
class Message:
    content: str
    tool_calls: list[dict] = field(default_factory=list)

    def openai(self) -> dict:
        out: dict = {"role": "assistant", "content": self.content if self.content or not self.tool_calls else None}
        if self.tool_calls:
            out["tool_calls"] = self.tool_calls
        return out


CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
CALL_START = "<tool_call>"


def read_completion(tokenizer, ids: list[int], prompt: list[int], tools: list[dict] | None, call_id) -> Message:
    """A call whose JSON is broken stays text: the product sees what the model wrote, and nothing crashes. `call_id()` gives a fresh id."""
    ended = bool(ids) and ids[-1] == tokenizer.eos_token_id
    text = tokenizer.decode(ids[:-1] if ended else ids)
    if CALL_START not in (tokenizer.chat_template or ""):
        return read_other_family(tokenizer, ids, prompt, tools, text, call_id)
    calls: list[dict] = []

    def take(match: re.Match[str]) -> str:
        call = parse_call(match.group(1), call_id)
        if call is None:
            return match.group(0)
        calls.append(call)
        return ""

    content = CALL.sub(take, text)
    return Message(content.strip("\n") if calls else content, calls)


def parse_call(text: str, call_id) -> dict | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    arguments = value.get("arguments", {})
    return {
        "id": call_id(),
        "type": "function",
        "function": {"name": value["name"], "arguments": json.dumps(arguments, ensure_ascii=False)},
    }


def read_other_family(tokenizer, ids: list[int], prompt: list[int], tools: list[dict] | None, text: str, call_id) -> Message:
    """Families that write calls otherwise are read as TRL reads them; those that TRL does not know are text."""
    from trl.chat_template_utils import add_response_schema, parse_response

    if getattr(tokenizer, "response_template", None) is None:
        try:
            add_response_schema(tokenizer)
        except ValueError:
            return Message(text)
    parsed = parse_response(tokenizer, ids, prefix=prompt, tools=tools)
    calls = [
        {
            "id": call_id(),
            "type": "function",
            "function": {"name": each["function"]["name"], "arguments": json.dumps(each["function"]["arguments"])},
        }
        for each in parsed.get("tool_calls") or []
    ]
    return Message(parsed.get("content") or "", calls)
