"""The client of Homeground's rollout service, which plays the product's harness. It is not believed blindly: what cannot be true ends the run.

`GET /environment` says what is played; `POST /rollouts` answers with one JSON line for each rollout as it ends, in any order.
"""

from __future__ import annotations

import http.client
import json
import queue
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..faults import Failed

ANSWERS_WITHIN_SECONDS = 10
# Of an answer; a longer one is no JSON in its first part.
MOST_LINE = 2**22
# The service is on this machine: a proxy that the environment names would be asked for its own.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@dataclass(frozen=True)
class Environment:
    name: str
    hash: str
    # Some tool answers from recordings only: what was never recorded cannot be learned.
    tape_bound: bool


@dataclass(frozen=True)
class Asked:
    """One rollout. `id` names it to the policy server too."""

    id: str
    task: str
    repeat: int


@dataclass(frozen=True)
class Outcome:
    """How a rollout ended. No score is None, never 0."""

    id: str
    score: float | None
    stop: str
    off_tape: int = 0
    error: str | None = None
    criteria: dict[str, float | None] = field(default_factory=dict)


class RolloutService:
    """`url` carries the key in its path; only loopback is expected."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    def environment(self) -> Environment:
        """Raises Failed where nobody answers, or somebody else."""
        try:
            with DIRECT.open(f"{self.url}/environment", timeout=ANSWERS_WITHIN_SECONDS) as answer:
                value = json.loads(answer.read(MOST_LINE))
            return Environment(str(value["name"]), str(value["hash"]), bool(value["tapeBound"]))
        except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError) as error:
            raise Failed(f"the rollout service does not answer: {said(error)}", START) from error

    def play(self, rollouts: list[Asked], *, policy: str, step: int) -> Playing:
        """Starts; the answers are taken with `Playing.taken`. `policy` is the URL that a rollout's id is put into for `{id}`."""
        body = {
            "format": 1,
            "policy": policy,
            "step": step,
            "rollouts": [{"id": each.id, "task": each.task, "repeat": each.repeat} for each in rollouts],
        }
        return Playing(f"{self.url}/rollouts", body, rollouts)


START = "start it through `homeground tune grpo --environment ENV`"


class Playing:
    """A batch under way. The service is read on a thread of its own, since the caller's thread generates."""

    def __init__(self, url: str, body: dict, rollouts: list[Asked]) -> None:
        self.open = {each.id: each for each in rollouts}
        self.lines: queue.Queue[str | Exception | None] = queue.Queue()
        threading.Thread(target=self.read, args=(url, body), daemon=True).start()

    def read(self, url: str, body: dict) -> None:
        request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
        try:
            # How long it may be silent is for the caller to say: it knows whether the policy is being asked.
            with DIRECT.open(request) as answer:
                while line := answer.readline(MOST_LINE):
                    self.lines.put(line.decode(errors="replace"))
            self.lines.put(None)
        except Exception as error:
            self.lines.put(error)

    def taken(self) -> Iterator[Outcome]:
        """What has come so far. Raises Failed when the service broke off or lied."""
        while True:
            try:
                line = self.lines.get_nowait()
            except queue.Empty:
                return
            if isinstance(line, Exception):
                raise Failed(f"the rollout service broke off: {said(line)}", START) from line
            if line is None:
                if self.open:
                    raise Failed(f"the rollout service ended its answer without {len(self.open)} of the rollouts", LOOK)
                return
            outcome = read_outcome(line)
            if self.open.pop(outcome.id, None) is None:
                raise lie(f"a rollout that was not asked for, or twice: {outcome.id[:80]}")
            yield outcome


LOOK = "look at log.txt in the output folder, and at the versions of homeground and homeground-tune"


def read_outcome(line: str) -> Outcome:
    """Raises Failed for what cannot be true."""
    try:
        value = json.loads(line)
        if value.get("failed"):
            raise Failed(f"the rollout service cannot go on: {value['failed']}", str(value.get("hint") or LOOK))
        error = value.get("error")
        outcome = Outcome(
            id=str(value["id"]),
            score=number(value["score"]),
            stop=str(value["stop"]),
            off_tape=int(value["offTape"]),
            error=None if error is None else f"{error['type']}: {error['message']}",
            criteria={str(name): number(each) for name, each in value["criteria"].items()},
        )
    except Failed:
        raise
    except Exception as error:  # whatever shape it has
        raise lie(f"{line[:200]!r} ({said(error)})") from error
    # A score beside an error would be a score of something that did not happen.
    return outcome if outcome.error is None else Outcome(**{**outcome.__dict__, "score": None})


def number(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise ValueError(f"{value} is no score between 0 and 1")
    return float(value)


def lie(what: str) -> Failed:
    return Failed(f"the rollout service answered with what cannot be: {what}", LOOK)


def said(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"{error.code} {error.read(300).decode(errors='replace')}".strip()
    return f"{type(error).__name__}: {error}"
