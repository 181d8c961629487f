#include "model/output_rows.h"

namespace trainyard {

OutputRows::OutputRows(const Compute& compute, ModelMemory& memory, const TensorView& output,
                       std::int64_t samples, int threads)
    : compute_(compute),
      memory_(memory),
      plain_{memory.plain_outputs(), memory.type(), plain_layout(shape_of(output.layout))},
      reorder_(compute.executors.make_reorder(output.layout, output.type, plain_.layout,
                                              plain_.type, threads)),
      samples_(samples),
      width_(shape_of(output.layout).elements() / memory.batch()) {
  reorder_->bind({.inputs = {output}, .outputs = {plain_}});
}

void OutputRows::store() {
  reorder_->run();
  compute_.launches.store_rows({.values = plain_.data,
                                .type = plain_.type,
                                .samples = memory_.batch(),
                                .width = width_,
                                .state = memory_.state()},
                               memory_.sample_index(), memory_.output_rows());
}

std::vector<float> OutputRows::take() {
  std::vector<float> rows(static_cast<std::size_t>(samples_ * width_));
  Queue& queue = compute_.queue;
  queue.copy_to_host(rows.data(), memory_.output_rows(), rows.size() * sizeof(float));
  queue.fill(memory_.output_rows(), std::byte{0}, rows.size() * sizeof(float));
  queue.wait();
  return rows;
}

}  // namespace trainyard
