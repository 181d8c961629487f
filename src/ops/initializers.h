// Initial weights as a pure function of the seed and the parameter.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ops/op.h"

namespace trainyard {

/// Fills `out` (parameter.shape.elements() values, row-major). Every element is drawn by Philox
/// from (seed, parameter_key, element), so a weight does not depend on other layers, the order of
/// parameters or threads. `parameter_key` is a hash of the parameter's path.
///
/// With i = fan_in and o = fan_out: glorot +-sqrt(6 / (i + o)) or deviation sqrt(2 / (i + o))
/// (Glorot and Bengio 2010); he sqrt(6 / i), sqrt(2 / i) (He et al. 2015); lecun sqrt(3 / i),
/// sqrt(1 / i); the three normal ones truncated at two deviations without correcting the deviation
/// for it (Keras before 2018-05-07). msra: normal, sqrt(2 / i), not truncated, and xavier: uniform
/// +-sqrt(3 / i), as in Caffe. torch_default: uniform +-1 / sqrt(i), PyTorch's for conv and linear.
/// orthogonal: the matrix [shape[0], rest] has orthonormal rows, or columns where it has more rows
/// than columns (Saxe et al. 2014). dirac: kernel j passes channel j through its centre tap;
/// {dirac: partial} draws the kernels beyond the channels as torch_default (airbench).
/// whitening: from the training samples (Model::initialize), without them as torch_default.
/// forget_gate: 1 in the second of four equal parts, else 0.
void initialize(const ParameterSpec& parameter, std::uint64_t seed, std::uint64_t parameter_key,
                std::span<float> out);

/// `init: he_normal`, `init: {constant: 0.1}`, `init: {normal: 0.01}`, `init: {uniform: 0.05}`.
void declare_initializer(config::Fields& fields, std::string_view key, Initializer& out,
                         std::string_view help);
/// The initializer of kernels that the profile's framework uses (docs/profiles.md).
[[nodiscard]] Initializer default_kernel_initializer(config::Profile profile);
/// As it would be written.
[[nodiscard]] std::string text_of(const Initializer& initializer);

/// Zeros, or with torch_default the kernel's own rule (uniform +-1 / sqrt(fan_in of the kernel)).
[[nodiscard]] ParameterSpec bias_for(const ParameterSpec& kernel, std::int64_t outputs);

}  // namespace trainyard
