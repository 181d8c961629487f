// Changes of the bytes of a sample, as Pillow makes them: the operations of torchvision's PIL form,
// to the bit. Values that are no bytes are rounded to them first.
//
// Changes that an augmentation makes with a probability (random_change.h) have its kName, kHelp
// and, if it has a key, read(), which gives amount[0].
#pragma once

#include "data/augment/colour_transform.h"
#include "data/augment/sample_view.h"

namespace trainyard {

/// `from` with the factor 0, `to` with 1, and what is beyond them; rounded down (Pillow,
/// libImaging/Blend.c).
TY_HD float blended(float from, float to, float factor) {
  return __builtin_floorf(limited(from + factor * (to - from), 0.0f, 255.0f));
}

/// The grey of pixel i (Pillow, libImaging/Convert.c, L24). All sums are whole numbers below 2^24.
TY_HD float grey_byte(const SampleView& sample, std::int64_t i) {
  if (sample.channels < 3) return as_byte(sample.values[i]);
  const Rgb p = sample.pixel(i);
  const float sum = 19595.0f * as_byte(p.r) + 38470.0f * as_byte(p.g) + 7471.0f * as_byte(p.b);
  return __builtin_floorf((sum + 32768.0f) * (1.0f / 65536.0f));
}

/// Calls f(byte, grey of its pixel) on every value, in place.
template <class Team, class F>
TY_HD void map_with_grey(const Team& team, const SampleView& sample, const F& f) {
  team.each(sample.plane, [&](std::int64_t i) {
    const float grey = grey_byte(sample, i);
    for (std::int64_t c = 0; c < sample.channels; ++c) {
      float& value = sample.values[c * sample.plane + i];
      value = f(as_byte(value), grey);
    }
  });
}

/// amount[0] times the value (ImageEnhance.Brightness).
struct BlendBlack {
  static constexpr std::uint32_t kNumber = change_number("blend_black");
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    const float factor = step.amount[0];
    sample.map(team, [=](float x, std::int64_t) { return blended(0.0f, as_byte(x), factor); });
  }
};

/// amount[0] times the distance from the pixel's grey (ImageEnhance.Color).
struct BlendGrey {
  static constexpr std::uint32_t kNumber = change_number("blend_grey");
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    const float factor = step.amount[0];
    map_with_grey(team, sample, [=](float x, float grey) { return blended(grey, x, factor); });
  }
};

/// amount[0] times the distance from the sample's mean grey, a whole number
/// (ImageEnhance.Contrast).
struct BlendMean {
  static constexpr std::uint32_t kNumber = change_number("blend_mean");
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    const double sum = team.template sum<double>(
        sample.plane, [&](std::int64_t i) { return static_cast<double>(grey_byte(sample, i)); });
    const double mean = __builtin_floor(sum / static_cast<double>(sample.plane) + 0.5);
    const float grey = static_cast<float>(mean), factor = step.amount[0];
    sample.map(team, [=](float x, std::int64_t) { return blended(grey, as_byte(x), factor); });
  }
};

/// amount[0] times the distance from the mean of 3 x 3 pixels, the middle one with weight 5, which
/// is rounded first; pixels of the border stay (ImageEnhance.Sharpness, ImageFilter.SMOOTH).
struct Sharpen {
  static constexpr std::string_view kName = "sharpness";
  static constexpr std::string_view kHelp = "sharpens or smooths with a probability";
  static constexpr std::uint32_t kNumber = change_number(kName);
  static constexpr bool kNeedsRoom = true;
  template <class Fields>
  static float read(Fields& fields) {
    double factor = 1;
    fields.required("factor", factor, "0 smooths, 1 leaves as it is, 2 sharpens",
                    {.minimum = 0, .maximum = 100});
    return static_cast<float>(factor);
  }
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    const std::int64_t width = sample.width, below = sample.plane - width;
    sample.map_planes(team, [&](const float* from, std::int64_t i) {
      const std::int64_t x = i % width;
      const float own = as_byte(from[i]);
      if (x == 0 || x == width - 1 || i < width || i >= below) return own;
      float sum = 4.0f * own;
      for (std::int64_t line = i - width; line <= i + width; line += width) {
        sum += as_byte(from[line - 1]) + as_byte(from[line]) + as_byte(from[line + 1]);
      }
      return blended(__builtin_floorf((2.0f * sum + 13.0f) / 26.0f), own, step.amount[0]);
    });
  }
};

/// Each channel stretched linearly to 0..255 and rounded down; one of a single value stays
/// (ImageOps.autocontrast).
struct StretchBytes {
  static constexpr std::string_view kName = "autocontrast";
  static constexpr std::string_view kHelp = "stretches each channel to 0..255 with a probability";
  static constexpr std::uint32_t kNumber = change_number(kName);
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform&, const SampleView& sample) {
    for (std::int64_t c = 0; c < sample.channels; ++c) {
      const SampleView channel = sample.channel(c);
      const float least = as_byte(channel.least(team)), most = as_byte(channel.largest(team));
      const double range = static_cast<double>(most) - static_cast<double>(least);
      const double scale = range > 0 ? 255.0 / range : 1.0;
      const double offset = range > 0 ? -static_cast<double>(least) * scale : 0.0;
      channel.map(team, [=](float x, std::int64_t) {
        const double stretched = static_cast<double>(as_byte(x)) * scale + offset;
        return limited(static_cast<float>(__builtin_floor(stretched)), 0.0f, 255.0f);
      });
    }
  }
};

