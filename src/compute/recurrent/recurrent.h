// The executors of recurrent layers, on any launcher and with the matrix products of any device
// (recurrent_step.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "compute/recurrent/gru.h"
#include "compute/recurrent/recurrent_step.h"
#include "launcher/columns.h"

namespace trainyard {

template <class T, class Launcher, class Products>
class RecurrentForward final : public Recurrent<T, Launcher, Products> {
  using Base = Recurrent<T, Launcher, Products>;
  using A = typename Base::A;
  using F = typename Base::F;

 public:
  RecurrentForward(const StepDescription& step, const Launcher& launcher, Products products)
      : Base(step, launcher, std::move(products)),
        sums_at_(this->template take<A>(this->workspace_, samples() * this->columns())),
        state_at_(this->template take<A>(this->workspace_, this->sizes_.state_step())),
        input_product_(this->make_product({.rows = this->sizes_.rows(),
                                           .columns = this->sizes_.width(),
                                           .depth = this->sizes_.channels,
                                           .b_transposed = true,
                                           .alignment = this->block_alignment()})),
        state_product_(this->make_product({.rows = samples(),
                                           .columns = this->sizes_.width(),
                                           .depth = this->sizes_.units,
                                           .b_transposed = true,
                                           .alignment = this->step_alignment()}),
                       this->sizes_.copies, this->workspace_) {
    this->take_scratch();
  }
  void bind(const StepTensors& tensors) override {
    this->bind_kept(tensors);
    batch_ = tensors.batch;
    input_ = tensors.inputs[0].template as<T>();
    if (this->attributes_.mask) mask_ = tensors.inputs[1].template as<std::int32_t>();
    output_ = tensors.outputs[0].template as<T>();
    bias_ = tensors.parameters[2].template as<A>();
    if (this->resets_after_) second_bias_ = tensors.parameters[3].template as<A>();
    sums_ = static_cast<A*>(address_at(tensors.workspace, sums_at_));
    state_ = static_cast<A*>(address_at(tensors.workspace, state_at_));
    state_product_.bind(tensors.workspace);
  }
  void run() override {
    round_weights();
    state_product_.load(this->weights_[1], this->sizes_.width() * this->sizes_.units);
    draw_masks();
    order_tokens();
    begin_states();
    multiply_inputs();
    for (std::int64_t step = 0; step < this->sizes_.steps; ++step) {
      if (step > 0) multiply_state(step, 0, this->reading_state());
      compute(step);
    }
  }

 private:
  [[nodiscard]] std::int64_t samples() const { return this->sizes_.samples; }

