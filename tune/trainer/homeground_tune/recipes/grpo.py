"""Group-relative policy optimisation through the product's own harness: Homeground plays the rollouts, this process is the policy that they ask."""

from __future__ import annotations

import math

from datasets import Dataset
from peft import PeftModel
from trl import GRPOConfig

from ..faults import Fault, Refused
from ..model import adapter_for, load_model
from ..policy.generate import Generator
from ..policy.server import PolicyServer
from ..prepared import Prepared
from ..read_settings import world_size
from ..rollouts.collect import Collector
from ..rollouts.curriculum import Curriculum
from ..rollouts.guards import Guards
from ..rollouts.service import RolloutService
from .arguments import shared_arguments
from .grpo_trainer import CurriculumKeeper, HarnessTrainer


def build(prepared: Prepared) -> HarnessTrainer:
    """Raises Failed where the rollout service does not answer, Refused where it plays another environment."""
    settings, tokenizer, events = prepared.settings, prepared.tokenizer, prepared.events
    rollouts = settings.rollouts
    service = RolloutService(rollouts.service)
    environment = service.environment()
    if rollouts.environment not in ("", environment.hash):
        raise Refused(
            "run-mismatch",
            [
                Fault(
                    "rollouts.environment",
                    f"the environment {rollouts.environment[:12]}",
                    f"{environment.name} {environment.hash[:12]}",
                    "name the environment that the run was started with, or another output folder",
                )
            ],
        )
    prepared.check_memory(rollouts.rollout_tokens)
    tasks = [row.value["task"] for row in prepared.rows]
    curriculum = Curriculum(tasks, seed=settings.seed, per_step=rollouts.tasks_per_step, rests=rollouts.curriculum)
    model, adapter = adapter_for(load_model(prepared.folder, settings, prepared.device), settings)
    has_adapter = adapter is not None or isinstance(model, PeftModel)
    generator = generator_for(prepared)
    server = PolicyServer(
        tokenizer,
        generator,
        models={"policy": "default" if has_adapter else None},
        context=getattr(model.config, "max_position_embeddings", rollouts.rollout_tokens),
        temperature=rollouts.temperature,
        turn_tokens=rollouts.turn_tokens,
        rollout_tokens=rollouts.rollout_tokens,
    )
    prepared.closing.append(server.close)
    guards = Guards(rollouts, events, tape_bound=environment.tape_bound, exact=not prepared.device.bf16)
    collector = Collector(settings, service, server, generator, curriculum, guards, prepared.follower, events, tokenizer)
    return HarnessTrainer(
        collector=collector,
        model=model,
        args=arguments(prepared, len(curriculum.tasks)),
        # TRL wants prompts; which tasks a step plays is the curriculum's to say.
        train_dataset=Dataset.from_list(
            [{"prompt": task} for task in curriculum.tasks * math.ceil(rollouts.tasks_per_step / len(curriculum.tasks))]
        ),
        processing_class=tokenizer,
        peft_config=adapter,
        callbacks=[CurriculumKeeper(curriculum), prepared.follower],
    )


def generator_for(prepared: Prepared) -> Generator:
    settings, rollouts = prepared.settings, prepared.settings.rollouts
    if rollouts.generation == "transformers":
        return Generator(prepared.tokenizer, max_batch=rollouts.max_batch)
    from ..policy.generate_vllm import VllmGenerator

    generator = VllmGenerator(
        prepared.tokenizer,
        base=prepared.folder,
        folder=settings.output,
        rank=settings.lora.rank,
        context=rollouts.rollout_tokens,
        max_batch=rollouts.max_batch,
        memory_share=rollouts.vllm_memory_share,
        dtype="bfloat16" if prepared.device.bf16 else "float32",
    )
    prepared.closing.append(generator.close)
    return generator


def arguments(prepared: Prepared, tasks: int) -> GRPOConfig:
    settings = prepared.settings
    rollouts, optimizer = settings.rollouts, settings.optimizer
    shared = shared_arguments(settings, prepared.shape, prepared.device, evaluates=False)
    # One step is one batch of rollouts: what is trained on was sampled from these very weights.
    shared["gradient_accumulation_steps"] = rollouts.group * rollouts.tasks_per_step // (optimizer.per_device_batch * world_size())
    shared["max_steps"] = optimizer.max_steps or math.ceil(optimizer.epochs * tasks / rollouts.tasks_per_step)
    return GRPOConfig(
        **shared,
        num_generations=rollouts.group,
        max_completion_length=rollouts.rollout_tokens,
        temperature=rollouts.temperature,
        beta=rollouts.beta,
    )
