#!/usr/bin/env python3
"""Writes tests/data/goldens/csv.yaml: what pandas reads from CSV and TSV texts with quotes, blanks, empty lines, a byte
order mark and the ends of lines of other systems, and which words it takes for a missing number. Needs pandas.
tests/data/csv_golden_test.cpp reads the file.
"""
import io
import json
import pathlib

import pandas as pd

FILE = pathlib.Path(__file__).resolve().parent.parent / "tests/data/goldens/csv.yaml"
TEXTS = {
    "comma": ["a,b\n1,2\n", "a,b\r\n1,2\r\n3,4", "\ufeffa,b\n1,2\n", 'a,b\n"1,5",2\n', 'a,b\n"say ""no""",2\n',
              'a,b\n"two\nlines",2\n3,4\n', 'a,b\r\n"two\r\nlines",2\r\n', "a,b\n\n1,2\n\n\n3,4\n", "a,b\n,2\n1,\n",
              'a,b\n"",2\n', 'a,b\n 1 , 2\n', '"a, or b",c\n1,2\n', "a\n1\n2\n", 'a,b\nx"y,2\n', "a,b\n1,2\n3,4\n\n",
              "ä,ß\n日本,\U0001f600\n", "a,b\n'1',2\n", "a,b\n1e3,-.5\n", "a;b,c\n1;2,3\n", 'a,b\n"""",2\n'],
    "semicolon": ["a;b\n1,5;2\n", 'a;b\n"1;5";2\n'],
    "tab": ["a\tb\n1\t2\n", "a\tb\r\n\t2\r\n", 'a\tb\n1,5\t say\n'],
}
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t"}
WORDS = ["", "NA", "N/A", "n/a", "#N/A", "nan", "NaN", "-nan", "null", "NULL", "None", "<NA>"]


def main():
    lines = ["# Written by scripts/make_csv_goldens.py with pandas", "texts:"]
    for name, texts in TEXTS.items():
        for text in texts:
            frame = pd.read_csv(io.BytesIO(text.encode()), sep=SEPARATORS[name], dtype=str, keep_default_na=False,
                                encoding="utf-8-sig")
            rows = [[str(cell) for cell in row] for row in frame.to_numpy().tolist()]
            golden = {"separator": name, "text": text, "columns": list(frame.columns), "rows": rows}
            lines.append("- " + json.dumps(golden, ensure_ascii=False).replace("\ufeff", "\\ufeff"))
    missing = [word for word in WORDS if pd.read_csv(io.StringIO(f"a,b\n{word},1\n"))["a"].isna()[0]]
    lines.append("missing: " + json.dumps(missing))
    FILE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
