"""Single values of a recipe."""

from __future__ import annotations

import json
from typing import Any

from magnetar._native import Recipe


def settings(recipe: Recipe, *keys: str) -> list[Any]:
    """The values of keys such as ``devices.wall_margin_m``, in SI units; None where a recipe has no such key."""
    table = json.loads(recipe.to_json())
    found = []
    for key in keys:
        value: Any = table
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        found.append(value)
    return found
