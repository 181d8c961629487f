// The steps of recurrent layers, on any launcher and with the matrix products of any device.
//
// The inputs' products of all steps are one product; then each step is a product of its state and a
// functor (cell.h). Backward, each step is a functor and a product; then the gradient of each
// matrix is one product over all steps. A gru with its reset gate before the product has two of
// both in a step (gru.h). A device adds its products: a class Products with
//
//   using Factor = ...;  // what a factor is stored in: T, or Arithmetic<T> with values rounded to
//   T Product make(const ProductShape& shape, std::size_t workspace_left);
//
// whose Product has workspace_bytes() and run(const Factor* a, const Factor* b, Arithmetic<T>* d,
// void* workspace).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/offset_allocator.h"
#include "compute/executor.h"
#include "compute/matmul/product_shape.h"
#include "compute/recurrent/gru.h"
#include "ops/recurrent.h"
#include "tensor/layout.h"

namespace trainyard {

/// The products of all steps with the state's weights, which are the same in all steps: a Product
/// that can copies them once (copied_bytes(), copy(b, to), run_copied(a, copied, d, workspace)).
template <class Product, class Factor>
class StateProduct {
 public:
  StateProduct(Product product, std::int64_t copies, OffsetAllocator& workspace)
      : product_(std::move(product)), copies_(copies) {
    if constexpr (kCopied) {
      at_ = workspace.take(static_cast<std::size_t>(copies) * product_.copied_bytes());
    }
  }
  void bind(void* workspace) { copied_ = address_at(workspace, at_); }
  /// Before the first step: weights of `size` for each copy.
  void load(const Factor* weights, std::int64_t size) {
    weights_ = weights;
    size_ = size;
    if constexpr (kCopied) {
      for (std::int64_t copy = 0; copy < copies_; ++copy) {
        product_.copy(weights + copy * size, copied_of(copy));
      }
    }
  }
  template <class Sum>
  void run(std::int64_t copy, const Factor* a, Sum* d, void* scratch) const {
    if constexpr (kCopied) {
      product_.run_copied(a, copied_of(copy), d, scratch);
    } else {
      product_.run(a, weights_ + copy * size_, d, scratch);
    }
  }

 private:
  static constexpr bool kCopied = requires(const Product& product) { product.copied_bytes(); };
  [[nodiscard]] void* copied_of(std::int64_t copy) const {
    return address_at(copied_, static_cast<std::size_t>(copy) * product_.copied_bytes());
  }

  Product product_;
  std::int64_t copies_, size_ = 0;
  std::size_t at_ = 0;
  void* copied_ = nullptr;
  const Factor* weights_ = nullptr;
};

/// What a step is, for both passes.
template <class T, class Launcher, class Products>
class Recurrent : public Executor {
 public:
  using A = Arithmetic<T>;
  using F = typename Products::Factor;
  using Cell = RecurrentAttributes::Cell;
  using Product = decltype(std::declval<Products&>().make(ProductShape{}, std::size_t{}));
  using StateProducts = StateProduct<Product, F>;

  [[nodiscard]] std::size_t workspace_bytes() const final { return workspace_.used(); }
  [[nodiscard]] std::size_t reserve_bytes() const final { return reserve_.used(); }

 protected:
  Recurrent(const StepDescription& step, const Launcher& launcher, Products products)
      : launcher_(launcher),
        products_(std::move(products)),
        attributes_(op_as<RecurrentOp>(step).values()),
        resets_before_(op_as<RecurrentOp>(step).resets(RecurrentAttributes::Reset::before)),
        resets_after_(op_as<RecurrentOp>(step).resets(RecurrentAttributes::Reset::after)),
        training_(step.pass != Pass::forward_eval),
        node_(step.node),
        cap_(step.workspace_cap),
        sizes_(sizes_of(step)),
        input_stride_(step.inputs[0].stride[0]),
        output_stride_(step.outputs[0].stride[0]) {
    for (const Layout& layout : {step.inputs[0], step.outputs[0]}) {
      TY_CHECK(same_memory(layout, row_layout(shape_of(layout))), "sequences are rows");
    }
    place_kept(training_ ? reserve_ : workspace_);
  }