/// Each channel by the number of its pixels below a value, so that all values become about equally
/// frequent (ImageOps.equalize).
struct EqualizeBytes {
  static constexpr std::string_view kName = "equalize";
  static constexpr std::string_view kHelp = "equalizes each channel's values with a probability";
  static constexpr std::uint32_t kNumber = change_number(kName);
  static constexpr bool kNeedsRoom = true;
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform&, const SampleView& sample) {
    for (std::int64_t c = 0; c < sample.channels; ++c) equalize(team, sample.channel(c));
  }

 private:
  template <class Team>
  TY_HD static void equalize(const Team& team, const SampleView& channel) {
    const float most = as_byte(channel.largest(team));
    const double below = team.template sum<double>(channel.plane, [&](std::int64_t i) {
      return as_byte(channel.values[i]) < most ? 1.0 : 0.0;
    });
    const std::int64_t step = static_cast<std::int64_t>(below) / 255;
    if (step == 0) return channel.map(team, [](float x, std::int64_t) { return as_byte(x); });
    fill_table(team, channel, [&](std::int64_t pixels) {
      const std::int64_t value = (pixels + step / 2) / step;
      return static_cast<float>(value < 255 ? value : 255);
    });
    const float* const table = channel.table();
    channel.map(
        team, [=](float x, std::int64_t) { return table[static_cast<std::int64_t>(as_byte(x))]; });
  }
  /// table[v] = entry(the number of pixels below v): by a histogram in one thread, else each entry
  /// by a lane.
  template <class Team, class Entry>
  TY_HD static void fill_table(const Team& team, const SampleView& channel, const Entry& entry) {
    constexpr std::int64_t kTable = SampleView::kTable;
    float* const table = channel.table();
    if constexpr (Team::kSerial) {
      std::int64_t counts[kTable] = {}, below = 0;
      for (std::int64_t i = 0; i < channel.plane; ++i) {
        ++counts[static_cast<std::int64_t>(as_byte(channel.values[i]))];
      }
      for (std::int64_t v = 0; v < kTable; below += counts[v++]) table[v] = entry(below);
    } else {
      team.each(kTable, [&](std::int64_t v) {
        std::int64_t below = 0;
        for (std::int64_t i = 0; i < channel.plane; ++i) {
          below += as_byte(channel.values[i]) < static_cast<float>(v) ? 1 : 0;
        }
        table[v] = entry(below);
      });
    }
  }
};

/// 255 - x (ImageOps.invert).
struct InvertBytes {
  static constexpr std::string_view kName = "invert";
  static constexpr std::string_view kHelp = "255 - x of all values with a probability";
  static constexpr std::uint32_t kNumber = change_number(kName);
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform&, const SampleView& sample) {
    sample.map(team, [](float x, std::int64_t) { return 255.0f - as_byte(x); });
  }
};

/// The pixel's grey in every channel (Image.convert("L")).
struct MakeGrey {
  static constexpr std::string_view kName = "grayscale";
  static constexpr std::string_view kHelp = "grey in every channel with a probability";
  static constexpr double kProbability = 0.1;
  static constexpr std::uint32_t kNumber = change_number(kName);
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform&, const SampleView& sample) {
    map_with_grey(team, sample, [](float, float grey) { return grey; });
  }
};

/// Whole multiples of amount[0], bytes rounded down (ImageOps.posterize).
struct DropLowBits {
  static constexpr std::string_view kName = "posterize";
  static constexpr std::string_view kHelp = "keeps the highest bits with a probability";
  static constexpr std::uint32_t kNumber = change_number(kName);
  template <class Fields>
  static float read(Fields& fields) {
    std::int64_t bits = 4;
    fields.field("bits", bits, "bits that are kept, of 8", {.minimum = 0, .maximum = 8});
    return static_cast<float>(1 << (8 - bits));
  }
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    const float unit = step.amount[0];
    sample.map(team,
               [=](float x, std::int64_t) { return __builtin_floorf(as_byte(x) / unit) * unit; });
  }
};

/// 255 - x where the byte x is at least amount[0] (ImageOps.solarize).
struct InvertBright {
  static constexpr std::string_view kName = "solarize";
  static constexpr std::string_view kHelp = "inverts bright values with a probability";
  static constexpr std::uint32_t kNumber = change_number(kName);
  template <class Fields>
  static float read(Fields& fields) {
    double threshold = 128;
    fields.field("threshold", threshold, "the least value that is inverted, of 0 to 255",
                 {.minimum = 0, .maximum = 256});
    return static_cast<float>(threshold);
  }
  template <class Team>
  TY_HD static void apply(const Team& team, const ColourTransform& step, const SampleView& sample) {
    const float threshold = step.amount[0];
    sample.map(team, [=](float x, std::int64_t) {
      const float byte = as_byte(x);
      return byte >= threshold ? 255.0f - byte : byte;
    });
  }
};

}  // namespace trainyard
