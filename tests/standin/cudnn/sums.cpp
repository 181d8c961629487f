#include "sums.h"

#include <vector>

#include "compute/conv/unfold.h"
#include "compute/matmul/reference_products.h"
#include "elements.h"

namespace standin::cudnn {
namespace {

using namespace trainyard::reference;

float round_factor(float value, Rounding rounding) {
  if (rounding == Rounding::tf32) return rounded_to_tf32(value);
  return rounding == Rounding::bf16 ? static_cast<float>(trainyard::BFloat16(value)) : value;
}

/// f(i, at) for each element: its row-major index in the extents, its offset in memory.
template <class F>
void for_each(const Tensor& tensor, const F& f) {
  const auto [n, c, h, w] = tensor.extents;
  std::int64_t i = 0;
  for (std::int64_t a = 0; a < n; ++a) {
    for (std::int64_t b = 0; b < c; ++b) {
      for (std::int64_t y = 0; y < h; ++y) {
        std::int64_t at = a * tensor.strides[0] + b * tensor.strides[1] + y * tensor.strides[2];
        for (std::int64_t x = 0; x < w; ++x, at += tensor.strides[3]) f(i++, at);
      }
    }
  }
}

trainyard::DType type_of(cudnnDataType_t type) {
  return type == CUDNN_DATA_HALF       ? trainyard::DType::f16
         : type == CUDNN_DATA_BFLOAT16 ? trainyard::DType::bf16
                                       : trainyard::DType::f32;
}

/// A tensor as a plain array, row-major.
std::vector<float> load(const Tensor& tensor, void* memory, Rounding rounding = Rounding::none) {
  std::vector<float> plain(static_cast<std::size_t>(tensor.elements()));
  with_elements(type_of(tensor.type), memory, [&](const auto* from) {
    for_each(tensor, [&](std::int64_t i, std::int64_t at) {
      plain[static_cast<std::size_t>(i)] = round_factor(static_cast<float>(from[at]), rounding);
    });
  });
  return plain;
}

void store(const Tensor& tensor, const std::vector<float>& plain, void* memory) {
  with_elements(type_of(tensor.type), memory, [&]<class T>(T* to) {
    for_each(tensor, [&](std::int64_t i, std::int64_t at) {
      to[at] = T(plain[static_cast<std::size_t>(i)]);
    });
  });
}

/// result += beta * what the tensor holds.
void add(const Tensor& tensor, float beta, void* memory, std::vector<float>& result) {
  const std::vector<float> held = load(tensor, memory);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] += beta * held[i];
}

WindowWalk walk_of(const Convolution& conv) {
  return {.channels = conv.input.extents[1],
          .height = conv.input.extents[2],
          .width = conv.input.extents[3],
          .out_height = conv.output.extents[2],
          .out_width = conv.output.extents[3],
          .kernel_h = conv.weight.extents[2],
          .kernel_w = conv.weight.extents[3],
          .stride_h = conv.stride[0],
          .stride_w = conv.stride[1],
          .dilation_h = conv.dilation[0],
          .dilation_w = conv.dilation[1],
          .top = conv.before[0],
          .left = conv.before[1]};
}

/// The three computations over plain arrays, one image after the other.
class Sums {
 public:
  Sums(const Convolution& conv, const Manner& manner, float* input, float* weight, float* output,
       const float* bias)
      : walk_(walk_of(conv)),
        manner_(manner),
        images_(conv.input.extents[0]),
        groups_(conv.groups()),
        filters_(conv.output.extents[1] / groups_),
        taps_(walk_.taps() / groups_),
        input_(input),
        weight_(weight),
        output_(output),
        bias_(bias) {
    if (manner.unfolded != nullptr) return;
    on_host_.resize(static_cast<std::size_t>(matrix_elements() * manner.images_at_a_time));
  }

