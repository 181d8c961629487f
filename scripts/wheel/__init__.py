"""Trainyard: a native program, `train`, that turns a network and a run in YAML into a trained model.

The program is in this package's folder, and needs no Python. It finds NVIDIA's libraries in the folder `nvidia` beside
this package, where their wheels install them.
"""

from pathlib import Path

PROGRAM = Path(__file__).parent / "bin" / "train"
