"""``python -m memplan``: the command line."""

import signal
import sys

from . import _native


def main() -> int:
    # Python's handler only sets a flag that nobody looks at while Rust runs.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.main(["memplan", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