  void round_weights() const {
    if constexpr (Base::kRounds) {
      const std::int64_t inputs[2] = {this->sizes_.channels, this->sizes_.units};
      for (int i = 0; i < 2; ++i) {
        this->launcher_.each(
            this->columns() * inputs[i],
            RoundedWeights<T, F>{this->given_[i], const_cast<F*>(this->weights_[i])});
      }
    }
  }
  void draw_masks() const {
    const RecurrentSizes& sizes = this->sizes_;
    draw_mask(this->input_mask_, sizes.channels, 0, this->input_rate());
    draw_mask(this->state_mask_, sizes.units, sizes.gates * sizes.channels, this->state_rate());
  }
  void draw_mask(A* mask, std::int64_t width, std::int64_t first, double rate) const {
    if (mask == nullptr) return;
    const DropoutMask drawn{
        .batch = batch_, .node = this->node_, .threshold = drop_threshold(rate)};
    this->launcher_.rows(
        this->sizes_.copies * samples(),
        RecurrentMask<A>{mask, samples(), width, first, drawn, static_cast<A>(1.0 / (1.0 - rate))});
  }
  void order_tokens() const {
    if (mask_ == nullptr) return;
    RecurrentSizes sizes = this->sizes_;
    sizes.channels = 1;
    this->launcher_.each(
        sizes.rows(),
        RecurrentTokens{sizes, {mask_, sizes.steps, this->attributes_.backwards}, this->tokens_});
  }
  /// Both states are 0 before the first step, and so is what its product would be.
  void begin_states() const {
    const RecurrentSizes& sizes = this->sizes_;
    for (std::int64_t copy = 0; copy < sizes.copies; ++copy) {
      this->launcher_.each(sizes.state_step(),
                           RecurrentZeros<F>{this->states_ + copy * sizes.rows() * sizes.units});
    }
    this->zero(sums_, samples() * this->columns());
    this->zero(state_, sizes.state_step());
    if (this->is_lstm() || this->is_gru()) this->zero(this->cells_, sizes.state_step());
  }
  void multiply_inputs() const {
    const RecurrentSizes& sizes = this->sizes_;
    this->launcher_.rows(
        sizes.rows(), InputFactors<T, F>{sizes,
                                         {input_, this->input_stride_, this->attributes_.backwards},
                                         this->input_mask_,
                                         this->inputs_});
    for (std::int64_t copy = 0; copy < sizes.copies; ++copy) {
      input_product_.run(this->inputs_ + copy * sizes.rows() * sizes.channels,
                         this->weights_[0] + copy * sizes.width() * sizes.channels,
                         this->gates_ + copy * sizes.rows() * sizes.width(), this->scratch_);
    }
  }
  /// The products of copies [begin, end).
  void multiply_state(std::int64_t step, std::int64_t begin, std::int64_t end) const {
    const RecurrentSizes& sizes = this->sizes_;
    for (std::int64_t copy = begin; copy < end; ++copy) {
      state_product_.run(
          copy, this->states_ + copy * sizes.rows() * sizes.units + step * sizes.state_step(),
          sums_ + copy * samples() * sizes.width(), this->scratch_);
    }
  }
  void compute(std::int64_t step) const {
    const RecurrentSizes& sizes = this->sizes_;
    const bool last = step + 1 == sizes.steps;
    const NewState<T, F> state{this->is_gru() ? this->gru_step(step).state : state_,
                               last ? nullptr : this->states_ + (step + 1) * sizes.state_step(),
                               this->state_mask_, this->output_of(output_, step),
                               this->output_stride_};
    const CellSums<T> sums{sums_, bias_};
    if (this->is_lstm()) {
      A* const before = this->cells_ + step * sizes.state_step();
      this->launcher_.rows(samples(), LstmForward<T, F>{this->cell_step(step), sums, state, before,
                                                        before + sizes.state_step()});
    } else if (this->is_gru()) {
      compute_gru(step, sums, state);
    } else {
      this->launcher_.rows(samples(), SimpleRnnForward<T, F>{this->cell_step(step), sums, state});
    }
  }
  void compute_gru(std::int64_t step, const CellSums<T>& sums, const NewState<T, F>& state) const {
    const RecurrentSizes& sizes = this->sizes_;
    const GruTimeStep<T> gru = this->gru_step(step);
    if (this->resets_after_) {
      return this->launcher_.rows(samples(),
                                  GruForward<T, F>{gru, sums, state, second_bias_,
                                                   this->inner_ + step * sizes.state_step()});
    }
    F* const factors = this->states_ + (kNew * sizes.steps + step) * sizes.state_step();
    this->launcher_.rows(samples(), GruGates<T, F>{gru, sums, this->state_mask_of(kNew), factors});
    multiply_state(step, kNew, sizes.copies);
    this->launcher_.rows(samples(), GruState<T, F>{gru, sums, state});
  }

  std::size_t sums_at_, state_at_;
  typename Base::Product input_product_;
  typename Base::StateProducts state_product_;
  BatchContext batch_;
  const T* input_ = nullptr;
  const std::int32_t* mask_ = nullptr;  // tokens [sample][step], or null
  T* output_ = nullptr;
  const A* bias_ = nullptr;
  const A* second_bias_ = nullptr;
  A* sums_ = nullptr;   // the state's part of a step's gates: [copy][sample][width]
  A* state_ = nullptr;  // [sample][unit]
};

/// The gradients of the parameters and, if it is needed, of the input.
template <class T, class Launcher, class Products>
class RecurrentBackward final : public Recurrent<T, Launcher, Products> {
  using Base = Recurrent<T, Launcher, Products>;
  using A = typename Base::A;
  using F = typename Base::F;
  using Product = typename Base::Product;

