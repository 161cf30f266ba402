"""The same training as bench/train/overhead.py's other side, written as TRL's own documentation would: rows in, SFTTrainer, adapter out."""

import json
import sys

from datasets import Dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import SFTConfig, SFTTrainer
from trl.chat_template_utils import get_training_chat_template

model, rows, output, steps, batch = sys.argv[1:4] + [int(each) for each in sys.argv[4:6]]
tokenizer = AutoTokenizer.from_pretrained(model)
tokenizer.chat_template = get_training_chat_template(tokenizer) or tokenizer.chat_template
with open(rows, encoding="utf-8") as lines:
    values = [json.loads(line) for line in lines]
wrapped = [
    {**row, "tools": [tool if "function" in tool else {"type": "function", "function": tool} for tool in row.get("tools", [])]}
    for row in values
]
trainer = SFTTrainer(
    model=AutoModelForCausalLM.from_pretrained(model),
    args=SFTConfig(
        output_dir=output,
        per_device_train_batch_size=batch,
        gradient_accumulation_steps=1,
        learning_rate=1e-3,
        max_steps=steps,
        lr_scheduler_type="cosine",
        warmup_steps=0.03,
        weight_decay=0.0,
        assistant_only_loss=True,
        max_length=4096,
        gradient_checkpointing=False,
        bf16=False,
        use_cpu=True,
        seed=0,
        logging_steps=1,
        save_steps=50,
        save_total_limit=2,
        report_to="none",
        disable_tqdm=True,
    ),
    train_dataset=Dataset.from_list(wrapped, on_mixed_types="use_json"),
    processing_class=tokenizer,
    peft_config=LoraConfig(r=16, lora_alpha=32, target_modules="all-linear", task_type="CAUSAL_LM"),
)
trainer.train()
trainer.save_model(f"{output}/adapter")
losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
print(json.dumps({"first": losses[0], "last": losses[-1]}))
