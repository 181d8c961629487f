#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "../faults.h"
#include "../stream.h"
#include "engines.h"
#include "status.h"

namespace standin::cudnn {
namespace {

/// One run of a plan: everything its work needs.
struct Run {
  const Engine* engine = nullptr;
  Convolution convolution;
  Addresses addresses;
  std::byte* workspace = nullptr;
  std::int64_t images_at_a_time = 1;
  int device = 0;
};

void*& address_of(Addresses& addresses, const Convolution& conv, const Tensor& tensor) {
  if (tensor.id == conv.input.id) return addresses.input;
  if (tensor.id == conv.weight.id) return addresses.weight;
  return tensor.id == conv.output.id ? addresses.output : addresses.bias;
}

/// Reads the addresses from the pack. cuDNN's manual: a missing pointer is a bad parameter, and so
/// is one with less than its tensor's alignment.
cudnnStatus_t read_addresses(const Descriptor& pack, const Convolution& conv, Addresses& to) {
  const auto ids = pack.list<std::int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto pointers = pack.list<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  for (const Tensor& tensor : conv.tensors()) {
    const auto found = std::ranges::find(ids, tensor.id);
    void* const address =
        found == ids.end() ? nullptr : pointers[static_cast<std::size_t>(found - ids.begin())];
    if (address == nullptr) {
      return refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "a tensor of the graph has no address");
    }
    if (reinterpret_cast<std::intptr_t>(address) % tensor.alignment != 0) {
      return refuse(CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER,
                    "an address lacks its tensor's alignment");
    }
    address_of(to, conv, tensor) = address;
  }
  return CUDNN_STATUS_SUCCESS;
}

/// Whether all memory of a run is device memory.
bool is_in_device_memory(const Run& run) {
  Addresses addresses = run.addresses;
  const auto tensors = run.convolution.tensors();
  const bool all = std::ranges::all_of(tensors, [&](const Tensor& tensor) {
    const std::int64_t bytes = tensor.span() * size_of(tensor.type);
    return is_device_memory(address_of(addresses, run.convolution, tensor),
                            static_cast<std::size_t>(bytes));
  });
  const std::int64_t unfolded = run.images_at_a_time * unfolded_bytes(run.convolution);
  return all && (run.workspace == nullptr ||
                 is_device_memory(run.workspace, static_cast<std::size_t>(unfolded)));
}

std::int64_t next_turn() {
  static std::atomic<std::int64_t> turn{0};
  return turn++;
}

/// Overwrites the workspace before and after, so that data wrongly stored there is noticed.
void spoil_workspace(const Run& run) {
  const std::int64_t unfolded = run.images_at_a_time * unfolded_bytes(run.convolution);
  if (run.workspace != nullptr)
    std::memset(run.workspace, 0xff, static_cast<std::size_t>(unfolded));
}

/// On the device's thread. An address outside the device's memory is a fault that the host sees
/// later.
bool run_now(const Run& run) {
  if (!is_in_device_memory(run)) {
    break_device(run.device, cudaErrorIllegalAddress);
    return true;
  }
  const Engine& engine = *run.engine;
  const bool turns = engine.turns || requested_failure("cudnnTurns", -1) == engine.name;
  const bool rounds = run.convolution.input.type == CUDNN_DATA_FLOAT;
  spoil_workspace(run);
  compute(run.convolution,
          {.rounding = rounds ? engine.rounding : Rounding::none,
           .first_image = turns ? next_turn() : 0,
           .unfolded = run.workspace,
           .images_at_a_time = run.images_at_a_time},
          run.addresses);
  spoil_workspace(run);
  return true;
}

/// What some engines do before their work.
cudnnStatus_t begin(const Engine& engine, cudaStream_t stream) {
  if (engine.fails == Engine::Fails::at_execution) {
    return refuse(CUDNN_STATUS_EXECUTION_FAILED, "the engine does not start");
  }
  // Waiting is forbidden while a stream is captured, and ends the capture.
  if (engine.fails == Engine::Fails::in_capture && cudaStreamSynchronize(stream) != cudaSuccess) {
    return refuse(CUDNN_STATUS_EXECUTION_FAILED_CUDART, "cudaStreamSynchronize != cudaSuccess");
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t make_run(const Handle& handle, const Descriptor& plan, const Descriptor& pack,
                       Run& run) {
  const Descriptor& configuration = *plan.child(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  const Descriptor& engine = *configuration.child(CUDNN_ATTR_ENGINECFG_ENGINE);
  run = {.engine = engine.engine, .convolution = *engine.convolution, .device = handle.device};
  const cudnnStatus_t status = read_addresses(pack, run.convolution, run.addresses);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  if (plan.one(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, std::int64_t{0}) == 0) {
    return CUDNN_STATUS_SUCCESS;
  }
  run.images_at_a_time = images_at_a_time(*run.engine, knobs_of(configuration));
  run.workspace = static_cast<std::byte*>(
      pack.one(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, static_cast<void*>(nullptr)));
  return run.workspace != nullptr
             ? CUDNN_STATUS_SUCCESS
             : refuse(CUDNN_STATUS_BAD_PARAM_NULL_POINTER, "the plan needs a workspace");
}

}  // namespace

cudnnStatus_t execute(const Handle& handle, const Descriptor& plan, const Descriptor& pack) {
  if (plan.type != CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR ||
      pack.type != CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR) {
    return refuse(CUDNN_STATUS_BAD_PARAM, "a plan and a pack are expected");
  }
  if (!plan.finalized || !pack.finalized) {
    return refuse(CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED, "desc->isFinalized() == false");
  }
  Run run;
  const cudnnStatus_t made = make_run(handle, plan, pack, run);
  if (made != CUDNN_STATUS_SUCCESS) return made;
  const cudnnStatus_t begun = begin(*run.engine, handle.stream);
  if (begun != CUDNN_STATUS_SUCCESS) return begun;
  const char* const name = run.engine->name;
  const cudaError_t error =
      enqueue(handle.stream, name, [kept = std::move(run)] { return run_now(kept); });
  if (error == cudaSuccess) return CUDNN_STATUS_SUCCESS;
  return refuse(CUDNN_STATUS_EXECUTION_FAILED_CUDART, "cudaLaunchKernel != cudaSuccess");
}

}  // namespace standin::cudnn