 public:
  RecurrentBackward(const StepDescription& step, const Launcher& launcher, Products products)
      : Base(step, launcher, std::move(products)) {
    const RecurrentSizes& sizes = this->sizes_;
    const std::int64_t rows = sizes.rows(), copies = sizes.copies;
    sums_at_ = this->template take<F>(this->workspace_, rows * this->columns());
    product_sums_at_ = this->resets_after_
                           ? this->template take<F>(this->workspace_, rows * this->columns())
                           : sums_at_;
    products_at_ = this->template take<A>(this->workspace_, copies * sizes.state_step());
    state_at_ = this->template take<A>(this->workspace_, sizes.state_step());
    cell_at_ = this->template take<A>(this->workspace_, sizes.state_step());
    partials_at_ =
        this->template take<double>(this->workspace_, column_partials(rows, this->columns()));
    const bool wanted = step.needs_input_gradient.empty() || step.needs_input_gradient[0];
    if (wanted) {
      inputs_at_ = this->template take<A>(this->workspace_, copies * rows * sizes.channels);
    }
    make_products(wanted);
    this->take_scratch();
  }
  void bind(const StepTensors& tensors) override {
    this->bind_kept(tensors);
    void* const own = tensors.workspace;
    output_ = tensors.output_gradients[0].template as<T>();
    input_ = tensors.input_gradients[0].template as<T>();
    for (int i = 0; i < (this->resets_after_ ? 4 : 3); ++i) {
      gradients_[i] = tensors.parameter_gradients[i].template as<A>();
    }
    sums_ = static_cast<F*>(address_at(own, sums_at_));
    product_sums_ = static_cast<F*>(address_at(own, product_sums_at_));
    state_products_ = static_cast<A*>(address_at(own, products_at_));
    state_ = static_cast<A*>(address_at(own, state_at_));
    cell_ = static_cast<A*>(address_at(own, cell_at_));
    partials_ = static_cast<double*>(address_at(own, partials_at_));
    finished_ = tensors.batch.finished;
    input_products_ = static_cast<A*>(address_at(own, inputs_at_));
    state_product_->bind(own);
  }
  void run() override {
    const RecurrentSizes& sizes = this->sizes_;
    state_product_->load(this->weights_[1], sizes.width() * sizes.units);
    this->zero(state_products_, sizes.copies * sizes.state_step());
    this->zero(state_, sizes.state_step());
    this->zero(cell_, sizes.state_step());
    for (std::int64_t step = sizes.steps - 1; step >= 0; --step) {
      compute(step);
      if (step > 0) multiply_state(step, 0, this->reading_state());
    }
    parameter_gradients();
    if (input_ != nullptr) input_gradient();
  }

