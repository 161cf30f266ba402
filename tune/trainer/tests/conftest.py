"""One tiny model and one set of rows for all tests of a process: importing torch is what costs."""

from __future__ import annotations

import io
import json
import os
import random
from pathlib import Path

import pytest

from homeground_tune.events import Events

# The models are tiny: a second thread costs more than it computes, above all on a busy machine. Read when torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

TOOL = {
    "name": "find_order",
    "description": "Looks an order up.",
    "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}},
}
ITEMS = ["lamp", "rug", "stool", "vase"]


def conversation(number: int) -> dict:
    item = random.Random(number).choice(ITEMS)
    call = {"id": "call_1", "type": "function", "function": {"name": "find_order", "arguments": {"order_id": str(number)}}}
    return {
        "messages": [
            {"role": "system", "content": "You help."},
            {"role": "user", "content": f"Where is order {number}?"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "name": "find_order", "content": json.dumps({"item": item})},
            {"role": "assistant", "content": f"Your {item} is on its way."},
        ],
        "tools": [TOOL],
    }


@pytest.fixture(scope="session")
def tiny(tmp_path_factory) -> str:
    from homeground_tune.tiny import make_tiny

    folder = tmp_path_factory.mktemp("models") / "tiny"
    make_tiny(str(folder), texts=[json.dumps(conversation(number)) for number in range(20)], vocabulary=600)
    return str(folder)


@pytest.fixture(scope="session")
def tokenizer(tiny):
    from homeground_tune.model import load_tokenizer

    return load_tokenizer(tiny)


@pytest.fixture
def write_rows(tmp_path):
    def write(rows: list, name: str = "rows.jsonl") -> str:
        file = tmp_path / name
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
        return str(file)

    return write


@pytest.fixture
def events() -> Events:
    return Events(io.StringIO())


def told(events: Events, kind: str) -> list[dict]:
    lines = events.stdout.getvalue().splitlines()
    return [line for line in map(json.loads, lines) if line["event"] == kind]


def write_settings(folder: Path, **fields: object) -> str:
    file = folder / "settings.json"
    file.write_text(json.dumps(fields), "utf-8")
    return str(file)
