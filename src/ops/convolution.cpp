#include "ops/convolution.h"

#include <fmt/format.h>

#include "base/text.h"
#include "ops/bias.h"
#include "ops/initializers.h"

namespace trainyard {

std::vector<ParameterSpec> ConvolutionOp::parameters(std::int64_t filters,
                                                     std::int64_t channels) const {
  const std::int64_t window = attributes_.kernel.h * attributes_.kernel.w;
  ParameterSpec weight{
      .name = "weight",
      .shape = {filters, channels / attributes_.groups, attributes_.kernel.h, attributes_.kernel.w},
      .initializer = attributes_.init,
      .group = ParameterGroup::kernel,
      .l2 = attributes_.l2,
      .fan_in = window * channels / attributes_.groups,
      .fan_out = window * filters};
  std::vector<ParameterSpec> parameters{weight};
  if (attributes_.bias) parameters.push_back(bias_for(weight, attributes_.filters));
  return parameters;
}

std::string text_of(const ConvAttributes& conv) {
  return fmt::format(
      "filters: {}, kernel: {}, stride: {}, pad: {}, dilation: {}, groups: {}, bias: {}, init: {}, "
      "l2: {}",
      conv.filters, text_of(conv.kernel), text_of(conv.stride), text_of(conv.pad),
      text_of(conv.dilation), conv.groups, conv.bias, text_of(conv.init), number_text(conv.l2));
}

void declare(config::Fields& fields, ConvAttributes& conv) {
  conv.init = default_kernel_initializer(fields.profile());
  fields.required("filters", conv.filters, "output channels",
                  {.minimum = 1, .maximum = kMostChannels});
  fields.required("kernel", conv.kernel, "size of the window; one number or [h, w]",
                  {.minimum = 1, .maximum = kLargestWindow});
  fields.field("stride", conv.stride, "step of the window; one number or [h, w]",
               {.minimum = 1, .maximum = kLargestWindow});
  declare_padding(fields, "pad", conv.pad,
                  "pixels, [h, w], valid, same_upper, same_lower or same_symmetric");
  fields.field("dilation", conv.dilation,
               "distance between the window's taps; one number or [h, w]",
               {.minimum = 1, .maximum = kLargestWindow});
  fields.field("groups", conv.groups, "number of independent channel groups",
               {.minimum = 1, .maximum = kMostChannels});
  fields.field("bias", conv.bias, "add a bias to each output channel");
  declare_initializer(fields, "init", conv.init, "initializer of the kernel");
  fields.field("l2", conv.l2, "adds l2 * sum(w^2) of the kernel to the loss, as Keras does",
               {.minimum = 0});
}

}  // namespace trainyard
