"""Settings: a flag wins over the environment, which wins over the TOML file, which wins over the default."""

import json
import os
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from whence.core.errors import InvalidParameter


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the user chose."""

    home: Path = field(metadata={"env": "WHENCE_HOME", "help": "Where models, settings and the store live."})
    store: str = field(metadata={"env": "WHENCE_STORE", "help": "The store's URL, such as sqlite:///PATH."})
    workspace: str | None = field(
        default=None, metadata={"env": "WHENCE_WORKSPACE", "help": "The workspace of calls that name none."}
    )
    tools: str = field(
        default="intents", metadata={"env": "WHENCE_TOOLS", "help": "The tool families that are listed."}
    )
    tool_names: str = field(
        default="flat", metadata={"env": "WHENCE_TOOL_NAMES", "help": "How names are listed: flat or slash."}
    )
    offline: bool = field(
        default=False, metadata={"env": "WHENCE_OFFLINE", "help": "Never fetch the English model by itself."}
    )
    auto_links: bool = field(
        default=True,
        metadata={"env": "WHENCE_AUTO_LINKS", "help": "Link new memories to near and recent ones."},
    )
    decision_hook: tuple[str, ...] = field(
        default=(),
        metadata={
            "env": "WHENCE_DECISION_HOOK",
            "help": "A command, as a JSON list, that gets each new decision as JSON on standard input.",
        },
    )
    idle_seconds: float = field(
        default=300.0,
        metadata={"env": "WHENCE_IDLE_SECONDS", "help": "After how long an idle server unloads its models."},
    )


def default_home() -> Path:
    """Return the platform's folder for this user's data."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "whence"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "whence"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "whence"


def _from_file(path: Path) -> dict[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InvalidParameter(
            f"{path} cannot be read: {error.strerror}", hint="Make it a readable file, or remove it."
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidParameter(
            f"{path} is no valid TOML: {error}", hint="Mend or remove that file."
        ) from None


def _text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    raise InvalidParameter(f"The setting {name} must be text", hint="Write it in quotes.")


def _switch(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in {"1", "true", "yes", "on"}:
        return True
    if isinstance(value, str) and value.lower() in {"", "0", "false", "no", "off"}:
        return False
    raise InvalidParameter(f"The setting {name} must be true or false", hint="Use 1 or 0.")


def _number(name: str, value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]  # a wrong type is the error told below
    except (TypeError, ValueError):
        raise InvalidParameter(f"The setting {name} must be a number", hint="Give it in seconds.") from None


def _command(name: str, value: object) -> tuple[str, ...]:
    """Read a command as a list of texts: it is run as it stands, without a shell."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = None
    if isinstance(value, list | tuple) and all(isinstance(each, str) and each for each in value):
        return tuple(value)
    raise InvalidParameter(
        f"The setting {name} must be a list of texts", hint='Such as ["/usr/local/bin/note", "--json"].'
    )


def load_settings(
    environment: Mapping[str, str], *, store: str | None = None, workspace: str | None = None
) -> Settings:
    """Return the settings of this run."""
    home = Path(environment.get("WHENCE_HOME") or default_home()).expanduser().absolute()
    chosen = _from_file(home / "config.toml")
    names = {"store", "workspace", "tools", "tool_names", "offline", "idle_seconds"}
    names |= {"auto_links", "decision_hook"}
    unknown = sorted(set(chosen) - names)
    if unknown:
        raise InvalidParameter(
            f"{home / 'config.toml'} has an unknown setting: {unknown[0]}",
            hint=f"Known are {', '.join(sorted(names))}.",
        )
    for name in names:
        if environment.get(f"WHENCE_{name.upper()}"):
            chosen[name] = environment[f"WHENCE_{name.upper()}"]
    where = store or _text("store", chosen.get("store", f"sqlite:///{home / 'whence.db'}"))
    place = workspace or chosen.get("workspace")
    settings = Settings(
        home=home,
        store=where,
        workspace=None if place is None else _text("workspace", place),
        tools=_text("tools", chosen.get("tools", "intents")),
        tool_names=_text("tool_names", chosen.get("tool_names", "flat")),
        offline=_switch("offline", chosen.get("offline", False)),
        auto_links=_switch("auto_links", chosen.get("auto_links", True)),
        decision_hook=_command("decision_hook", chosen.get("decision_hook", ())),
        idle_seconds=_number("idle_seconds", chosen.get("idle_seconds", 300.0)),
    )
    if settings.tool_names not in {"flat", "slash"}:
        raise InvalidParameter(
            f'tool_names is "{settings.tool_names}"',
            hint="It is flat (save_decision) or slash (save/decision).",
        )
    return settings