  [[nodiscard]] bool is_lstm() const { return attributes_.cell == Cell::lstm; }
  [[nodiscard]] bool is_gru() const { return attributes_.cell == Cell::gru; }
  [[nodiscard]] double input_rate() const { return training_ ? attributes_.dropout : 0; }
  [[nodiscard]] double state_rate() const { return training_ ? attributes_.recurrent_dropout : 0; }
  [[nodiscard]] std::int64_t columns() const { return sizes_.gates * sizes_.units; }
  /// Copies whose products read the state as it is: not those that a reset gate works on.
  [[nodiscard]] std::int64_t reading_state() const { return resets_before_ ? kNew : sizes_.copies; }

  template <class Element>
  static std::size_t take(OffsetAllocator& memory, std::int64_t elements) {
    return memory.take(static_cast<std::size_t>(elements) * sizeof(Element));
  }
  /// The product, within the workspace that the offsets taken so far leave. All products share
  /// their workspace, which is taken last.
  [[nodiscard]] Product make_product(const ProductShape& shape) {
    Product product =
        products_.make(shape, cap_ > workspace_.used() ? cap_ - workspace_.used() : 0);
    scratch_bytes_ = std::max(scratch_bytes_, product.workspace_bytes());
    return product;
  }
  void take_scratch() { scratch_at_ = workspace_.take(scratch_bytes_); }
  /// Alignment for products over all rows: whole memory blocks unless there are several copies.
  [[nodiscard]] std::size_t block_alignment() const {
    if (sizes_.copies == 1) return 16;
    return aligned_to(std::gcd(sizes_.channels, sizes_.units));
  }
  /// Alignment for products of one step.
  [[nodiscard]] std::size_t step_alignment() const { return aligned_to(sizes_.units); }

  void bind_kept(const StepTensors& tensors) {
    void* const kept = training_ ? tensors.reserve : tensors.workspace;
    inputs_ = static_cast<F*>(address_at(kept, inputs_at_));
    states_ = static_cast<F*>(address_at(kept, states_at_));
    gates_ = static_cast<A*>(address_at(kept, gates_at_));
    cells_ = static_cast<A*>(address_at(kept, cells_at_));
    inner_ = static_cast<A*>(address_at(kept, inner_at_));
    input_mask_ = input_rate() > 0 ? static_cast<A*>(address_at(kept, input_mask_at_)) : nullptr;
    state_mask_ = state_rate() > 0 ? static_cast<A*>(address_at(kept, state_mask_at_)) : nullptr;
    tokens_ = static_cast<std::int32_t*>(address_at(kept, tokens_at_));
    for (int i = 0; i < 2; ++i) {
      if constexpr (kRounds) {
        given_[i] = tensors.parameters[i].template as<A>();
        weights_[i] = static_cast<F*>(address_at(kept, weights_at_[i]));
      } else {
        weights_[i] = tensors.parameters[i].template as<F>();
      }
    }
    scratch_ = address_at(tensors.workspace, scratch_at_);
  }
  void zero(A* values, std::int64_t elements) const {
    launcher_.each(elements, RecurrentZeros<A>{values});
  }
  [[nodiscard]] CellTimeStep<T> cell_step(std::int64_t step) const {
    return {sizes_, attributes_.gates, attributes_.activation, gates_ + step * sizes_.gate_step(),
            attributes_.mask ? tokens_ + step * sizes_.samples : nullptr};
  }
  [[nodiscard]] GruTimeStep<T> gru_step(std::int64_t step) const {
    A* const before = cells_ + step * sizes_.state_step();
    return {cell_step(step), before, before + sizes_.state_step()};
  }
  /// The mask of gate `gate`, where each has its own, or null.
  [[nodiscard]] const A* state_mask_of(std::int64_t gate) const {
    return state_mask_ == nullptr ? nullptr : state_mask_ + gate * sizes_.state_step();
  }
  /// The place of a step's state in an output, or null.
  template <class Element>
  [[nodiscard]] Element* output_of(Element* output, std::int64_t step) const {
    const std::int64_t last = sizes_.steps - 1;
    if (attributes_.return_sequences) {
      return output + (attributes_.in_order ? last - step : step) * sizes_.units;
    }
    return step == last ? output : nullptr;
  }

