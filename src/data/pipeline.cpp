#include "data/pipeline.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace trainyard {

void Augmentation::apply_eval(const Shape& shape, const float* in, float* out) const {
  TY_CHECK(output_shape(shape) == shape, "an augmentation that resizes needs its own evaluation");
  std::copy_n(in, shape.elements(), out);
}

Pipeline::Pipeline(Shape image, std::vector<std::unique_ptr<Augmentation>> augment,
                   std::vector<std::unique_ptr<Preprocess>> preprocess)
    : output_(image),
      largest_(image.elements()),
      augment_(std::move(augment)),
      preprocess_(std::move(preprocess)) {
  for (const auto& augmentation : augment_) {
    shapes_.push_back(output_);
    output_ = augmentation->output_shape(output_);
    largest_ = std::max(largest_, output_.elements());
  }
}

bool Pipeline::needs_statistics() const {
  return std::any_of(preprocess_.begin(), preprocess_.end(),
                     [](const auto& step) { return step->needs_statistics(); });
}

void Pipeline::prepare(Statistics statistics) {
  for (const auto& step : preprocess_) step->prepare(statistics, output_);
}

template <class Apply>
void Pipeline::fill(const Dataset& set, std::int64_t index, float* scratch, float* out,
                    const Apply& apply) const {
  float* current = augment_.empty() ? out : scratch;
  set.read(index, current);
  for (std::size_t i = 0; i < augment_.size(); ++i) {
    float* other = scratch + (i % 2 == 0 ? largest_ : 0);
    float* next = i + 1 == augment_.size() ? out : other;
    apply(*augment_[i], static_cast<std::uint32_t>(i), shapes_[i], current, next);
    current = next;
  }
  for (const auto& step : preprocess_) step->apply(output_, out);
}

void Pipeline::fill_train(const Dataset& set, const SampleKey& key, float* scratch,
                          float* out) const {
  fill(set, key.index, scratch, out,
       [&](const Augmentation& augmentation, std::uint32_t draw, const Shape& shape,
           const float* from, float* to) { augmentation.apply(key, draw, shape, from, to); });
}

void Pipeline::fill_eval(const Dataset& set, std::int64_t index, float* scratch, float* out) const {
  fill(set, index, scratch, out,
       [](const Augmentation& augmentation, std::uint32_t, const Shape& shape, const float* from,
          float* to) { augmentation.apply_eval(shape, from, to); });
}

}  // namespace trainyard
