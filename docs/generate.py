"""Write the pages that show commands, tools and settings, or check that they are current."""

from __future__ import annotations

import argparse
import sys
from dataclasses import MISSING, fields
from pathlib import Path

from whence.cli.arguments import parser
from whence.config import Settings
from whence.surfaces.families import FAMILIES
from whence.surfaces.tool import describe, flat

DOCS = Path(__file__).resolve().parent
HEAD = "<!-- Written by `make docs`; edit the code instead. -->\n\n"


def tools_page() -> str:
    lines = [HEAD + "# Tools\n"]
    for family in FAMILIES:
        lines.append(f"## Family `{family.name}`\n")
        for tool in family.tools:
            schema = tool.input_schema()
            lines += [
                f"### `{flat(tool.name)}`\n",
                f"{tool.described()}\n",
                "| parameter | takes | meaning |",
                "|---|---|---|",
            ]
            for name, value in schema["properties"].items():
                needed = " (required)" if name in schema.get("required", []) else ""
                default = f", default {value['default']}" if value.get("default") is not None else ""
                lines.append(
                    f"| `{name}`{needed} | {describe(value)}{default} | {value.get('description', '')} |"
                )
            replies = ", ".join(f"`{name}`" for name in tool.output_schema()["properties"])
            lines.append(f"\nGives {replies}.\n")
    return "\n".join(lines)


def commands_page() -> str:
    lines = [
        HEAD
        + "# Commands\n\nExit codes: 0 done, 1 an error in one sentence on standard error, 2 wrong usage.\n"
    ]
    whole = parser()
    (commands,) = (each for each in whole._actions if isinstance(each, argparse._SubParsersAction))  # noqa: SLF001  argparse lists them nowhere else
    for name, command in commands.choices.items():
        command.formatter_class = lambda prog: argparse.HelpFormatter(prog, width=100, max_help_position=30)
        lines.append(f"## whence {name}\n\n```\n{command.format_help().strip()}\n```\n")
    return "\n".join(lines)


def settings_page() -> str:
    lines = [
        HEAD + "# Settings\n",
        "A flag wins over the environment, which wins over `config.toml` in the home folder.\n",
        "| `config.toml` | environment | default | meaning |",
        "|---|---|---|---|",
    ]
    for each in fields(Settings):
        default = "" if each.default in (MISSING, None) else f"`{each.default}`"
        lines.append(f"| `{each.name}` | `{each.metadata['env']}` | {default} | {each.metadata['help']} |")
    return "\n".join(lines) + "\n"


PAGES = {"tools.md": tools_page, "commands.md": commands_page, "settings.md": settings_page}


def main() -> int:
    check = "--check" in sys.argv[1:]
    stale = []
    for name, page in PAGES.items():
        path = DOCS / name
        text = page()
        if check and (not path.exists() or path.read_text("utf-8") != text):
            stale.append(name)
        elif not check:
            path.write_text(text, "utf-8")
    if stale:
        print(f"docs/{', docs/'.join(stale)} is stale: run `make docs`.", file=sys.stderr)
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main())