  void forward() {
    for (std::int64_t n = 0; n < images_; ++n) {
      unfold(n);
      multiply({.out = maps(n),
                .terms = matrix(n),
                .weight = weight_,
                .bias = bias_,
                .rows = filters_,
                .count = taps_,
                .length = walk_.positions(),
                .row_stride = taps_,
                .term_stride = 1});
    }
  }
  void input_gradient() {
    for (std::int64_t n = 0; n < images_; ++n) {
      multiply({.out = matrix(n),
                .terms = maps(n),
                .weight = weight_,
                .bias = nullptr,
                .rows = taps_,
                .count = filters_,
                .length = walk_.positions(),
                .row_stride = 1,
                .term_stride = taps_});
      for_rows(walk_.channels, Fold<float>{walk_, matrix(n), image(n)});
    }
  }
  void weight_gradient() {
    for (std::int64_t i = 0; i < images_; ++i) {
      const std::int64_t n = (i + manner_.first_image) % images_;
      unfold(n);
      const RowProducts<float> product{.out = weight_,
                                       .a = maps(n),
                                       .b = matrix(n),
                                       .bias = nullptr,
                                       .accumulate = i > 0,
                                       .rows = filters_,
                                       .count = taps_,
                                       .length = walk_.positions()};
      for_rows(product.tiles(groups_), product);
    }
  }

 private:
  [[nodiscard]] std::int64_t matrix_elements() const { return walk_.taps() * walk_.positions(); }
  [[nodiscard]] float* matrix(std::int64_t n) {
    auto* const first =
        manner_.unfolded != nullptr ? reinterpret_cast<float*>(manner_.unfolded) : on_host_.data();
    return first + n % manner_.images_at_a_time * matrix_elements();
  }
  [[nodiscard]] float* image(std::int64_t n) const { return input_ + n * walk_.image_elements(); }
  [[nodiscard]] float* maps(std::int64_t n) const {
    return output_ + n * groups_ * filters_ * walk_.positions();
  }
  void unfold(std::int64_t n) { for_rows(walk_.taps(), Unfold<float>{walk_, image(n), matrix(n)}); }
  void multiply(const WeightedRows<float>& product) const {
    for_rows(product.tiles(groups_), product);
  }

  WindowWalk walk_;
  Manner manner_;
  std::int64_t images_, groups_, filters_, taps_;
  float *input_, *weight_, *output_;
  const float* bias_;
  std::vector<float> on_host_;
};

}  // namespace

std::int64_t unfolded_bytes(const Convolution& convolution) {
  const WindowWalk walk = walk_of(convolution);
  return walk.taps() * walk.positions() * static_cast<std::int64_t>(sizeof(float));
}

void compute(const Convolution& conv, const Manner& manner, const Addresses& addresses) {
  const Computes computes = conv.computes;
  const auto plain = [&manner](const Tensor& tensor, void* memory, bool is_result) {
    return is_result ? std::vector<float>(static_cast<std::size_t>(tensor.elements()))
                     : load(tensor, memory, manner.rounding);
  };
  std::vector<float> input =
      plain(conv.input, addresses.input, computes == Computes::input_gradient);
  std::vector<float> weight =
      plain(conv.weight, addresses.weight, computes == Computes::weight_gradient);
  std::vector<float> output = plain(conv.output, addresses.output, computes == Computes::output);
  const std::vector<float> bias =
      conv.bias ? load(*conv.bias, addresses.bias) : std::vector<float>{};
  Sums sums(conv, manner, input.data(), weight.data(), output.data(),
            conv.bias ? bias.data() : nullptr);
  const auto finish = [&conv](const Tensor& tensor, std::vector<float>& result, void* memory) {
    if (conv.beta != 0) add(tensor, conv.beta, memory, result);
    store(tensor, result, memory);
  };
  switch (computes) {
    case Computes::output:
      sums.forward();
      return finish(conv.output, output, addresses.output);
    case Computes::input_gradient:
      sums.input_gradient();
      return finish(conv.input, input, addresses.input);
    case Computes::weight_gradient:
      sums.weight_gradient();
      return finish(conv.weight, weight, addresses.weight);
  }
}

}  // namespace standin::cudnn
