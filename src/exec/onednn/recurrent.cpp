// Recurrent layers, with matrix products of oneDNN between the steps' functors.
#include "exec/recurrent.h"

#include <array>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "exec/onednn/descriptors.h"
#include "exec/onednn/executors.h"
#include "kernels/launch.h"

namespace trainyard::onednn {
namespace {

/// A row-major matrix, or its transpose in memory.
Desc matrix_desc(std::int64_t rows, std::int64_t columns, bool transposed) {
  return Desc({rows, columns}, dnnl::memory::data_type::f32,
              transposed ? Dims{1, rows} : Dims{columns, 1});
}

class LibraryProduct {
 public:
  LibraryProduct(LibraryPtr library, int threads, const ProductShape& shape)
      : library_(std::move(library)),
        threads_(threads),
        a_(memory_of(matrix_desc(shape.rows, shape.depth, shape.a_transposed))),
        b_(memory_of(matrix_desc(shape.depth, shape.columns, shape.b_transposed))),
        d_(memory_of(matrix_desc(shape.rows, shape.columns, false))) {
    set_threads(threads_);  // the primitive splits its work for the team of its creator
    const auto desc = matrix_product(library_->engine, a_.get_desc(), b_.get_desc(), d_.get_desc());
    primitive_ = dnnl::matmul(desc);
    scratch_ = memory_of(desc.scratchpad_desc());
    arguments_ = {{{DNNL_ARG_SRC, a_.get()},
                   {DNNL_ARG_WEIGHTS, b_.get()},
                   {DNNL_ARG_DST, d_.get()},
                   {DNNL_ARG_SCRATCHPAD, scratch_.get()}}};
  }
  [[nodiscard]] std::size_t workspace_bytes() const { return scratch_.get_desc().get_size(); }
  void run(const float* a, const float* b, float* d, void* workspace) const {
    a_.set_data_handle(const_cast<float*>(a));
    b_.set_data_handle(const_cast<float*>(b));
    d_.set_data_handle(d);
    scratch_.set_data_handle(workspace);
    set_threads(threads_);
    // The C call, because the C++ one builds its argument list anew each time.
    const dnnl_status_t status =
        dnnl_primitive_execute(primitive_.get(), library_->stream.get(),
                               static_cast<int>(arguments_.size()), arguments_.data());
    TY_CHECK(status == dnnl_success, "oneDNN refused to run a product that it had created");
  }

 private:
  [[nodiscard]] dnnl::memory memory_of(const Desc& desc) const {
    return dnnl::memory(desc, library_->engine, nullptr);
  }

  LibraryPtr library_;
  int threads_;
  dnnl::memory a_, b_, d_, scratch_;
  dnnl::matmul primitive_;
  std::array<dnnl_exec_arg_t, 4> arguments_{};
};

/// Of floats: in bf16 of rounded values, which are exact.
struct LibraryProducts {
  using Factor = float;
  LibraryPtr library;
  int threads;
  [[nodiscard]] LibraryProduct make(const ProductShape& shape, std::size_t) const {
    return {library, threads, shape};
  }
};

}  // namespace

std::unique_ptr<Executor> make_recurrent(const LibraryPtr& library, const StepDescription& step) {
  const CpuLauncher launcher(step.threads);
  const LibraryProducts products{library, step.threads};
  if (step.storage == DType::bf16) return make_recurrent_on<BFloat16>(step, launcher, products);
  return make_recurrent_on<float>(step, launcher, products);
}

}  // namespace trainyard::onednn
