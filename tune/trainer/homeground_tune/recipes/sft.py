"""Supervised fine-tuning: the model learns to write the assistant turns of the rows, and nothing else."""

from __future__ import annotations

from datasets import Dataset
from trl import SFTConfig, SFTTrainer

from ..encode import Encoded, encode_rows
from ..model import adapter_for, load_model
from ..prepared import Prepared
from .arguments import shared_arguments
from .shared_prefix import SharedPrefixCollator, attend_by_row
from .trained_positions import score_trained_positions


def build(prepared: Prepared) -> SFTTrainer:
    """Raises Refused where the rows cannot be trained on; the model is loaded only after they passed."""
    settings, tokenizer = prepared.settings, prepared.tokenizer
    train = encode(prepared, prepared.rows, "train")
    validation = encode(prepared, prepared.validation, "validation") if prepared.validation else None
    prepared.check_memory(max(len(row.input_ids) for row in train))
    model, adapter = adapter_for(load_model(prepared.folder, settings, prepared.device), settings)
    if shares_prefix(prepared):
        attend_by_row(model)
    arguments = SFTConfig(
        **shared_arguments(settings, prepared.shape, prepared.device, evaluates=validation is not None),
        # Rows come with ids and labels: exact, and nothing vanishes on the way.
        dataset_kwargs={"skip_prepare_dataset": True},
        max_length=None,
    )
    trainer = SFTTrainer(
        model=model,
        args=arguments,
        train_dataset=dataset(train),
        eval_dataset=None if validation is None else dataset(validation),
        processing_class=tokenizer,
        data_collator=SharedPrefixCollator() if shares_prefix(prepared) else None,
        peft_config=adapter,
        callbacks=[prepared.follower],
    )
    if not prepared.device.cuda:
        score_trained_positions(trainer.model)
    return trainer


def shares_prefix(prepared: Prepared) -> bool:
    """Only where it is asked for: rows that have little in common gain nothing, and a model needs torch's own attention for it."""
    optimizer = prepared.settings.optimizer
    return optimizer.per_device_batch > 1 and optimizer.share_prefix == "on"


def encode(prepared: Prepared, rows, split: str) -> list[Encoded]:
    data = prepared.settings.data
    encoding = encode_rows(rows, prepared.tokenizer, max_tokens=data.max_tokens, too_long=data.too_long)
    lengths = sorted(len(row.input_ids) for row in encoding.rows)
    trained = sum(row.trained for row in encoding.rows)
    prepared.events.emit(
        "rows",
        split=split,
        kept=len(encoding.rows),
        tooLong=len(encoding.too_long),
        cut=len(encoding.cut),
        tokens={"total": sum(lengths), "p50": lengths[len(lengths) // 2], "p95": lengths[int(len(lengths) * 0.95)], "max": lengths[-1]},
        trainedShare=round(trained / sum(lengths), 4),
    )
    if encoding.too_long:
        prepared.events.warn(
            "too-long",
            f"{len(encoding.too_long)} of {len(rows)} {split} rows are over {data.max_tokens} tokens and left out, first {encoding.too_long[0]}",
        )
    return encoding.rows


def dataset(rows: list[Encoded]) -> Dataset:
    return Dataset.from_dict({"input_ids": [row.input_ids for row in rows], "labels": [row.labels for row in rows]})
