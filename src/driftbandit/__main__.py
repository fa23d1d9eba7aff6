"""``python -m driftbandit``, the same as the command ``driftbandit``."""

import sys

from driftbandit.cli import main

if __name__ == "__main__":
    sys.exit(main())
