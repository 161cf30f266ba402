"""The messages and tools of a row: JSON that was written as text is parsed, parts are joined, and what is no message, call or tool is named."""

from __future__ import annotations

import json
import re

from .faults import FaultList

EXPORT = "export the rows with `homeground dataset`"

HALF = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: str) -> object:
    """Raises ValueError. Halves of characters, as JavaScript cuts a text, become U+FFFD as in a recording: no tokenizer takes them."""
    value = json.loads(text)
    return well_formed(value) if HALF.search(text) else value


def well_formed(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [well_formed(each) for each in value]
    if isinstance(value, dict):
        return {well_formed(name): well_formed(each) for name, each in value.items()}
    return value


def normalise_tools(tools: object, place: str, faults: FaultList) -> list | None:
    """The list of tool definitions; None where the row has none."""
    if isinstance(tools, str):
        try:
            tools = parse_json(tools) if tools else None
        except ValueError as error:
            faults.add(f"{place} tools", "a list of tools, or its JSON", str(error), EXPORT)
            return None
    if tools is None or (isinstance(tools, list) and all(isinstance(tool, dict) for tool in tools)):
        return tools
    faults.add(f"{place} tools", "a list of objects", tools, EXPORT)
    return None


def normalise_message(message: object, place: str, faults: FaultList) -> object:
    if not isinstance(message, dict):
        return message
    out = dict(message)
    content = out.get("content")
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
    if content is not None and not isinstance(content, str):
        faults.add(f"{place} content", "a text, or a list of parts", content, EXPORT)
    out["content"] = content or ""
    calls = out.pop("tool_calls", None)
    if calls is None or calls == []:
        return out
    if not isinstance(calls, list) or not all(is_call(call) for call in calls):
        faults.add(f"{place} tool_calls", "a list of { function: { name, arguments } }", calls, EXPORT)
        return out
    return {**out, "tool_calls": [normalise_call(call) for call in calls]}


def is_call(call: object) -> bool:
    function = call.get("function") if isinstance(call, dict) else None
    return isinstance(function, dict) and isinstance(function.get("name"), str)


def normalise_call(call: dict) -> dict:
    function = dict(call["function"])
    if isinstance(function.get("arguments"), str):
        # A text would be encoded twice by some templates and refused by others.
        try:
            function["arguments"] = parse_json(function["arguments"])
        except ValueError:
            pass
    return {**call, "function": function}
