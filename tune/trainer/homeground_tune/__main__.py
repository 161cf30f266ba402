"""`python -m homeground_tune COMMAND …`: what `homeground tune` and `homeground serve` start. Exit 0 done, 2 wrong settings or input, 3 it failed."""

from __future__ import annotations

import argparse
import os
import sys
import traceback

from .events import take_stdout
from .faults import Failed, Refused, is_disk_full
from .watch import end_with_parent

# A thread that waits for the others sleeps. Where it spins instead, as torch's OpenMP does by default, one busy neighbour on a small machine makes
# every matrix product wait for the scheduler: on two cores and a load of 3 a token took 4 s and not 0.7 s. Read when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def main() -> None:
    arguments = parse()
    events = take_stdout()
    end_with_parent()
    try:
        if arguments.command == "run":
            from .run import run

            run(arguments.settings, events)
        elif arguments.command == "check":
            from .read_settings import read_settings

            read_settings(arguments.settings)
            events.emit("checked")
        elif arguments.command == "serve":
            from .serve import ServeOptions, serve

            names = ("model", "name", "host", "port", "chat_template", "max_batch", "device")
            serve(ServeOptions(**{name: getattr(arguments, name) for name in names}), events)
        elif arguments.command == "model":
            if arguments.which == "tiny":
                from .tiny import make_tiny

                texts = None if arguments.texts is None else [open(arguments.texts, encoding="utf-8").read()]
                make_tiny(arguments.folder, texts=texts, spread=0.125)
            else:
                from .smollm2 import make_smollm2

                make_smollm2(arguments.folder)
            events.emit("made", path=arguments.folder)
    except (Refused, Failed) as error:
        told = error.event()
        events.emit(**told)
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except Exception as error:
        traceback.print_exc()
        text = f"{type(error).__name__}: {error}"
        if is_disk_full(error):
            text, action = "the disk is full", "free some room and run the same command"
        elif "out of memory" in text.lower():
            action = "lower optimizer.perDeviceBatch or data.maxTokens, or set optimizer.gradientCheckpointing to on"
        else:
            action = "look at the lines above, or at log.txt in the output folder"
        events.emit("failed", message=text, action=action)
        sys.exit(3)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="homeground-tune", description="Homeground's trainer; `homeground tune` is the comfortable way to it."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, words in (("run", "train as a settings file says"), ("check", "look at a settings file only")):
        command = commands.add_parser(name, help=words)
        command.add_argument("settings", help="path of a settings file (JSON)")
    serve = commands.add_parser("serve", help="serve a model over OpenAI's Chat Completions")
    serve.add_argument("model")
    serve.add_argument("--name")
    serve.add_argument("--host", default="127.0.0.1")
    serve.add_argument("--port", type=int, default=0)
    serve.add_argument("--chat-template", default="own")
    serve.add_argument("--max-batch", type=int, default=32)
    serve.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    model = commands.add_parser("model", help="make a small model to try things with")
    model.add_argument("which", choices=("smollm2", "tiny"))
    model.add_argument("folder")
    model.add_argument("--texts")
    return parser.parse_args()


if __name__ == "__main__":
    main()
