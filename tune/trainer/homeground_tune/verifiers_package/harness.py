"""Plays one task with `homeground run`: the product's own code, its tools from tape, its model calls at the endpoint that verifiers gives."""

from __future__ import annotations

import json
from pathlib import Path

import verifiers.v1 as vf

FOLDER = "homeground-rollout"
KEY = "HOMEGROUND_POLICY_KEY"


class HomegroundHarnessConfig(vf.HarnessConfig):
    environment: str = ""
    """The environment's folder; empty: where it was when this package was written."""
    command: list[str] = []
    """What starts Homeground, e.g. ["npx", "homeground"]; empty: the one that wrote this package."""
    allow_live: list[str] = []
    """Tools with side effects that may run, where the environment says live too."""


class HomegroundHarness(vf.Harness[HomegroundHarnessConfig]):
    NEEDS_CONTAINER = False
    EXECUTES_CODE = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        written = json.loads(Path(__file__).with_name("environment.json").read_text("utf-8"))
        command = [*(self.config.command or written["command"]), "--json", "run", self.config.environment or written["folder"]]
        # Each rollout its own seed: tasks are played more than once, and not alike.
        given = ["--task", str(data.id), "--seed", str(int(trace.id[:7], 16)), "--concurrency", "1", "--out", FOLDER]
        policy = ["--arm", f"policy={ctx.model}", "--url", endpoint, "--api", "openai.chat", "--api-key-env", KEY]
        live = ["--allow-live", *self.config.allow_live] if self.config.allow_live else []
        result = await runtime.run([*command, *given, *policy, *live], {**self.config.resolved_env, KEY: secret})
        if result.exit_code == 0:
            rollout = json.loads((await runtime.read(f"{FOLDER}/rollouts.jsonl")).splitlines()[0])
            names = ("score", "scores", "offTape", "stop", "error")
            trace.info["homeground"] = {name: rollout[name] for name in names if name in rollout}
        return result
