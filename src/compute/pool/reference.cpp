#include <algorithm>
#include <vector>

#include "base/math.h"
#include "compute/devices/reference_executors.h"
#include "compute/plain_tensor.h"
#include "launcher/launch.h"
#include "ops/pool.h"

namespace trainyard::reference {
namespace {

/// The part of one axis that a window covers: [first, last) of the input, and the cells of it that
/// count_pad counts.
struct Span {
  std::int64_t first, last, counted;
};

struct Window {
  Span rows, columns;
  /// What a mean divides by.
  [[nodiscard]] std::int64_t divisor(bool count_pad) const {
    if (count_pad) return rows.counted * columns.counted;
    return (rows.last - rows.first) * (columns.last - columns.first);
  }
};

/// One plane of a map.
struct PoolWalk {
  std::int64_t height, width, out_height, out_width;
  config::Pair size, stride;
  Margins margins, counted;

  PoolWalk(const PoolOp::Geometry& geometry, const Shape& input)
      : height(input.h()),
        width(input.w()),
        out_height(geometry.output_h),
        out_width(geometry.output_w),
        size(geometry.size),
        stride(geometry.stride),
        margins(geometry.margins),
        counted(geometry.counted) {}

  [[nodiscard]] std::int64_t plane() const { return height * width; }
  [[nodiscard]] std::int64_t windows() const { return out_height * out_width; }
  /// visit(index, window) for the windows in row-major order.
  template <class Visit>
  void each_window(const Visit& visit) const {
    for (std::int64_t oh = 0, index = 0; oh < out_height; ++oh) {
      const Span rows = span(oh * stride.h - margins.top, size.h, height, counted.bottom);
      for (std::int64_t ow = 0; ow < out_width; ++ow, ++index) {
        visit(index,
              Window{rows, span(ow * stride.w - margins.left, size.w, width, counted.right)});
      }
    }
  }
  /// visit(i) for the elements of the plane under a window, row by row.
  template <class Visit>
  void each_element(const Window& window, const Visit& visit) const {
    for (std::int64_t h = window.rows.first; h < window.rows.last; ++h) {
      for (std::int64_t w = window.columns.first; w < window.columns.last; ++w) {
        visit(h * width + w);
      }
    }
  }

