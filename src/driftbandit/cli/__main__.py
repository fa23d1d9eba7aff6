"""``python -m driftbandit.cli``, where the script is not installed."""

import sys

from driftbandit.cli import main

if __name__ == "__main__":
    sys.exit(main())
