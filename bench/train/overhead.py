"""What our trainer costs over bare TRL: the same rows and settings, user CPU seconds of the whole process, best of three runs that alternate. Bar: 1.05.

`npm run bench:train`, or `python bench/train/overhead.py [--model FOLDER] [--rows ROWS.jsonl] [--steps 60] [--runs 3]` with the trainer's Python. By
default the tiny model on 40 made conversations, so that what is not training weighs most. Last line: JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model")
    parser.add_argument("--rows")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="homeground-bench-overhead-"))
    options.rows = options.rows or made_rows(work / "rows.jsonl")
    options.model = options.model or made_model(work / "tiny", options.rows)
    ours: list[float] = []
    bare: list[float] = []
    losses: dict[str, dict] = {}
    for _ in range(options.runs):
        ours.append(measure(command_of_ours(options, work)))
        losses["ours"] = json.loads((work / "ours" / "result.json").read_text("utf-8"))["loss"]
        shutil.rmtree(work / "ours")
        arguments = [options.model, options.rows, str(work / "bare"), str(options.steps), str(options.batch)]
        bare.append(measure([sys.executable, str(HERE / "bare_trl.py"), *arguments], out=work / "bare.json"))
        losses["bare"] = json.loads((work / "bare.json").read_text("utf-8").strip().splitlines()[-1])
        shutil.rmtree(work / "bare")
    shutil.rmtree(work)
    ratio = min(ours) / min(bare)
    print(
        json.dumps(
            {
                "bench": "train/overhead",
                "steps": options.steps,
                "oursSeconds": [round(each, 1) for each in ours],
                "bareSeconds": [round(each, 1) for each in bare],
                "ratio": round(ratio, 3),
                "losses": losses,
                "passed": ratio <= 1.05,
            }
        )
    )
    sys.exit(0 if ratio <= 1.05 else 1)


def made_rows(file: Path) -> str:
    tool = {
        "name": "find_order",
        "description": "Finds an order",
        "parameters": {"type": "object", "properties": {"id": {"type": "string"}}},
    }
    rows = []
    for number in range(40):
        call = {"id": "c1", "type": "function", "function": {"name": "find_order", "arguments": {"id": f"O-{number}"}}}
        told = " ".join(f"item {each} of order {number}" for each in range(20))
        messages = [
            {"role": "system", "content": "You answer the customers of a shop. Look the order up before you answer."},
            {"role": "user", "content": f"Where is my order O-{number}?"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": told, "tool_call_id": "c1", "name": "find_order"},
            {"role": "assistant", "content": f"Order O-{number} holds {told}."},
        ]
        rows.append(json.dumps({"messages": messages, "tools": [tool]}))
    file.write_text("\n".join(rows) + "\n", "utf-8")
    return str(file)


def made_model(folder: Path, rows: str) -> str:
    measure([sys.executable, "-m", "homeground_tune", "model", "tiny", str(folder), "--texts", rows])
    return str(folder)


def command_of_ours(options: argparse.Namespace, work: Path) -> list[str]:
    settings = {
        "recipe": "sft",
        "model": {"base": options.model},
        "data": {"train": [options.rows], "maxTokens": 4096},
        "output": str(work / "ours"),
        "optimizer": {
            "learningRate": 1e-3,
            "batchSize": options.batch,
            "perDeviceBatch": options.batch,
            "maxSteps": options.steps,
            "gradientCheckpointing": "off",
        },
        "checkpoints": {"everySteps": 50},
        "device": "cpu",
    }
    file = work / "settings.json"
    file.write_text(json.dumps(settings), "utf-8")
    return [sys.executable, "-m", "homeground_tune", "run", str(file)]


def measure(command: list[str], out: Path | None = None) -> float:
    """User CPU seconds of the command and its children."""
    trainer = HERE.parent.parent / "tune" / "trainer"
    # Threads that spin while they wait would count as work: the trainer lets them sleep, and bare TRL is given the same.
    same = {"TOKENIZERS_PARALLELISM": "false", "OMP_WAIT_POLICY": "PASSIVE"}
    environment = {**os.environ, **same, "PYTHONPATH": str(trainer)}
    with open(out or os.devnull, "w", encoding="utf-8") as stdout:
        process = subprocess.Popen(command, stdout=stdout, stderr=subprocess.DEVNULL, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{' '.join(command[:4])} ended with {status}")
    return usage.ru_utime


if __name__ == "__main__":
    main()