 private:
  static Span span(std::int64_t start, std::int64_t length, std::int64_t extent,
                   std::int64_t behind) {
    return {std::max<std::int64_t>(start, 0), std::min(start + length, extent),
            std::min(start + length, extent + behind) - start};
  }
};

/// A row is a plane. The first of equal values wins; NaN wins over everything, so that it is not
/// lost.
template <class T>
struct MaxForward {
  PoolWalk walk;
  const T* input;
  T* output;
  std::int32_t* argmax;  // index into the plane, or null
  template <class Team>
  void operator()(const Team&, std::int64_t plane) const {
    const T* x = input + plane * walk.plane();
    const std::int64_t first = plane * walk.windows();
    walk.each_window([&](std::int64_t index, const Window& window) {
      std::int64_t best = window.rows.first * walk.width + window.columns.first;
      walk.each_element(window, [&](std::int64_t i) {
        if (x[best] == x[best] && !(x[i] <= x[best])) best = i;
      });
      output[first + index] = x[best];
      if (argmax != nullptr) argmax[first + index] = static_cast<std::int32_t>(best);
    });
  }
};

/// A row is a plane; windows in order.
template <class T>
struct MaxBackward {
  PoolWalk walk;
  const T* output_gradient;
  const std::int32_t* argmax;
  T* input_gradient;
  template <class Team>
  void operator()(const Team&, std::int64_t plane) const {
    T* dx = input_gradient + plane * walk.plane();
    std::fill_n(dx, walk.plane(), T(0));
    const std::int64_t first = plane * walk.windows();
    for (std::int64_t at = first; at < first + walk.windows(); ++at) {
      dx[argmax[at]] += output_gradient[at];
    }
  }
};

/// A row is a plane; a window is summed row by row.
template <class T>
struct AverageForward {
  PoolWalk walk;
  const T* input;
  T* output;
  bool count_pad;
  template <class Team>
  void operator()(const Team&, std::int64_t plane) const {
    const T* x = input + plane * walk.plane();
    T* y = output + plane * walk.windows();
    walk.each_window([&](std::int64_t index, const Window& window) {
      T total = 0;
      walk.each_element(window, [&](std::int64_t i) { total += x[i]; });
      y[index] = total / static_cast<T>(window.divisor(count_pad));
    });
  }
};

/// A row is a plane; windows in order.
template <class T>
struct AverageBackward {
  PoolWalk walk;
  const T* output_gradient;
  T* input_gradient;
  bool count_pad;
  template <class Team>
  void operator()(const Team&, std::int64_t plane) const {
    T* dx = input_gradient + plane * walk.plane();
    std::fill_n(dx, walk.plane(), T(0));
    const T* dy = output_gradient + plane * walk.windows();
    walk.each_window([&](std::int64_t index, const Window& window) {
      const T share = dy[index] / static_cast<T>(window.divisor(count_pad));
      walk.each_element(window, [&](std::int64_t i) { dx[i] += share; });
    });
  }
};

/// Both passes of both kinds. The argmax of a maximum is stored in the reserve, row-major.
template <class T>
class Pool final : public Executor {
 public:
  Pool(const StepDescription& step, const PoolOp& op)
      : launcher_(step.threads),
        pass_(step.pass),
        attributes_(op.values()),
        walk_(op.geometry(shape_of(step.inputs[0])), shape_of(step.inputs[0])),
        planes_(step.inputs[0].extent[0] * step.inputs[0].extent[1]),
        input_(step.inputs[0], step.storage, scratch_),
        output_(step.outputs[0], step.storage, scratch_) {}
  [[nodiscard]] std::size_t workspace_bytes() const override { return scratch_.used(); }
  [[nodiscard]] std::size_t reserve_bytes() const override {
    if (!is_max() || pass_ == Pass::forward_eval) return 0;
    return static_cast<std::size_t>(planes_ * walk_.windows()) * sizeof(std::int32_t);
  }
  void bind(const StepTensors& tensors) override {
    const bool backward = pass_ == Pass::backward_data;
    input_.bind(backward ? tensors.input_gradients[0] : tensors.inputs[0], tensors.workspace);
    output_.bind(backward ? tensors.output_gradients[0] : tensors.outputs[0], tensors.workspace);
    argmax_ = pass_ == Pass::forward_eval ? nullptr : static_cast<std::int32_t*>(tensors.reserve);
  }
  void run() override {
    if (pass_ == Pass::backward_data) {
      output_.load(launcher_);
      run_backward();
      input_.store(launcher_);
    } else {
      input_.load(launcher_);
      run_forward();
      output_.store(launcher_);
    }
  }

 private:
  [[nodiscard]] bool is_max() const { return attributes_.kind == PoolAttributes::Kind::max; }
  void run_forward() const {
    if (is_max()) {
      launcher_.rows(planes_, MaxForward<T>{walk_, input_.data(), output_.data(), argmax_});
    } else {
      launcher_.rows(
          planes_, AverageForward<T>{walk_, input_.data(), output_.data(), attributes_.count_pad});
    }
  }
  void run_backward() const {
    if (is_max()) {
      launcher_.rows(planes_, MaxBackward<T>{walk_, output_.data(), argmax_, input_.data()});
    } else {
      launcher_.rows(
          planes_, AverageBackward<T>{walk_, output_.data(), input_.data(), attributes_.count_pad});
    }
  }

