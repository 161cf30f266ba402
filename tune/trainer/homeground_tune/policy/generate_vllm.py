"""vLLM in the trainer's process in place of `model.generate`: the base stays in it, and each step hands it the adapter anew.

What it samples is compared with what is trained like anything else (`logprobGap`). Seen with a stand-in only: no GPU was at hand.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from vllm import LLM, SamplingParams
from vllm.lora.request import LoRARequest

from .generate import Generator, Job


class VllmGenerator(Generator):
    def __init__(
        self, tokenizer, *, base: str, folder: str, rank: int, context: int, max_batch: int, memory_share: float, dtype: str
    ) -> None:
        super().__init__(tokenizer, max_batch=max_batch)
        self.folder = Path(folder) / "policy"
        self.step = 0
        self.stale = True
        self.engine = LLM(
            model=base,
            dtype=dtype,
            max_model_len=context,
            max_num_seqs=max_batch,
            gpu_memory_utilization=memory_share,
            enable_lora=True,
            max_loras=1,
            # The least that vLLM takes is 8.
            max_lora_rank=max(8, rank),
            # After temperature, as everywhere here; vLLM's default is before.
            logprobs_mode="processed_logprobs",
        )

    def forget(self) -> None:
        self.stale = True

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def generate(self, model, jobs: list[Job]) -> None:
        outputs = self.engine.generate(
            [{"prompt_token_ids": job.prompt} for job in jobs],
            [self.sampling(job) for job in jobs],
            lora_request=self.adapter(model),
            use_tqdm=False,
        )
        for job, output in zip(jobs, outputs, strict=True):
            said = output.outputs[0]
            job.ids = list(said.token_ids)
            job.logprobs = [scored[token].logprob for token, scored in zip(job.ids, said.logprobs, strict=True)]
            job.finish = "length" if said.finish_reason == "length" else "stop"
            for token, logprob in zip(job.ids, job.logprobs, strict=True):
                if job.on_token is not None:
                    job.on_token(token, logprob)

    def sampling(self, job: Job) -> SamplingParams:
        return SamplingParams(
            max_tokens=job.max_tokens,
            temperature=job.temperature,
            top_p=job.top_p,
            seed=job.seed,
            stop=job.stop or None,
            stop_token_ids=[self.tokenizer.eos_token_id],
            # Of the sampled token alone.
            logprobs=0,
        )

    def adapter(self, model) -> LoRARequest:
        """The weights as they are now. A number of its own for each step: vLLM keeps what it has loaded under a number."""
        if self.stale:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.step += 1
            model.save_pretrained(self.folder / str(self.step))
            self.stale = False
        return LoRARequest("policy", self.step, str(self.folder / str(self.step)))
