"""What can go wrong, by kind. Texts are those of the command line."""


class MagnetarError(Exception):
    """Anything that magnetar refuses or fails at."""


class InputError(MagnetarError, ValueError):
    """An argument of the wrong shape, type or value."""


class SceneError(MagnetarError, ValueError):
    """A scene, a material or an antenna pattern that cannot be used."""


class RecipeError(MagnetarError, ValueError):
    """A recipe that cannot be used."""


class TraceError(MagnetarError, ValueError):
    """A link that cannot be traced."""


class SignalError(MagnetarError, ValueError):
    """A radio that cannot be, or observations that cannot be estimated."""


class DatasetError(MagnetarError):
    """A dataset that cannot be read."""


class PosteriorError(MagnetarError, ValueError):
    """A scorer, a support or a posterior that cannot be used."""
