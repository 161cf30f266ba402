"""Stands in for vLLM where no GPU is: the same words, answered by the folders that it is given and by nothing else."""

from __future__ import annotations

import random
from dataclasses import dataclass
from types import SimpleNamespace

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

# Adapters in the order in which they were asked for.
served: list[tuple[int, str]] = []


@dataclass
class SamplingParams:
    max_tokens: int
    temperature: float
    top_p: float
    seed: int | None
    stop: list[str] | None
    stop_token_ids: list[int]
    logprobs: int


class LLM:
    def __init__(self, *, model: str, enable_lora: bool, max_lora_rank: int, logprobs_mode: str, **options: object) -> None:
        assert enable_lora and max_lora_rank >= 8 and logprobs_mode == "processed_logprobs"
        self.base = model
        self.loaded: dict[int, torch.nn.Module] = {}

    def generate(self, prompts: list[dict], params: list[SamplingParams], *, lora_request, use_tqdm: bool) -> list:
        number, path = lora_request.lora_int_id, lora_request.lora_path
        if number not in self.loaded:
            served.append((number, path))
            self.loaded[number] = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(self.base), path).eval()
        return [self.one(self.loaded[number], each["prompt_token_ids"], how) for each, how in zip(prompts, params, strict=True)]

    def one(self, model, prompt: list[int], how: SamplingParams) -> SimpleNamespace:
        dice = random.Random(how.seed)
        ids: list[int] = []
        scored: list[dict] = []
        while len(ids) < how.max_tokens and not (ids and ids[-1] in how.stop_token_ids):
            with torch.no_grad():
                logprobs = (model(torch.tensor([prompt + ids])).logits[0, -1] / how.temperature).log_softmax(-1)
            token = dice.choices(range(len(logprobs)), logprobs.exp().tolist())[0]
            ids.append(token)
            scored.append({token: SimpleNamespace(logprob=float(logprobs[token]))})
        stopped = bool(ids) and ids[-1] in how.stop_token_ids
        out = SimpleNamespace(token_ids=ids, logprobs=scored, finish_reason="stop" if stopped else "length")
        return SimpleNamespace(outputs=[out])
