// The colours and the preprocessing of samples in float: programs as data, one Team per sample.
#pragma once

#include <type_traits>
#include <variant>

#include "base/math.h"
#include "data/augment/augmentations.h"
#include "data/augment/colour_transform.h"
#include "data/augment/pixel_transform.h"
#include "data/augment/sample_view.h"

namespace trainyard {

/// Makes the change that a colour step names, in place.
template <class Team, class... Changes>
TY_HD void change_colours(const Team& team, const ColourTransform& step, const SampleView& sample,
                          std::type_identity<std::variant<Changes...>> /*list*/) {
  static_cast<void>(
      ((step.change == Changes::kNumber && (Changes::apply(team, step, sample), true)) || ...));
}

/// A preprocessing step of a sample, in place.
template <class Team>
struct PixelChange {
  const Team& team;
  const PixelTransform& step;
  SampleView sample;

  TY_HD void subtract_mean() const {
    const float mean = static_cast<float>(sample.mean(team));
    sample.map(team, [&](float x, std::int64_t) { return x - mean; });
  }
  TY_HD void divide_deviation() const {
    const double mean = sample.mean(team);
    const std::int64_t count = sample.channels * sample.plane;
    const double squares = team.template sum<double>(count, [&](std::int64_t i) {
      const double off = static_cast<double>(sample.values[i]) - mean;
      return off * off;
    });
    const float by = static_cast<float>(math::sqrt(squares / static_cast<double>(count))) + 1e-7f;
    sample.map(team, [&](float x, std::int64_t) { return x / by; });
  }
  TY_HD void run() const {
    // One loop per kind, which the compiler vectorises.
    switch (step.kind) {
      case PixelTransform::Kind::scale:
        return each<PixelTransform::Kind::scale>();
      case PixelTransform::Kind::subtract_image:
        return each<PixelTransform::Kind::subtract_image>();
      case PixelTransform::Kind::subtract_channel:
        return each<PixelTransform::Kind::subtract_channel>();
      case PixelTransform::Kind::divide_channel:
        return each<PixelTransform::Kind::divide_channel>();
      case PixelTransform::Kind::subtract_mean:
        return subtract_mean();
      case PixelTransform::Kind::divide_deviation:
        return divide_deviation();
    }
  }

 private:
  template <PixelTransform::Kind kKind>
  TY_HD void each() const {
    const PixelTransform known{kKind, step.factor, step.values, step.count};
    for (std::int64_t c = 0; c < sample.channels; ++c) {
      const std::int64_t first = c * sample.plane;
      float* const of = sample.values + first;
      team.each(sample.plane, [&](std::int64_t i) { of[i] = known.applied(of[i], c, first + i); });
    }
  }
};

/// The preprocessing of a sample, in order.
struct PixelProgram {
  std::int32_t count = 0;  // at most kMostPixelSteps
  PixelTransform steps[kMostPixelSteps] = {};
};

/// Colour steps, then preprocessing, of samples in place. One team per sample.
struct SampleProgram {
  float* samples = nullptr;  // [n, channels, plane]
  std::int64_t channels = 0, plane = 0;
  std::int32_t width = 0;
  float* room = nullptr;                     // [n, SampleView::room_of(plane)], if it is needed
  const ColourTransform* colours = nullptr;  // [n, colour_transforms]
  std::int32_t colour_transforms = 0;
  PixelProgram pixels = {};

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t n) const {
    float* const own_room = room == nullptr ? nullptr : room + n * SampleView::room_of(plane);
    const SampleView sample{samples + n * channels * plane, channels, plane, width, own_room};
    for (std::int32_t k = 0; k < colour_transforms; ++k) {
      change_colours(team, colours[n * colour_transforms + k], sample,
                     std::type_identity<ColourChanges>{});
    }
    for (std::int32_t k = 0; k < pixels.count; ++k) {
      PixelChange<Team>{team, pixels.steps[k], sample}.run();
    }
  }
};

}  // namespace trainyard
