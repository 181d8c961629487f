"""Medians of the lines that speed_table.sh wrote, as a Markdown table: train against the best mode of
the best peer, in each precision, and in bf16 also against the best in fp32."""
import collections
import json
import statistics
import sys


def precision_of(row):
    if "peer" not in row:
        return row.get("precision", "fp32")
    return "bf16" if "bf16" in row["mode"] else "fp32"


def read_rates(path):
    """Of {(net, batch, threads): {(precision, peer or "train", mode): rates}}."""
    rates = collections.defaultdict(lambda: collections.defaultdict(list))
    parameters = collections.defaultdict(set)
    for line in open(path):
        row = json.loads(line)
        who = row.get("peer", "train")
        key = (row["net"], row["batch"], row["threads_asked"])
        rates[key][precision_of(row), who, row.get("mode", "")].append(row["images_per_s"])
        parameters[row["net"]].add(row["parameters"])
    for net, counts in parameters.items():
        if len(counts) != 1:
            sys.exit(f"{net}: parameter counts differ: {sorted(counts)}")
    return rates


def best_peer(medians, precision):
    peers = [(rate, who, mode) for (of, who, mode), rate in medians.items()
             if of == precision and who != "train"]
    return max(peers) if peers else None


def main(path):
    print("Medians, images/s.\n")
    print("| network | batch | threads | precision | rounds | train | best peer | ratio | to its fp32 |")
    print("|---|---|---|---|---|---|---|---|---|")
    for key, rows in sorted(read_rates(path).items()):
        medians = {of: statistics.median(values) for of, values in rows.items()}
        for precision in sorted({of[0] for of in medians if of[1] == "train"}, reverse=True):
            ours = medians[precision, "train", ""]
            peer, plain = best_peer(medians, precision), best_peer(medians, "fp32")
            shown = f"{peer[0]:.0f} ({peer[1]}, {peer[2]}) | {ours / peer[0]:.2f}" if peer else "- | -"
            rounds = len(rows[precision, "train", ""])
            print(f"| {key[0]} | {key[1]} | {key[2]} | {precision} | {rounds} | {ours:.0f} | {shown} "
                  f"| {ours / plain[0]:.2f} |")


if __name__ == "__main__":
    main(sys.argv[1])
