"""What a run says while it works: one JSON object a line, to metrics.jsonl in the output folder and to stdout, where the command line reads it."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from pathlib import Path
from typing import TextIO


class Events:
    """Only the main process of a run speaks. All other printing goes to stderr, so that stdout stays one object a line."""

    def __init__(self, stdout: TextIO) -> None:
        self.stdout = stdout
        self.file: TextIO | None = None
        self.speaks = int(os.environ.get("RANK", "0")) == 0
        self.last_at = time.monotonic()

    def open(self, output: str) -> None:
        if self.speaks:
            Path(output).mkdir(parents=True, exist_ok=True)
            self.file = open(Path(output) / "metrics.jsonl", "a", encoding="utf-8")  # noqa: SIM115 - lives as long as the run

    def close(self) -> None:
        """What is told from here on goes to stdout alone."""
        if self.file is not None:
            self.file.close()
            self.file = None

    def emit(self, event: str, **fields: object) -> None:
        self.last_at = time.monotonic()
        if not self.speaks:
            return
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        line = json.dumps({"event": event, "at": at, **{name: clean(value) for name, value in fields.items()}}, ensure_ascii=False)
        print(line, file=self.stdout, flush=True)
        if self.file is None:
            return
        try:
            self.file.write(line + "\n")
            self.file.flush()
        except OSError as error:
            # A full disk: what is said about it must still be heard.
            self.file = None
            self.warn("metrics-unwritable", f"metrics.jsonl takes no more lines: {error}")

    def warn(self, code: str, message: str) -> None:
        self.emit("warning", code=code, message=message)


def take_stdout() -> Events:
    """Stdout for events alone: what libraries print goes to stderr from here on."""
    mine = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return Events(mine)


def clean(value: object) -> object:
    """JSON knows no NaN and no infinity: they become null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: clean(each) for name, each in value.items()}
    if isinstance(value, list):
        return [clean(each) for each in value]
    return value
