"""Reads a package's traces and prime-rl settings with verifiers' own classes, and says what it found as JSON."""

import json
import sys
import tomllib
from pathlib import Path

import verifiers.v1 as vf

folder = Path(sys.argv[1])
episodes = [vf.WireEpisode.model_validate_json(line) for line in (folder / "traces.jsonl").read_text("utf-8").splitlines()]
source = tomllib.loads((folder / "prime-rl.toml").read_text("utf-8"))["orchestrator"]["train"]["source"][0]
environment = vf.load_environment(vf.SingleAgentEnvConfig.model_validate(source["env"]))
print(
    json.dumps(
        {
            "episodes": [
                {
                    "key": episode.task.key,
                    "reward": trace.reward,
                    "branches": len(trace.branches),
                    "roles": sorted({node.message.role for node in trace.nodes}),
                }
                for episode in episodes
                for trace in episode.traces
            ],
            "count": len(episodes),
            "source": {
                "taskset": environment.config.taskset.id,
                "harness": vf.default_harness_id(environment.config.taskset.id),
                "runtime": environment.config.agent.runtime.type,
            },
        }
    )
)
