// The colours and the preprocessing of samples in float: programs as data, one Team per sample.
#pragma once

#include "base/math.h"
#include "base/philox.h"
#include "data/augment/colour_math.h"
#include "data/augment/colour_step.h"
#include "data/augment/pixel_step.h"

namespace trainyard {

/// A sample, [channels, plane] with plane = h * w.
struct SampleView {
  float* values;
  std::int64_t channels, plane;
  std::int32_t width;

  /// Calls f(value, channel) on every value, in place.
  template <class Team, class F>
  TY_HD void map(const Team& team, const F& f) const {
    for (std::int64_t c = 0; c < channels; ++c) {
      float* const of = values + c * plane;
      team.each(plane, [&](std::int64_t i) { of[i] = f(of[i], c); });
    }
  }
  /// Calls f(Rgb) on every pixel of three channels, in place.
  template <class Team, class F>
  TY_HD void map_pixels(const Team& team, const F& f) const {
    float *const r = values, *const g = values + plane, *const b = values + 2 * plane;
    team.each(plane, [&](std::int64_t i) {
      const Rgb p = f(Rgb{r[i], g[i], b[i]});
      r[i] = p.r;
      g[i] = p.g;
      b[i] = p.b;
    });
  }
  [[nodiscard]] TY_HD Rgb pixel(std::int64_t i) const {
    return {values[i], values[plane + i], values[2 * plane + i]};
  }
  template <class Team>
  [[nodiscard]] TY_HD float largest(const Team& team) const {
    return team.template max<float>(channels * plane, -math::kInfinity<float>,
                                    [&](std::int64_t i) { return values[i]; });
  }
  template <class Team>
  [[nodiscard]] TY_HD float least(const Team& team) const {
    return -team.template max<float>(channels * plane, -math::kInfinity<float>,
                                     [&](std::int64_t i) { return -values[i]; });
  }
  /// In double.
  template <class Team>
  [[nodiscard]] TY_HD double mean(const Team& team) const {
    const std::int64_t count = channels * plane;
    const double sum = team.template sum<double>(
        count, [&](std::int64_t i) { return static_cast<double>(values[i]); });
    return sum / static_cast<double>(count);
  }
};

/// A colour step of a sample.
template <class Team>
struct ColourChange {
  const Team& team;
  const ColourStep& step;
  SampleView sample;

  TY_HD void shift_channels() const {
    const float least = sample.least(team), most = sample.largest(team);
    sample.map(team,
               [&](float x, std::int64_t c) { return limited(x + step.amount[c], least, most); });
  }
  /// Keras 2.1.6's brightness: array_to_img, whose scaling makes the largest value 255, then
  /// Pillow's ImageEnhance.Brightness.
  TY_HD void stretch() const {
    const float least = sample.least(team);
    const float raised = least < 0.0f ? -least : 0.0f;
    const float most = sample.largest(team) + raised;
    const float factor = step.amount[0];
    sample.map(team, [&](float x, std::int64_t) {
      const float up = x + raised;
      const float whole = __builtin_floorf(most != 0.0f ? up / most * 255.0f : up);
      const float bright = factor * whole;
      return bright >= 255.0f ? 255.0f : __builtin_floorf(bright);
    });
  }
  TY_HD void shift_hls() const {
    sample.map_pixels(team, [&](const Rgb& p) {
      const Rgb bytes{as_byte(p.r), as_byte(p.g), as_byte(p.b)};
      return with_hls_added(bytes, step.amount[0], step.amount[1], step.amount[2]);
    });
  }
  TY_HD void brightness() const {
    sample.map(team,
               [&](float x, std::int64_t) { return limited(step.amount[0] * x, 0.0f, 255.0f); });
  }
  TY_HD void contrast() const {
    const double grey = team.template sum<double>(sample.plane, [&](std::int64_t i) {
      return static_cast<double>(grey_of(sample.pixel(i)));
    });
    const float rest =
        (1.0f - step.amount[0]) * static_cast<float>(grey / static_cast<double>(sample.plane));
    sample.map(team, [&](float x, std::int64_t) {
      return limited(step.amount[0] * x + rest, 0.0f, 255.0f);
    });
  }
  TY_HD void saturation() const {
    const float kept = step.amount[0];
    sample.map_pixels(team, [&](const Rgb& p) {
      const float grey = (1.0f - kept) * grey_of(p);
      return Rgb{limited(kept * p.r + grey, 0.0f, 255.0f), limited(kept * p.g + grey, 0.0f, 255.0f),
                 limited(kept * p.b + grey, 0.0f, 255.0f)};
    });
  }
  TY_HD void hue() const {
    sample.map_pixels(team, [&](const Rgb& p) { return with_hue_turned(p, step.amount[0]); });
  }
  TY_HD void erase() const {
    map_box([&](std::int64_t, std::int64_t channel) { return step.amount_of(channel); });
  }
  TY_HD void erase_randomly() const {
    map_box([&](std::int64_t pixel, std::int64_t channel) {
      const Random4 random =
          random4(step.seed, RandomStream::augment, static_cast<std::uint32_t>(channel / 4), 0,
                  static_cast<std::uint64_t>(pixel));
      return static_cast<float>(random.word[channel % 4] >> 24);
    });
  }
  TY_HD void run() const {
    switch (step.kind) {
      case ColourStep::Kind::none:
        return;
      case ColourStep::Kind::shift_channels:
        return shift_channels();
      case ColourStep::Kind::stretch:
        return stretch();
      case ColourStep::Kind::shift_hls:
        return shift_hls();
      case ColourStep::Kind::brightness:
        return brightness();
      case ColourStep::Kind::contrast:
        return contrast();
      case ColourStep::Kind::saturation:
        return saturation();
      case ColourStep::Kind::hue:
        return hue();
      case ColourStep::Kind::erase:
        return erase();
      case ColourStep::Kind::erase_randomly:
        return erase_randomly();
    }
  }

