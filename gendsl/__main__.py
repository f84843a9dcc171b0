"""`python -m gendsl`: the command line."""

import sys

from gendsl.commands.main import main

if __name__ == "__main__":
    sys.exit(main())