  CpuLauncher launcher_;
  Pass pass_;
  PoolAttributes attributes_;
  PoolWalk walk_;
  std::int64_t planes_;
  OffsetAllocator scratch_;
  PlainTensor<T> input_;   // or its gradient
  PlainTensor<T> output_;  // or its gradient
  std::int32_t* argmax_ = nullptr;
};

/// magnitude^exponent, 1 for an exponent of 0.
template <class T>
T raised(T magnitude, T exponent) {
  if (exponent == 0) return T(1);
  return magnitude > 0 ? math::exp(exponent * math::log(magnitude)) : magnitude;
}

/// Power-average pooling: tensors are x and y and, of the backward pass, dy and dx.
template <class T>
class PowerPool final : public Executor {
 public:
  PowerPool(const StepDescription& step, const PoolOp& op)
      : launcher_(step.threads),
        backward_(step.pass == Pass::backward_data),
        p_(static_cast<T>(op.values().p)),
        walk_(op.geometry(shape_of(step.inputs[0])), shape_of(step.inputs[0])),
        planes_(step.inputs[0].extent[0] * step.inputs[0].extent[1]) {
    for (const Layout& layout :
         {step.inputs[0], step.outputs[0], step.outputs[0], step.inputs[0]}) {
      tensors_.emplace_back(layout, step.storage, scratch_);
    }
  }
  [[nodiscard]] std::size_t workspace_bytes() const override { return scratch_.used(); }
  void bind(const StepTensors& tensors) override {
    tensors_[0].bind(tensors.inputs[0], tensors.workspace);
    tensors_[1].bind(tensors.outputs[0], tensors.workspace);
    if (!backward_) return;
    tensors_[2].bind(tensors.output_gradients[0], tensors.workspace);
    tensors_[3].bind(tensors.input_gradients[0], tensors.workspace);
  }
  void run() override {
    tensors_[0].load(launcher_);
    if (backward_) {
      for (const int i : {1, 2}) tensors_[i].load(launcher_);
      std::fill_n(tensors_[3].data(), planes_ * walk_.plane(), T(0));
    }
    for (std::int64_t plane = 0; plane < planes_; ++plane) {
      walk_.each_window([&](std::int64_t index, const Window& window) {
        backward_ ? spread(plane, index, window) : sum(plane, index, window);
      });
    }
    tensors_[backward_ ? 3 : 1].store(launcher_);
  }

 private:
  void sum(std::int64_t plane, std::int64_t index, const Window& window) {
    const T* const x = tensors_[0].data() + plane * walk_.plane();
    T total = 0;
    walk_.each_element(window, [&](std::int64_t i) { total += raised(math::abs(x[i]), p_); });
    tensors_[1].data()[plane * walk_.windows() + index] = raised(total, 1 / p_);
  }
  void spread(std::int64_t plane, std::int64_t index, const Window& window) {
    const std::int64_t at = plane * walk_.windows() + index;
    const T* const x = tensors_[0].data() + plane * walk_.plane();
    T* const dx = tensors_[3].data() + plane * walk_.plane();
    const T y = tensors_[1].data()[at], dy = tensors_[2].data()[at];
    if (y == 0) return;
    walk_.each_element(window, [&](std::int64_t i) {
      const T slope = raised(math::abs(x[i]) / y, p_ - 1);
      dx[i] += dy * (x[i] > 0 ? slope : x[i] < 0 ? -slope : x[i]);
    });
  }

  CpuLauncher launcher_;
  bool backward_;
  T p_;
  PoolWalk walk_;
  std::int64_t planes_;
  OffsetAllocator scratch_;
  std::vector<PlainTensor<T>> tensors_;
};

}  // namespace

template <class T>
ExecutorPtr make_pool(const StepDescription& step) {
  if (op_as<PoolOp>(step).values().kind == PoolAttributes::Kind::power) {
    return std::make_unique<PowerPool<T>>(step, op_as<PoolOp>(step));
  }
  return std::make_unique<Pool<T>>(step, op_as<PoolOp>(step));
}

template ExecutorPtr make_pool<float>(const StepDescription&);
template ExecutorPtr make_pool<double>(const StepDescription&);

}  // namespace trainyard::reference
