#include "mirrored.h"

#include <map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "compute/weight_packing.h"
#include "launcher/columns.h"

namespace trainyard::op_tests {
namespace {

/// Packed weights or gradients of a step, in the device's memory.
class PackedTensors {
 public:
  PackedTensors(Device& device, const std::vector<PackedParameter>& packed, DType storage)
      : packed_(packed), storage_(storage) {
    for (const PackedParameter& parameter : packed_) {
      const auto elements = static_cast<std::size_t>(parameter.shape.packed_elements());
      memory_.push_back(device.allocate(elements * size_of(storage)));
      shapes_.push_back(parameter.shape);
    }
  }
  [[nodiscard]] bool empty() const { return packed_.empty(); }
  [[nodiscard]] const std::vector<WeightShape>& shapes() const { return shapes_; }
  /// Puts the packed tensors into the list of a step, and lists both.
  void take_places(std::vector<TensorView>& list, std::vector<TensorView>& plain,
                   std::vector<TensorView>& packed) const {
    for (std::size_t i = 0; i < packed_.size(); ++i) {
      TensorView& place = list[packed_[i].index];
      const TensorView view{.data = memory_[i]->data(), .type = storage_, .layout = {}};
      plain.push_back(place);
      packed.push_back(view);
      if (!packed_[i].keeps_plain) place = view;
    }
    for (std::size_t i = 0; i < packed_.size(); ++i) {
      if (packed_[i].keeps_plain) list.push_back(packed[i]);
    }
  }

 private:
  std::vector<PackedParameter> packed_;
  DType storage_;
  std::vector<WeightShape> shapes_;
  std::vector<std::unique_ptr<DeviceBuffer>> memory_;
};

class MirroredExecutor final : public Executor {
 public:
  MirroredExecutor(const ExecutorFactory& executors, const StepDescription& step, Device& device,
                   Queue& queue)
      : executor_(executors.make(step)),
        device_(device),
        queue_(queue),
        read_(device, packed_by(executors, packed_parameters(step)), step.storage),
        written_(device, packed_by(executors, packed_gradients(step)), step.storage),
        finished_(device.allocate(kColumnGroups * sizeof(std::uint32_t))) {
    queue.fill(finished_->data(), std::byte{0}, finished_->bytes());
    TY_CHECK(executor_ != nullptr, step.op->type());
    const WeightPacking* const packing = weight_packing_of(executors);
    if (!read_.empty()) pack_ = packing->make_pack(read_.shapes(), step.storage);
    if (!written_.empty()) unpack_ = packing->make_unpack(written_.shapes(), step.storage);
  }
  [[nodiscard]] std::size_t workspace_bytes() const override {
    return executor_->workspace_bytes();
  }
  [[nodiscard]] std::size_t reserve_bytes() const override { return executor_->reserve_bytes(); }

  void bind(const StepTensors& tensors) override {
    StepTensors there = tensors;
    for (auto* list :
         {&there.inputs, &there.outputs, &there.output_gradients, &there.input_gradients,
          &there.parameters, &there.parameter_gradients, &there.running, &there.batch_statistics}) {
      for (TensorView& view : *list) {
        const auto elements = static_cast<std::size_t>(span_elements(view.layout));
        view.data = mirrored(view.data, elements * size_of(view.type));
      }
    }
    there.reserve = mirrored(tensors.reserve, reserve_bytes());
    there.workspace = mirrored(tensors.workspace, workspace_bytes());
    const auto batch = static_cast<std::size_t>(first_of(tensors).layout.extent[0]);
    there.batch.state = static_cast<const StepState*>(
        mirrored(const_cast<StepState*>(tensors.batch.state), sizeof(StepState)));
    there.batch.sample_index = static_cast<const std::int64_t*>(mirrored(
        const_cast<std::int64_t*>(tensors.batch.sample_index), batch * sizeof(std::int64_t)));
    there.batch.finished = static_cast<std::uint32_t*>(finished_->data());
    bind_packed(there);
    executor_->bind(there);
  }

  void run() override {
    for (auto& [host, mirror] : mirrors_) {
      queue_.copy_from_host(mirror.device->data(), host, mirror.bytes);
    }
    if (pack_) pack_->run();
    executor_->run();
    if (unpack_) unpack_->run();
    for (auto& [host, mirror] : mirrors_) {
      queue_.copy_to_host(host, mirror.device->data(), mirror.bytes);
    }
    queue_.wait();
  }

 private:
  struct Mirror {
    std::size_t bytes = 0;
    std::unique_ptr<DeviceBuffer> device;
  };

  /// Nothing on a device that packs no weights.
  static std::vector<PackedParameter> packed_by(const ExecutorFactory& executors,
                                                std::vector<PackedParameter> packed) {
    return weight_packing_of(executors) == nullptr ? std::vector<PackedParameter>{}
                                                   : std::move(packed);
  }

  static const TensorView& first_of(const StepTensors& tensors) {
    return tensors.inputs[0].data != nullptr ? tensors.inputs[0] : tensors.output_gradients[0];
  }

  /// The executor gets packed weights and gradients where it expects them.
  void bind_packed(StepTensors& there) {
    StepTensors reads, writes;
    read_.take_places(there.parameters, reads.inputs, reads.outputs);
    written_.take_places(there.parameter_gradients, writes.outputs, writes.inputs);
    if (pack_) pack_->bind(reads);
    if (unpack_) unpack_->bind(writes);
  }

  /// The device address of memory that may be passed several times (in place).
  void* mirrored(void* host, std::size_t bytes) {
    if (host == nullptr || bytes == 0) return nullptr;
    Mirror& mirror = mirrors_[host];
    if (mirror.device == nullptr) {
      mirror.bytes = bytes;
      mirror.device = device_.allocate(bytes);
    }
    TY_CHECK(mirror.bytes == bytes, "memory that is shared is shared whole");
    return mirror.device->data();
  }

  std::unique_ptr<Executor> executor_, pack_, unpack_;  // null: nothing is packed
  Device& device_;
  Queue& queue_;
  PackedTensors read_, written_;
  std::map<void*, Mirror> mirrors_;
  std::unique_ptr<DeviceBuffer> finished_;
};

}  // namespace

std::unique_ptr<Executor> MirroredExecutors::make(const StepDescription& step) const {
  return std::make_unique<MirroredExecutor>(executors_, step, device_, queue_);
}

}  // namespace trainyard::op_tests