 private:
  void make_products(bool input) {
    const RecurrentSizes& sizes = this->sizes_;
    const auto add = [&](const ProductShape& shape) {
      return std::make_unique<Product>(this->make_product(shape));
    };
    state_product_ = std::make_unique<typename Base::StateProducts>(
        this->make_product({.rows = sizes.samples,
                            .columns = sizes.units,
                            .depth = sizes.width(),
                            .alignment = this->step_alignment()}),
        sizes.copies, this->workspace_);
    for (int i = 0; i < 2; ++i) {
      matrix_products_[i] = add({.rows = sizes.width(),
                                 .columns = i == 0 ? sizes.channels : sizes.units,
                                 .depth = sizes.rows(),
                                 .a_transposed = true,
                                 .alignment = this->block_alignment()});
    }
    if (!input) return;
    input_product_ = add({.rows = sizes.rows(),
                          .columns = sizes.channels,
                          .depth = sizes.width(),
                          .alignment = this->block_alignment()});
  }
  void compute(std::int64_t step) const {
    const RecurrentSizes& sizes = this->sizes_;
    const StateGradient<T> state{state_, state_products_, this->state_mask_,
                                 this->output_of(output_, step), this->output_stride_};
    F* const sums = sums_ + step * sizes.gate_step();
    if (this->is_lstm()) {
      const A* const before = this->cells_ + step * sizes.state_step();
      this->launcher_.rows(sizes.samples,
                           LstmBackward<T, F>{this->cell_step(step), state, before,
                                              before + sizes.state_step(), cell_, sums});
    } else if (this->is_gru()) {
      compute_gru(step, state, sums);
    } else {
      this->launcher_.rows(sizes.samples,
                           SimpleRnnBackward<T, F>{this->cell_step(step), state, sums});
    }
  }
  void compute_gru(std::int64_t step, const StateGradient<T>& state, F* sums) const {
    const RecurrentSizes& sizes = this->sizes_;
    const GruTimeStep<T> gru = this->gru_step(step);
    if (this->resets_after_) {
      return this->launcher_.rows(
          sizes.samples, GruBackward<T, F>{gru, state, this->inner_ + step * sizes.state_step(),
                                           sums, product_sums_ + step * sizes.gate_step()});
    }
    this->launcher_.rows(sizes.samples, GruStateBackward<T, F>{gru, state, sums});
    multiply_state(step, kNew, sizes.copies);
    this->launcher_.rows(sizes.samples,
                         GruResetBackward<T, F>{gru, state_products_ + kNew * sizes.state_step(),
                                                this->state_mask_of(kNew), state_, sums});
  }
  /// The products of copies [begin, end).
  void multiply_state(std::int64_t step, std::int64_t begin, std::int64_t end) const {
    const RecurrentSizes& sizes = this->sizes_;
    for (std::int64_t copy = begin; copy < end; ++copy) {
      state_product_->run(copy, of_copy(product_sums_, copy) + step * sizes.gate_step(),
                          state_products_ + copy * sizes.state_step(), this->scratch_);
    }
  }
  void parameter_gradients() const {
    const RecurrentSizes& sizes = this->sizes_;
    const F* const sums[2] = {sums_, product_sums_};
    const F* const factors[2] = {this->inputs_, this->states_};
    const std::int64_t columns[2] = {sizes.channels, sizes.units};
    for (int i = 0; i < 2; ++i) {
      for (std::int64_t copy = 0; copy < sizes.copies; ++copy) {
        matrix_products_[i]->run(of_copy(sums[i], copy),
                                 factors[i] + copy * sizes.rows() * columns[i],
                                 gradients_[i] + copy * sizes.width() * columns[i], this->scratch_);
      }
    }
    for (int i = 0; i < (this->resets_after_ ? 2 : 1); ++i) {
      this->launcher_.columns(sizes.rows(), this->columns(),
                              RecurrentBiasGradient<T, F>{sizes, sums[i], gradients_[2 + i]},
                              partials_, finished_);
    }
  }
  void input_gradient() const {
    const RecurrentSizes& sizes = this->sizes_;
    for (std::int64_t copy = 0; copy < sizes.copies; ++copy) {
      input_product_->run(of_copy(sums_, copy),
                          this->weights_[0] + copy * sizes.width() * sizes.channels,
                          input_products_ + copy * sizes.rows() * sizes.channels, this->scratch_);
    }
    this->launcher_.rows(sizes.rows(), InputGradients<T>{sizes,
                                                         input_products_,
                                                         this->input_mask_,
                                                         {input_, this->input_stride_,
                                                          this->attributes_.backwards}});
  }
  [[nodiscard]] const F* of_copy(const F* sums, std::int64_t copy) const {
    return sums + copy * this->sizes_.rows() * this->sizes_.width();
  }

  std::size_t sums_at_ = 0, product_sums_at_ = 0, products_at_ = 0, state_at_ = 0, cell_at_ = 0,
              partials_at_ = 0;
  std::size_t inputs_at_ = 0;
  std::unique_ptr<typename Base::StateProducts> state_product_;
  std::unique_ptr<Product> matrix_products_[2], input_product_;
  const T* output_ = nullptr;    // gradient
  T* input_ = nullptr;           // gradient, or null
  A* gradients_[4] = {};         // gradients of weight, recurrent, bias, and a second bias
  F* sums_ = nullptr;            // gradients of the gates' sums: [copy][step][sample][width]
  F* product_sums_ = nullptr;    // the same of the state's products; those of the sums unless r is
                                 // after the product
  A* state_products_ = nullptr;  // gradients of a step's states: [copy][sample][unit]
  A* state_ = nullptr;           // their sum: [sample][unit]
  A* cell_ = nullptr;            // gradient of the cell: [sample][unit]
  A* input_products_ = nullptr;  // gradients of the factors: [copy][step][sample][channel]
  double* partials_ = nullptr;
  std::uint32_t* finished_ = nullptr;
};

/// The executor of a step of lstm, gru or simple_rnn, stored in T.
template <class T, class Launcher, class Products>
[[nodiscard]] ExecutorPtr make_recurrent_on(const StepDescription& step, const Launcher& launcher,
                                            const Products& products) {
  if (step.pass == Pass::backward_data) {
    return std::make_unique<RecurrentBackward<T, Launcher, Products>>(step, launcher, products);
  }
  return std::make_unique<RecurrentForward<T, Launcher, Products>>(step, launcher, products);
}

}  // namespace trainyard
