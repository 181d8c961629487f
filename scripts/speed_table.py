"""Medians of the lines that speed_table.sh wrote, as a Markdown table: train against the peer's
best mode."""
import collections
import json
import statistics
import sys


def main(path):
    rates = collections.defaultdict(list)
    parameters = collections.defaultdict(set)
    peers = set()
    for line in open(path):
        row = json.loads(line)
        who = row.get("peer", row.get("program"))
        if "peer" in row:
            peers.add(row["peer"])
        key = (row["net"], row["batch"], row["threads_asked"])
        rates[key, who, row.get("mode", "")].append(row["images_per_s"])
        parameters[row["net"]].add(row["parameters"])
    for net, counts in parameters.items():
        if len(counts) != 1:
            sys.exit(f"{net}: parameter counts differ: {sorted(counts)}")
    print(f"Medians, images/s; {', '.join(sorted(peers))}.\n")
    print("| network | batch | threads | rounds | train | peer (its best mode) | ratio |")
    print("|---|---|---|---|---|---|---|")
    for key in sorted({key for key, _, _ in rates}):
        medians = {(who, mode): statistics.median(values)
                   for (at, who, mode), values in rates.items() if at == key}
        ours = medians[("train", "")]
        (_, mode), theirs = max((item for item in medians.items() if item[0][0] in peers),
                                key=lambda item: item[1])
        rounds = len(rates[key, "train", ""])
        print(f"| {key[0]} | {key[1]} | {key[2]} | {rounds} | {ours:.0f} | {theirs:.0f} ({mode}) "
              f"| {ours / theirs:.2f} |")


if __name__ == "__main__":
    main(sys.argv[1])
