// A step as a list of oneDNN primitives over tensors whose addresses bind() supplies.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/offset_allocator.h"
#include "compute/conv/onednn/dnnl.h"
#include "compute/executor.h"

namespace trainyard::onednn {

/// Engine and stream. Shared by a factory and its executors, because a plan may outlive the factory
/// that made them. One per replica: a stream may be used by only one thread at a time.
struct Library {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
};
using LibraryPtr = std::shared_ptr<Library>;

/// Where a memory of a step is: in one of the lists of StepTensors (with an index), or in the
/// step's workspace (with an offset in bytes).
enum class Source {
  input,
  output,
  output_gradient,
  input_gradient,
  parameter,
  parameter_gradient,
  workspace,
  scratchpad,
};

class PrimitiveList final : public Executor {
 public:
  /// Index of a memory of the list.
  using Memory = std::size_t;
  using Arguments = std::vector<std::pair<int, Memory>>;  // DNNL_ARG_x, memory

  /// Primitives are created for, and run with, teams of `threads`.
  PrimitiveList(LibraryPtr library, int threads);

  [[nodiscard]] const dnnl::engine& engine() const { return library_->engine; }

  /// Tensor `index` of a list of StepTensors.
  Memory tensor(Source source, std::size_t index, const Desc& desc);
  /// The tensor in layout `wanted`: itself, or a copy in the workspace made at this point.
  Memory read_as(Source source, std::size_t index, const Desc& have, const Desc& wanted);
  /// Memory in layout `wanted` to write the tensor to: itself, or workspace that finish() copies.
  Memory write_as(Source source, std::size_t index, const Desc& have, const Desc& wanted);

  /// Appends a primitive; its scratchpad joins the workspace.
  template <class PrimitiveDesc>
  void add(const PrimitiveDesc& desc, const dnnl::primitive& primitive,
           const Arguments& arguments) {
    append(primitive, desc.scratchpad_desc(), arguments);
    if (implementation_.empty()) implementation_ = desc.impl_info_str();
  }
  void add_reorder(Memory from, Memory to);
  /// Appends the copies that write_as deferred. Called once, after the last add.
  void finish();

  [[nodiscard]] std::size_t workspace_bytes() const override;
  void bind(const StepTensors& tensors) override;
  void run() override;
  /// The implementation of the first primitive that is not a reorder.
  [[nodiscard]] Algorithm algorithm() const override {
    return {.name = "oneDNN " + implementation_};
  }

 private:
  // A cache line: the alignment that oneDNN's vectors and its scratchpad registry require.
  static constexpr std::size_t kAlignment = 64;

  struct Operand {
    Source source = Source::workspace;
    std::size_t index = 0;   // index in the list of StepTensors
    std::size_t offset = 0;  // bytes into the workspace
    dnnl::memory memory;
  };
  struct Call {
    dnnl::primitive primitive;
    std::vector<dnnl_exec_arg_t> arguments;
  };
  struct Copy {
    Memory from, to;
  };

  Memory new_memory(Operand operand, const Desc& desc);
  /// New memory of the step's workspace.
  Memory workspace(const Desc& desc);
  void append(const dnnl::primitive& primitive, const Desc& scratchpad, const Arguments& arguments);
  [[nodiscard]] void* address_of(const Operand& operand, const StepTensors& tensors) const;

  LibraryPtr library_;
  std::string implementation_;
  int threads_;
  std::vector<Operand> operands_;
  std::vector<Call> calls_;
  std::vector<Copy> copies_out_;
  OffsetAllocator workspace_{kAlignment};  // without the scratchpad, which follows, shared by all
  std::size_t scratchpad_bytes_ = 0;
};

// The makers of executors of convolutions and copies, which are oneDNN's, and of batch norm and
// pooling, which are ours, over channel blocks.
[[nodiscard]] ExecutorPtr make_conv(const LibraryPtr& library, const StepDescription& step);
[[nodiscard]] ExecutorPtr make_bn(const StepDescription& step);
[[nodiscard]] ExecutorPtr make_pool(const StepDescription& step);
/// A copy between layouts of one type, f32 or bf16.
[[nodiscard]] ExecutorPtr make_copy(const LibraryPtr& library, const Layout& from, const Layout& to,
                                    DType type, int threads);

}  // namespace trainyard::onednn
