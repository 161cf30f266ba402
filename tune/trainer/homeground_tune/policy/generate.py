"""Generates for whoever asks, in micro-batches, on the thread that owns the model; each request keeps its own temperature, seed, length and stops."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from transformers import GenerationConfig, LogitsProcessor, StoppingCriteria

from .prefix_cache import PrefixCache


@dataclass
class Job:
    """One completion. `done` is set when `ids` and `logprobs` are whole; `finish` is `stop` or `length`, `error` what went wrong."""

    prompt: list[int]
    max_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0
    seed: int | None = None
    stop: list[str] = field(default_factory=list)
    # Which of the model's adapters: its name, or None for the model without one.
    adapter: str | None = None
    # Called on the model's thread with each token.
    on_token: Callable[[int, float], None] | None = None
    ids: list[int] = field(default_factory=list)
    # Of what was sampled from: after temperature, before top_p. At temperature 0, of the model's own distribution.
    logprobs: list[float] = field(default_factory=list)
    finish: str = "length"
    error: str | None = None
    done: threading.Event = field(default_factory=threading.Event)


class Generator:
    def __init__(self, tokenizer, *, max_batch: int = 16) -> None:
        self.tokenizer = tokenizer
        self.max_batch = max_batch
        self.queue: queue.Queue[Job] = queue.Queue()
        self.held: list[Job] = []
        self.prefixes = PrefixCache()

    def forget(self) -> None:
        """To be called when the weights have changed: what was computed with the old ones is of no use."""
        self.prefixes.clear()

    def refuse_waiting(self, reason: str) -> None:
        """Whoever still waits gets an error: nobody generates any more."""
        while jobs := self.take(0.0):
            for job in jobs:
                job.error = reason
                job.done.set()

    def submit(self, job: Job) -> None:
        self.queue.put(job)

    def pump(self, model, *, wait: float = 0.02) -> int:
        """Takes what is waiting (jobs for one adapter at a time) and generates it; called again and again by the thread that owns the model."""
        jobs = self.take(wait)
        if jobs:
            try:
                self.generate(model, jobs)
            except Exception as error:
                for job in jobs:
                    job.error = f"{type(error).__name__}: {error}"
                if not isinstance(error, RuntimeError):
                    raise
            finally:
                for job in jobs:
                    job.done.set()
        return len(jobs)

    def generate(self, model, jobs: list[Job]) -> None:
        """Fills the jobs in; all are for one adapter."""
        with adapter_on(model, jobs[0].adapter), torch.no_grad():
            generate(model, self.tokenizer, jobs, self.prefixes)

    def take(self, wait: float) -> list[Job]:
        jobs, self.held = self.held, []
        try:
            if not jobs:
                jobs.append(self.queue.get(timeout=wait))
            # Requests of one moment arrive within milliseconds: together they cost little more than one.
            while len(jobs) < self.max_batch * 4:
                jobs.append(self.queue.get(timeout=0.005))
        except queue.Empty:
            pass
        if not jobs:
            return []
        mine = [job for job in jobs if job.adapter == jobs[0].adapter]
        batch = sorted(mine, key=lambda job: len(job.prompt))[: self.max_batch]
        self.held = [job for job in jobs if not any(job is each for each in batch)]
        return batch


class adapter_on:  # noqa: N801 - reads as a phrase in `with`
    """The model with this adapter; with none where the job wants the base. A model without adapters is left as it is."""

    def __init__(self, model, adapter: str | None) -> None:
        self.off = model.disable_adapter() if adapter is None and hasattr(model, "disable_adapter") else None
        if adapter is not None and hasattr(model, "set_adapter") and model.active_adapter != adapter:
            model.set_adapter(adapter)

    def __enter__(self) -> None:
        if self.off is not None:
            self.off.__enter__()

    def __exit__(self, *error: object) -> None:
        if self.off is not None:
            self.off.__exit__(*error)


def generate(model, tokenizer, jobs: list[Job], prefixes: PrefixCache) -> None:
    known, cache = prefixes.for_jobs(model, jobs)
    widest = max(known)
    rest = [job.prompt[length:] for length, job in zip(known, jobs, strict=True)]
    longest = max(len(each) for each in rest)
    pad = tokenizer.pad_token_id
    device = next(model.parameters()).device

    def beside(row: int, fill: list[int], padding: int, own: list[int]) -> list[int]:
        """Padding stands before what is known, and between it and what has to be computed."""
        return [padding] * (widest - known[row]) + fill + [padding] * (longest - len(rest[row])) + own

    ids = torch.tensor([beside(row, job.prompt[: known[row]], pad, rest[row]) for row, job in enumerate(jobs)], device=device)
    mask = torch.tensor([beside(row, [1] * known[row], 0, [1] * len(rest[row])) for row in range(len(jobs))], device=device)
    sampler = Sampler(jobs, tokenizer)
    # A fresh configuration: a model's own may carry penalties, which would make the log-probabilities those of something else.
    config = GenerationConfig(do_sample=False, pad_token_id=pad, max_new_tokens=max(job.max_tokens for job in jobs), use_cache=True)
    past = {} if cache is None else {"past_key_values": cache}
    model.generate(
        input_ids=ids,
        attention_mask=mask,
        generation_config=config,
        logits_processor=[sampler],
        stopping_criteria=[Stopper(sampler)],
        **past,
    )
    if cache is not None:
        prefixes.learn(jobs, cache, mask)


class Sampler(LogitsProcessor):
    """Chooses each row's token itself and leaves the caller only that one to take."""

    def __init__(self, jobs: list[Job], tokenizer) -> None:
        self.jobs = jobs
        self.tokenizer = tokenizer
        self.finished = [False] * len(jobs)
        self.random = [None if job.seed is None else torch.Generator().manual_seed(job.seed) for job in jobs]

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        warm = torch.tensor([job.temperature or 1.0 for job in self.jobs], device=scores.device)
        logprobs = (scores.float() / warm[:, None]).log_softmax(-1)
        chosen = torch.full_like(scores, float("-inf"))
        for row, job in enumerate(self.jobs):
            token = self.tokenizer.pad_token_id if self.finished[row] else self.choose(row, job, logprobs[row])
            chosen[row, token] = 0
        return chosen

    def choose(self, row: int, job: Job, logprobs: torch.Tensor) -> int:
        if job.temperature == 0:
            token = int(logprobs.argmax())
        else:
            probabilities = nucleus(logprobs.exp(), job.top_p).cpu()
            token = int(torch.multinomial(probabilities, 1, generator=self.random[row]))
        job.ids.append(token)
        job.logprobs.append(float(logprobs[token]))
        if job.on_token is not None:
            job.on_token(token, job.logprobs[-1])
        if token == self.tokenizer.eos_token_id or (job.stop and any(stop in self.tokenizer.decode(job.ids) for stop in job.stop)):
            job.finish = "stop"
            self.finished[row] = True
        elif len(job.ids) >= job.max_tokens:
            self.finished[row] = True
        return token


class Stopper(StoppingCriteria):
    def __init__(self, sampler: Sampler) -> None:
        self.sampler = sampler

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor, **_: object) -> torch.Tensor:
        return torch.tensor(self.sampler.finished, device=input_ids.device)


def nucleus(probabilities: torch.Tensor, top_p: float) -> torch.Tensor:
    """The likeliest tokens that together hold `top_p`, the likeliest always among them; the rest at 0."""
    if top_p >= 1:
        return probabilities
    ordered, places = probabilities.sort(descending=True)
    outside = ordered.cumsum(0) - ordered >= top_p
    outside[0] = False
    return probabilities.index_fill(0, places[outside], 0.0)
