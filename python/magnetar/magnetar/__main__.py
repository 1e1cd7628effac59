"""The command line: ``magnetar ...`` or ``python -m magnetar ...``."""

import signal
import sys

from magnetar import _native


def main() -> int:
    """Runs the command line and gives its exit code."""
    # Ctrl-C ends the program at once, as it ends the native one.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.run_cli(["magnetar", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
