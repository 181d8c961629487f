#!/usr/bin/env python3
"""Judges YAML files by the program's JSON Schema with libraries that are not ours.

    peer_schema.py SCHEMA.json FILE.yaml...

prints a line for each error, "FILE: PATH: MESSAGE", and ends with 1 if there are any. Requires jsonschema
(validation, draft 7) and ruamel.yaml (YAML 1.2):

    python3 -m venv peers && peers/bin/pip install jsonschema ruamel.yaml
"""

import json
import sys

from jsonschema import Draft7Validator
from ruamel.yaml import YAML


def errors_of(validator, path):
    with open(path, encoding="utf-8") as file:
        tree = YAML(typ="safe", pure=True).load(file)
    for error in validator.iter_errors(tree):
        # An error below several alternatives is told by the one that came furthest.
        while error.context:
            error = max(error.context, key=lambda each: len(each.absolute_path))
        place = ".".join(str(key) for key in error.absolute_path) or "(top)"
        yield f"{path}: {place}: {error.message[:200]}"


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    Draft7Validator.check_schema(schema)
    validator = Draft7Validator(schema)
    errors = [error for path in sys.argv[2:] for error in errors_of(validator, path)]
    for error in errors:
        print(error)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
