"""Prints what TensorBoard reads of a folder of event files, as tests/e2e/event_lines.cpp does.

    python tensorboard_judge.py FOLDER

A line for each point of a scalar, "STEP TAG VALUE", and for each text and image, "STEP TAG text" and "STEP TAG WxH".
"""

import sys

from tensorboard.backend.event_processing import event_accumulator

reader = event_accumulator.EventAccumulator(
    sys.argv[1], size_guidance={kind: 0 for kind in ("scalars", "tensors", "images")}
)
reader.Reload()
for tag in reader.Tags()["scalars"]:
    for point in reader.Scalars(tag):
        print(point.step, tag, f"{point.value:.9g}")
for tag in reader.Tags()["tensors"]:
    plugin = reader.SummaryMetadata(tag).plugin_data.plugin_name
    for point in reader.Tensors(tag):
        values = point.tensor_proto
        if plugin == "scalars":
            print(point.step, tag, f"{values.float_val[0]:.9g}")
        else:
            print(point.step, tag, plugin)
for tag in reader.Tags()["images"]:
    for point in reader.Images(tag):
        assert point.encoded_image_string.startswith(b"\x89PNG")
        print(point.step, tag, f"{point.width}x{point.height}")
