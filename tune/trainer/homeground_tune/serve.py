"""`homeground serve`: a model folder, or what `homeground tune` made, behind OpenAI's Chat Completions until the process ends."""

from __future__ import annotations

import errno
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from .events import Events
from .faults import Fault, Refused
from .model_files import AGAIN, check_adapter, check_fit, read_object, read_shape
from .read_settings import check_folder, check_template
from .settings import Settings


@dataclass(frozen=True)
class ServeOptions:
    # A model folder, an adapter folder, or the output folder of a training run.
    model: str
    name: str | None = None
    host: str = "127.0.0.1"
    port: int = 0
    chat_template: str = "own"
    # On a CPU sixteen rows or thirty-two cost little more than eight: a narrow matrix product is what is slow.
    max_batch: int = 32
    device: str = "auto"


def serve(options: ServeOptions, events: Events) -> None:
    """Tells `serving` with its URL once it answers. An adapter is served beside its base, which is called `base`."""
    base, adapter = find(options.model)
    check(options, base, adapter)
    import torch

    from .model import choose_device, load_model, load_tokenizer, local_folder, quiet
    from .policy.generate import Generator
    from .policy.server import PolicyServer
    from .settings import ModelSettings
    from .template import set_template

    quiet()
    settings = Settings(recipe="sft", model=ModelSettings(base), output="", device=options.device)
    device = choose_device(settings)
    folder = local_folder(base)
    tokenizer = load_tokenizer(adapter if adapter is not None and (Path(adapter) / "tokenizer_config.json").is_file() else folder)
    if options.chat_template != "own":
        set_template(tokenizer, options.chat_template, with_tools=False)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    model = load_model(folder, settings, device)
    context = getattr(model.config, "max_position_embeddings", 4096)
    name = options.name or name_of(options.model)
    models: dict[str, str | None] = {name: None}
    if adapter is not None:
        from peft import PeftModel

        model = PeftModel.from_pretrained(model, adapter)
        models = {name: "default", "base": None}
    model.eval()
    model.config.use_cache = True
    generator = Generator(tokenizer, max_batch=options.max_batch)
    try:
        server = PolicyServer(
            tokenizer,
            generator,
            models=models,
            context=context,
            host=options.host,
            port=options.port,
            key=os.environ.get("HOMEGROUND_SERVE_KEY") or None,
        )
    except OSError as error:
        found = "another process on it" if error.errno == errno.EADDRINUSE else str(error)
        raise Refused(
            "port-in-use", [Fault("port", f"a free port, {options.host}:{options.port}", found, "give another --port, or 0 for any")]
        ) from error
    ended: list[int] = []
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda number, _: ended.append(number))
    # Warm: the first client does not wait for lazy initialisation.
    torch.manual_seed(0)
    host = f"[{options.host}]" if ":" in options.host else options.host
    events.emit(
        "serving", url=f"http://{host}:{server.port}/v1", model=name, models=list(models), device=str(next(model.parameters()).device)
    )
    while not ended:
        generator.pump(model, wait=0.2)
    server.close()


def find(model: str) -> tuple[str, str | None]:
    """(base, adapter) of any of the three kinds of folder. Raises Refused where their files are broken."""
    folder = Path(model)
    result = folder / "result.json"
    if result.is_file():
        value = read_object(result)
        if value.get("kind") not in ("adapter", "model") or not isinstance(value.get("path"), str):
            raise Refused("invalid-input", [Fault(str(result), "kind and path of what was trained", "neither", AGAIN)])
        base, adapter = find(str(folder / value["path"]))
        # As it was named when it was trained: a hub's model is elsewhere on each machine.
        return (base if adapter is None else value.get("base", base)), adapter
    if (folder / "adapter_config.json").is_file():
        return check_adapter(model), model
    if (folder / "started.json").is_file():
        found = f"{model}, whose training has not ended"
        raise Refused("invalid-settings", [Fault("model", "a model", found, "run `homeground tune` again: it goes on, and ends it")])
    return model, None


def name_of(model: str) -> str:
    folder = Path(model).resolve()
    return folder.parent.name if folder.name in ("adapter", "model") else folder.name


def check(options: ServeOptions, base: str, adapter: str | None) -> None:
    from .faults import FaultList

    faults = FaultList()
    check_folder("model", base, "config.json", faults)
    if options.chat_template != "own":
        check_template(options.chat_template, faults)
    if options.host not in ("127.0.0.1", "localhost", "::1") and not os.environ.get("HOMEGROUND_SERVE_KEY"):
        faults.add(
            "host", "a loopback address without a key", options.host, "set HOMEGROUND_SERVE_KEY, which clients then send as their API key"
        )
    faults.raise_if_any()
    if Path(base).is_dir():
        shape = read_shape(base)
        if adapter is not None:
            check_fit(adapter, base, shape)