 private:
  /// Sets the pixels of the step's box to f(pixel, channel).
  template <class F>
  TY_HD void map_box(const F& f) const {
    const std::int64_t width = step.box[3] - step.box[2];
    const std::int64_t pixels = (step.box[1] - step.box[0]) * width;
    for (std::int64_t c = 0; c < sample.channels; ++c) {
      float* const of = sample.values + c * sample.plane;
      team.each(pixels, [&](std::int64_t i) {
        const std::int64_t pixel =
            (step.box[0] + i / width) * sample.width + step.box[2] + i % width;
        of[pixel] = f(pixel, c);
      });
    }
  }
};

/// A preprocessing step of a sample, in place.
template <class Team>
struct PixelChange {
  const Team& team;
  const PixelStep& step;
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
      case PixelStep::Kind::scale:
        return each<PixelStep::Kind::scale>();
      case PixelStep::Kind::subtract_image:
        return each<PixelStep::Kind::subtract_image>();
      case PixelStep::Kind::subtract_channel:
        return each<PixelStep::Kind::subtract_channel>();
      case PixelStep::Kind::divide_channel:
        return each<PixelStep::Kind::divide_channel>();
      case PixelStep::Kind::subtract_mean:
        return subtract_mean();
      case PixelStep::Kind::divide_deviation:
        return divide_deviation();
    }
  }

 private:
  template <PixelStep::Kind kKind>
  TY_HD void each() const {
    const PixelStep known{kKind, step.factor, step.values, step.count};
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
  PixelStep steps[kMostPixelSteps] = {};
};

/// Colour steps, then preprocessing, of samples in place. One team per sample.
struct SampleProgram {
  float* samples = nullptr;  // [n, channels, plane]
  std::int64_t channels = 0, plane = 0;
  std::int32_t width = 0;
  const ColourStep* colours = nullptr;  // [n, colour_steps]
  std::int32_t colour_steps = 0;
  PixelProgram pixels = {};

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t n) const {
    const SampleView sample{samples + n * channels * plane, channels, plane, width};
    for (std::int32_t k = 0; k < colour_steps; ++k) {
      ColourChange<Team>{team, colours[n * colour_steps + k], sample}.run();
    }
    for (std::int32_t k = 0; k < pixels.count; ++k) {
      PixelChange<Team>{team, pixels.steps[k], sample}.run();
    }
  }
};

}  // namespace trainyard
