"""Loads each FOLDER/trl-*.jsonl with datasets, and lets TRL's own trainer train a step on it: `load-with-trl.py FOLDER`. Prints rows and loss of each as JSON."""

import json
import sys
from pathlib import Path

from datasets import load_dataset
from homeground_tune.model import quiet
from homeground_tune.tiny import make_tiny
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer, KTOConfig, KTOTrainer, SFTConfig, SFTTrainer

quiet()
folder = Path(sys.argv[1])
make_tiny(str(folder / "tiny"), texts=[(folder / "texts.txt").read_text("utf-8")])
common = {"output_dir": str(folder / "out"), "max_steps": 1, "per_device_train_batch_size": 2, "report_to": "none", "use_cpu": True, "save_strategy": "no"}
recipes = {
    "trl-sft": (SFTTrainer, SFTConfig(**common, max_length=None)),
    "trl-dpo": (DPOTrainer, DPOConfig(**common, max_length=None)),
    "trl-kto": (KTOTrainer, KTOConfig(**common, max_length=None)),
}
told = {}
for name, (trainer_of, config) in recipes.items():
    rows = load_dataset("json", data_files=str(folder / f"{name}.jsonl"), split="train", cache_dir=str(folder / "cache"))
    model = AutoModelForCausalLM.from_pretrained(folder / "tiny")
    tokenizer = AutoTokenizer.from_pretrained(folder / "tiny")
    trainer = trainer_of(model=model, args=config, train_dataset=rows, processing_class=tokenizer)
    told[name] = {"rows": len(rows), "loss": trainer.train().training_loss}
print(json.dumps(told))
