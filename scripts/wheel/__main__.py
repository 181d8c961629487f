"""`python -m trainyard` and the command `train`: the program takes the place of this process."""

import os
import sys

from trainyard import PROGRAM


def main():
    os.execv(PROGRAM, [str(PROGRAM), *sys.argv[1:]])


if __name__ == "__main__":
    main()
