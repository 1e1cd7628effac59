"""magnetar: a native digital twin of indoor radio.

Metres, radians, seconds and Hertz throughout; the global frame has z up, headings run counter-clockwise from +x in
[-pi, pi). Work runs on threads of its own with Python's lock released; Ctrl-C stops it.

>>> import magnetar
>>> rows = magnetar.Recipe("paper").sample("train", start=0, count=4, seed=7)
>>> rows.numpy("csi").shape
(4, 512, 2)
"""

from importlib.metadata import version as _version

from magnetar import errors
from magnetar._native import (
    Dataset,
    Figure,
    Material,
    Metrics,
    Pattern,
    Recipe,
    Rows,
    Scene,
    Scorer,
    Support,
    materials,
    set_threads,
    threads,
)
from magnetar.errors import (
    DatasetError,
    InputError,
    MagnetarError,
    PosteriorError,
    RecipeError,
    SceneError,
    SignalError,
    TraceError,
)
from magnetar.inference import (
    Features,
    Fused,
    Posterior,
    evaluate,
    evaluate_network,
    features,
    fuse,
    posterior,
)
from magnetar.links import Components, Paths, estimate, observe, trace

__version__ = _version("magnetar")

__all__ = [
    "Components",
    "Dataset",
    "DatasetError",
    "Features",
    "Figure",
    "Fused",
    "InputError",
    "MagnetarError",
    "Material",
    "Metrics",
    "Paths",
    "Pattern",
    "Posterior",
    "PosteriorError",
    "Recipe",
    "RecipeError",
    "Rows",
    "Scene",
    "SceneError",
    "Scorer",
    "SignalError",
    "Support",
    "TraceError",
    "errors",
    "estimate",
    "evaluate",
    "evaluate_network",
    "features",
    "fuse",
    "materials",
    "observe",
    "posterior",
    "set_threads",
    "threads",
    "trace",
]