  // Weights have a rounded copy. For factors in T they are packed before (weight_packing.h).
  static constexpr bool kRounds = !std::is_same_v<T, A> && std::is_same_v<F, A>;

  Launcher launcher_;
  Products products_;
  RecurrentAttributes attributes_;
  bool resets_before_, resets_after_;  // where a gru resets
  bool training_;
  std::uint32_t node_;
  std::size_t cap_;
  RecurrentSizes sizes_;
  std::int64_t input_stride_, output_stride_;  // from sample to sample
  OffsetAllocator workspace_, reserve_;
  // Kept from forward_train to backward. Copies of factors as RecurrentSizes has them.
  F* inputs_ = nullptr;  // [copy][step][sample][channel]
  F* states_ = nullptr;  // before each step: [copy][step][sample][unit]
  A* gates_ = nullptr;   // [copy][step][sample][width]
  A* cells_ = nullptr;   // an lstm's cells, or a gru's states: [step, and the end][sample][unit]
  A* inner_ = nullptr;   // what r of a gru multiplies after the product: [step][sample][unit]
  A* input_mask_ = nullptr;         // [copy][sample][channel], or null
  A* state_mask_ = nullptr;         // [copy][sample][unit], or null
  std::int32_t* tokens_ = nullptr;  // tokens of the mask: [step][sample]
  const A* given_[2] = {};    // weight [gates * units, channels], recurrent [gates * units, units]
  const F* weights_[2] = {};  // the same as factors
  void* scratch_ = nullptr;

 private:
  static RecurrentSizes sizes_of(const StepDescription& step) {
    const auto& op = op_as<RecurrentOp>(step);
    const Layout& input = step.inputs[0];
    return {.samples = input.extent[0],
            .steps = input.extent[3],
            .channels = input.extent[1],
            .units = op.values().units,
            .gates = op.gates(),
            .copies = op.copies(step.pass != Pass::forward_eval)};
  }
  [[nodiscard]] static std::size_t aligned_to(std::int64_t elements) {
    return std::gcd(std::size_t{16}, static_cast<std::size_t>(elements) * sizeof(F));
  }
  void place_kept(OffsetAllocator& memory) {
    const std::int64_t rows = sizes_.rows(), samples = sizes_.samples, copies = sizes_.copies;
    inputs_at_ = take<F>(memory, copies * rows * sizes_.channels);
    states_at_ = take<F>(memory, copies * rows * sizes_.units);
    gates_at_ = take<A>(memory, rows * columns());
    if (is_lstm() || is_gru()) cells_at_ = take<A>(memory, (rows + samples) * sizes_.units);
    if (resets_after_) inner_at_ = take<A>(memory, rows * sizes_.units);
    if (input_rate() > 0) input_mask_at_ = take<A>(memory, copies * samples * sizes_.channels);
    if (state_rate() > 0) state_mask_at_ = take<A>(memory, copies * samples * sizes_.units);
    if (attributes_.mask) tokens_at_ = take<std::int32_t>(memory, rows);
    if constexpr (kRounds) {
      weights_at_[0] = take<F>(memory, columns() * sizes_.channels);
      weights_at_[1] = take<F>(memory, columns() * sizes_.units);
    }
  }

  std::size_t inputs_at_ = 0, states_at_ = 0, gates_at_ = 0, cells_at_ = 0, inner_at_ = 0;
  std::size_t input_mask_at_ = 0, state_mask_at_ = 0, tokens_at_ = 0;
  std::size_t weights_at_[2] = {};
  std::size_t scratch_bytes_ = 0, scratch_at_ = 0;
};

}  // namespace trainyard
