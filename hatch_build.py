"""Makes the stubs before a wheel is built, and before an editable install."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Stubs(BuildHookInterface):  # type: ignore[type-arg]
    """Runs `tools/stubs.py`, in a process of its own: the package itself is imported there."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        script = Path(self.root) / "tools" / "stubs.py"
        subprocess.run([sys.executable, str(script)], check=True, env={**os.environ})
