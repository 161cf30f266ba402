"""`python -m homeground_tune COMMAND …`: what `homeground tune` and `homeground serve` start. Exit 0 done, 2 wrong settings or input, 3 it failed."""

from __future__ import annotations

import argparse
import sys
import traceback

from .events import take_stdout
from .faults import Failed, Refused
from .watch import end_with_parent


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
    except (Refused, Failed) as error:
        told = error.event()
        events.emit(**told)
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except Exception as error:
        traceback.print_exc()
        text = f"{type(error).__name__}: {error}"
        if "out of memory" in text.lower():
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
    return parser.parse_args()


if __name__ == "__main__":
    main()
