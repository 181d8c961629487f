#include "compute/devices/reference_executors.h"
#include "compute/matmul/reference_products.h"
#include "compute/recurrent/recurrent.h"
#include "launcher/launch.h"
#include "tensor/dtype.h"

namespace trainyard::reference {
namespace {

/// Plain loops. Factors are rounded to the storage type and stored in the arithmetic one.
template <class A>
class LoopProduct {
 public:
  LoopProduct(const CpuLauncher& launcher, const ProductShape& shape)
      : launcher_(launcher), shape_(shape) {}
  [[nodiscard]] static std::size_t workspace_bytes() { return 0; }
  void run(const A* a, const A* b, A* d, void* /*workspace*/) const {
    if (shape_.b_transposed) {
      const RowProducts<A> product{.out = d,
                                   .a = a,
                                   .b = b,
                                   .bias = nullptr,
                                   .accumulate = false,
                                   .rows = shape_.rows,
                                   .count = shape_.columns,
                                   .length = shape_.depth};
      launcher_.rows(product.tiles(1), product);
    } else {
      const WeightedRows<A> product{.out = d,
                                    .terms = b,
                                    .weight = a,
                                    .bias = nullptr,
                                    .rows = shape_.rows,
                                    .count = shape_.depth,
                                    .length = shape_.columns,
                                    .row_stride = shape_.a_transposed ? 1 : shape_.depth,
                                    .term_stride = shape_.a_transposed ? shape_.rows : 1};
      launcher_.rows(product.tiles(1), product);
    }
  }

 private:
  CpuLauncher launcher_;
  ProductShape shape_;
};

template <class A>
struct LoopProducts {
  using Factor = A;
  CpuLauncher launcher;
  [[nodiscard]] LoopProduct<A> make(const ProductShape& shape, std::size_t) const {
    return {launcher, shape};
  }
};

}  // namespace

template <class A>
std::unique_ptr<Executor> make_recurrent(const StepDescription& step) {
  const CpuLauncher launcher(step.threads);
  return with_float_type(step.storage,
                         [&]<class T>(std::type_identity<T>) -> std::unique_ptr<Executor> {
                           if constexpr (std::is_same_v<Arithmetic<T>, A>) {
                             return make_recurrent_on<T>(step, launcher, LoopProducts<A>{launcher});
                           }
                           return nullptr;
                         });
}

template std::unique_ptr<Executor> make_recurrent<float>(const StepDescription&);
template std::unique_ptr<Executor> make_recurrent<double>(const StepDescription&);

}  // namespace trainyard::reference
