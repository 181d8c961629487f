#include "compute/conv/onednn/primitives.h"

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"

namespace trainyard::onednn {
namespace {

/// In the order of Source, up to the parameters' gradients.
constexpr std::vector<TensorView> StepTensors::*kLists[] = {
    &StepTensors::inputs,          &StepTensors::outputs,    &StepTensors::output_gradients,
    &StepTensors::input_gradients, &StepTensors::parameters, &StepTensors::parameter_gradients};

}  // namespace

PrimitiveList::PrimitiveList(LibraryPtr library, int threads)
    : library_(std::move(library)), threads_(threads) {
  // Primitives split their work, and size their scratchpads, for the team of the thread that
  // creates them.
  set_threads(threads_);
}

PrimitiveList::Memory PrimitiveList::new_memory(Operand operand, const Desc& desc) {
  operand.memory = dnnl::memory(desc, engine(), nullptr);
  operands_.push_back(std::move(operand));
  return operands_.size() - 1;
}

PrimitiveList::Memory PrimitiveList::tensor(Source source, std::size_t index, const Desc& desc) {
  return new_memory({.source = source, .index = index, .memory = {}}, desc);
}

PrimitiveList::Memory PrimitiveList::workspace(const Desc& desc) {
  const std::size_t offset = workspace_.take(desc.get_size());
  return new_memory({.source = Source::workspace, .offset = offset, .memory = {}}, desc);
}

PrimitiveList::Memory PrimitiveList::read_as(Source source, std::size_t index, const Desc& have,
                                             const Desc& wanted) {
  const Memory given = tensor(source, index, have);
  if (have == wanted) return given;
  const Memory copy = workspace(wanted);
  add_reorder(given, copy);
  return copy;
}

PrimitiveList::Memory PrimitiveList::write_as(Source source, std::size_t index, const Desc& have,
                                              const Desc& wanted) {
  const Memory given = tensor(source, index, have);
  if (have == wanted) return given;
  const Memory copy = workspace(wanted);
  copies_out_.push_back({copy, given});
  return copy;
}

void PrimitiveList::add_reorder(Memory from, Memory to) {
  const auto desc =
      reordering(engine(), operands_[from].memory.get_desc(), operands_[to].memory.get_desc());
  append(dnnl::reorder(desc), desc.scratchpad_desc(), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

void PrimitiveList::append(const dnnl::primitive& primitive, const Desc& scratchpad,
                           const Arguments& arguments) {
  Call call{.primitive = primitive, .arguments = {}};
  for (const auto& [argument, memory] : arguments) {
    call.arguments.push_back({argument, operands_[memory].memory.get()});
  }
  if (scratchpad.get_size() > 0) {
    const Memory memory = new_memory({.source = Source::scratchpad, .memory = {}}, scratchpad);
    call.arguments.push_back({DNNL_ARG_SCRATCHPAD, operands_[memory].memory.get()});
    scratchpad_bytes_ = std::max(scratchpad_bytes_, round_up(scratchpad.get_size(), kAlignment));
  }
  calls_.push_back(std::move(call));
}

void PrimitiveList::finish() {
  for (const Copy& copy : copies_out_) add_reorder(copy.from, copy.to);
  copies_out_.clear();
}

std::size_t PrimitiveList::workspace_bytes() const { return workspace_.used() + scratchpad_bytes_; }

void* PrimitiveList::address_of(const Operand& operand, const StepTensors& tensors) const {
  std::byte* const workspace = static_cast<std::byte*>(tensors.workspace);
  if (operand.source == Source::workspace) return workspace + operand.offset;
  if (operand.source == Source::scratchpad) return workspace + workspace_.used();
  const std::vector<TensorView>& list = tensors.*kLists[static_cast<std::size_t>(operand.source)];
  void* const data = operand.index < list.size() ? list[operand.index].data : nullptr;
  TY_CHECK(data != nullptr, "every tensor that a oneDNN step reads or writes has memory");
  return data;
}

void PrimitiveList::bind(const StepTensors& tensors) {
  TY_CHECK(copies_out_.empty(), "a primitive list is finished before it is bound");
  TY_CHECK(workspace_bytes() == 0 || tensors.workspace != nullptr, "the step has its workspace");
  for (Operand& operand : operands_) operand.memory.set_data_handle(address_of(operand, tensors));
}

void PrimitiveList::run() {
  set_threads(threads_);  // the team of this thread, which another program may have changed
  for (const Call& call : calls_) {
    // The C call, because the C++ one builds its argument list anew each time. A CPU stream has
    // finished when the call returns.
    const dnnl_status_t status =
        dnnl_primitive_execute(call.primitive.get(), library_->stream.get(),
                               static_cast<int>(call.arguments.size()), call.arguments.data());
    TY_CHECK(status == dnnl_success, "oneDNN refused to run a primitive that it had created");
  }
}

ExecutorPtr make_copy(const LibraryPtr& library, const Layout& from, const Layout& to, DType type,
                      int threads) {
  auto list = std::make_unique<PrimitiveList>(library, threads);
  list->add_reorder(list->tensor(Source::input, 0, desc_of(from, type)),
                    list->tensor(Source::output, 0, desc_of(to, type)));
  list->finish();
  return list;
}

}  // namespace trainyard::onednn
