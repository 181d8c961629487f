// Changes of elements by random draws: four neighbours in the logical order c, h, w of a sample
// share one, in any layout.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "base/philox.h"
#include "compute/elementwise/map.h"
#include "ops/step_tensors.h"

namespace trainyard {

/// The mask of one layer in one step: four neighbours in the logical order c, h, w of a sample
/// share a draw. It is a function of (seed, node, epoch, sample, position) alone: the key comes
/// from the first three, the counter from the sample's index and a quarter of the position.
/// Backward draws it again instead of saving it.
struct DropoutMask {
  BatchContext batch;
  std::uint32_t node;
  std::uint32_t threshold;  // kept if the draw is at least this

  /// The part common to all draws of a sample.
  struct Sample {
    Random4 key;
    std::uint32_t low, high;
  };
  [[nodiscard]] TY_HD Sample sample(std::int64_t n) const {
    const std::uint64_t index = static_cast<std::uint64_t>(batch.sample_index[n]);
    return {random4(batch.seed, RandomStream::layer, static_cast<std::uint32_t>(batch.state->epoch),
                    node, 0),
            static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32)};
  }
  /// `Lane`: as for philox().
  template <class Lane = std::uint32_t>
  [[nodiscard]] TY_HD static Random4 draw(const Sample& sample, std::uint32_t quad) {
    return philox<Lane>(sample.key.word[0], sample.key.word[1], quad, 0, sample.low, sample.high);
  }
  /// The word of one position.
  [[nodiscard]] TY_HD static std::uint32_t word(const Sample& sample, std::uint32_t position) {
    const Random4 drawn = draw(sample, position / 4);
    const std::uint32_t lane = position % 4;
    return lane == 0   ? drawn.word[0]
           : lane == 1 ? drawn.word[1]
           : lane == 2 ? drawn.word[2]
                       : drawn.word[3];
  }
};

/// rate * 2^32, rounded, at most 2^32 - 1.
[[nodiscard]] inline std::uint32_t drop_threshold(double rate) {
  const auto rounded = static_cast<std::uint64_t>(std::llround(rate * 4294967296.0));
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(rounded, 0xFFFFFFFFu));
}

/// Elements of a sample in logical order.
struct DropoutInOrder {
  std::int64_t sample_stride;
  [[nodiscard]] TY_HD std::int64_t offset(std::int64_t n, std::int64_t position) const {
    return n * sample_stride + position;
  }
};

/// Elements in any layout.
struct DropoutAnywhere {
  Layout layout;
  [[nodiscard]] TY_HD std::int64_t offset(std::int64_t n, std::int64_t position) const {
    const std::int64_t width = layout.extent[3], map = width * layout.extent[2];
    return layout.offset(n, position / map, position % map / width, position % width);
  }
};

/// out = change(in, draw), by quads in logical order. A row is up to kRowQuads quads of a sample.
template <class T, class Address, class Change>
struct DrawnQuads {
  static constexpr std::int64_t kRowQuads = 256;

  const T* in;
  T* out;
  Address from, to;
  std::int64_t elements;  // per sample
  DropoutMask mask;
  Change change;

  [[nodiscard]] TY_HD std::int64_t rows_a_sample() const {
    return (elements + 4 * kRowQuads - 1) / (4 * kRowQuads);
  }
  TY_HD void quad(const DropoutMask::Sample& sample, std::int64_t n, std::int64_t index,
                  std::int64_t lanes) const {
    const Random4 draw = DropoutMask::draw(sample, index);
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const T value = in[from.offset(n, 4 * index + lane)];
      out[to.offset(n, 4 * index + lane)] = change(value, draw.word[lane]);
    }
  }
  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t n = row / rows_a_sample();
    const std::int64_t first = row % rows_a_sample() * kRowQuads;
    const std::int64_t whole = elements / 4;  // quads with four elements
    const std::int64_t end = first + kRowQuads < whole ? first + kRowQuads : whole;
    const DropoutMask::Sample sample = mask.sample(n);
    team.each(end - first, [&](std::int64_t i) { quad(sample, n, first + i, 4); });
    if (end == whole && 4 * whole < elements) {
      team.once([&] { quad(sample, n, whole, elements - 4 * whole); });
    }
  }
};

/// The same for layouts with adjacent channels (blocked, or n, h, w, c). A row is up to kRowPixels
/// pixels of a map in up to `lanes` channels, four pixels at a time, with two draws each unless
/// every quad begins at the first of the four.
template <class T, class Change>
struct DrawnChannels {
  static constexpr std::int64_t kRowPixels = 64;

  const T* in;
  T* out;
  Layout from, to;
  std::int64_t lanes;
  DropoutMask mask;
  Change change;

  [[nodiscard]] TY_HD std::int64_t pixels() const { return from.extent[2] * from.extent[3]; }
  [[nodiscard]] TY_HD std::int64_t rows_a_map() const {
    return (pixels() + kRowPixels - 1) / kRowPixels;
  }
  [[nodiscard]] TY_HD std::int64_t groups() const { return (from.extent[1] + lanes - 1) / lanes; }
  [[nodiscard]] TY_HD std::int64_t rows() const { return from.extent[0] * groups() * rows_a_map(); }

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t row) const {
    const std::int64_t map = row / rows_a_map(), n = map / groups();
    const std::int64_t first = map % groups() * lanes, left = from.extent[1] - first;
    const std::int64_t channels = left < lanes ? left : lanes;
    const std::int64_t begin = row % rows_a_map() * kRowPixels;
    const std::int64_t end = begin + kRowPixels < pixels() ? begin + kRowPixels : pixels();
    const DropoutMask::Sample sample = mask.sample(n);
    const T* const source = in + from.offset(n, first, 0, 0);
    T* const destination = out + to.offset(n, first, 0, 0);
    if constexpr (Team::kSerial) {
      using Lane = std::conditional_t<Team::kWide, std::uint64_t, std::uint32_t>;
      channels > 8
          ? apply_vectors<16, Lane>(sample, source, destination, first, channels, begin, end)
          : apply_vectors<8, Lane>(sample, source, destination, first, channels, begin, end);
    } else {
      apply_pixels(team, sample, source, destination, first, channels, begin, end);
    }
  }

 private:
  /// Pixels [begin, end) of `channels` channels, kLanes side by side, so that they are vectors and
  /// each draw is made once.
  template <int kLanes, class Lane>
  TY_HD void apply_vectors(const DropoutMask::Sample& sample, const T* source, T* destination,
                           std::int64_t first, std::int64_t channels, std::int64_t begin,
                           std::int64_t end) const {
    const std::int64_t most = pixels() % 4 == 0 ? 0 : 3;  // words before a channel's first
    for (std::int64_t c = 0; c < channels; c += kLanes) {
      const std::int64_t width = channels - c < kLanes ? channels - c : kLanes;
      std::uint32_t phase[kLanes], quad[kLanes];
      for (int k = 0; k < kLanes; ++k) {
        const auto position = static_cast<std::uint32_t>((first + c + k) * pixels() + begin);
        phase[k] = position % 4;
        quad[k] = position / 4;
      }
      std::uint32_t words[kRowPixels + 4][kLanes];  // each channel's, from its first quad on
      for (std::uint32_t i = 0; 4 * i < end - begin + most; ++i) {
        draw_quads<kLanes, Lane>(sample, quad, i, words + 4 * i);
      }
      for (std::int64_t pixel = begin; pixel < end; ++pixel) {
        change_pixel<kLanes>(source + pixel * from.stride[3] + c, width, phase,
                             words + (pixel - begin), destination + pixel * to.stride[3] + c);
      }
    }
  }
  /// The words of quads quad[k] + i.
  template <int kLanes, class Lane>
  TY_HD static void draw_quads(const DropoutMask::Sample& sample,
                               const std::uint32_t (&quad)[kLanes], std::uint32_t i,
                               std::uint32_t (*words)[kLanes]) {
#pragma GCC ivdep
    for (int k = 0; k < kLanes; ++k) {
      const Random4 draw = DropoutMask::draw<Lane>(sample, quad[k] + i);
      words[0][k] = draw.word[0];
      words[1][k] = draw.word[1];
      words[2][k] = draw.word[2];
      words[3][k] = draw.word[3];
    }
  }
  template <int kLanes>
  TY_HD void change_pixel(const T* source, std::int64_t width, const std::uint32_t (&phase)[kLanes],
                          const std::uint32_t (*words)[kLanes], T* destination) const {
#pragma GCC ivdep
    for (int k = 0; k < width; ++k) {
      const std::uint32_t drawn = phase[k] == 0   ? words[0][k]
                                  : phase[k] == 1 ? words[1][k]
                                  : phase[k] == 2 ? words[2][k]
                                                  : words[3][k];
      destination[k] = change(source[k], drawn);
    }
  }
  /// The same with a call for each channel of four pixels, and of each of the pixels that are left:
  /// all of the row at once, so that no lane of the team is without work.
  template <class Team>
  TY_HD void apply_pixels(const Team& team, const DropoutMask::Sample& sample, const T* source,
                          T* destination, std::int64_t first, std::int64_t channels,
                          std::int64_t begin, std::int64_t end) const {
    const auto width = static_cast<std::uint32_t>(channels);
    const auto each = [&](std::int64_t from_pixel, std::int64_t calls, const auto& call) {
      team.each(calls * channels, [&](std::int64_t i) {
        const std::uint32_t number = static_cast<std::uint32_t>(i) / width;
        call(static_cast<std::uint32_t>(i) - number * width, from_pixel, number);
      });
    };
    const std::int64_t quads = (end - begin) / 4;
    if (pixels() % 4 == 0) {
      each(begin, quads, [&](std::int64_t c, std::int64_t from_pixel, std::int64_t quad) {
        apply<4, true>(sample, source, destination, first, c, from_pixel + 4 * quad);
      });
    } else {
      each(begin, quads, [&](std::int64_t c, std::int64_t from_pixel, std::int64_t quad) {
        apply<4>(sample, source, destination, first, c, from_pixel + 4 * quad);
      });
    }
    const std::int64_t left = begin + 4 * quads;
    each(left, end - left, [&](std::int64_t c, std::int64_t from_pixel, std::int64_t i) {
      apply<1>(sample, source, destination, first, c, from_pixel + i);
    });
  }
  /// kCount pixels of channel first + c. kWhole: they share a draw.
  template <int kCount, bool kWhole = false>
  TY_HD void apply(const DropoutMask::Sample& sample, const T* source, T* destination,
                   std::int64_t first, std::int64_t c, std::int64_t pixel) const {
    const std::uint32_t position = static_cast<std::uint32_t>((first + c) * pixels() + pixel);
    const std::uint32_t phase = kWhole ? 0 : position % 4;
    const Random4 a = DropoutMask::draw(sample, position / 4);
    const Random4 b = kCount > 1 && !kWhole ? DropoutMask::draw(sample, position / 4 + 1) : a;
    const std::uint32_t word[8] = {a.word[0], a.word[1], a.word[2], a.word[3],
                                   b.word[0], b.word[1], b.word[2], b.word[3]};
    T values[kCount];  // all requested before the first is written, which may be in the same place
    TY_UNROLL
    for (int k = 0; k < kCount; ++k) values[k] = source[(pixel + k) * from.stride[3] + c];
    TY_UNROLL
    for (int k = 0; k < kCount; ++k) {
      const std::uint32_t drawn = phase == 0   ? word[k]
                                  : phase == 1 ? word[k + 1]
                                  : phase == 2 ? word[k + 2]
                                               : word[k + 3];
      destination[(pixel + k) * to.stride[3] + c] = change(values[k], drawn);
    }
  }
};

/// Number of adjacent channels, if pixels are evenly spaced; else 0.
[[nodiscard]] inline std::int64_t side_by_side(const Layout& layout) {
  const bool even = layout.stride[2] == layout.extent[3] * layout.stride[3];
  if (!even) return 0;
  if (layout.block > 1) return layout.block;
  return layout.stride[1] == 1 ? layout.extent[1] : 0;
}

/// Number of channels adjacent in both layouts, if pixels are evenly spaced; else 0.
[[nodiscard]] inline std::int64_t dropout_lanes(const Layout& from, const Layout& to) {
  const std::int64_t lanes = side_by_side(from);
  return side_by_side(to) == lanes ? lanes : 0;
}

/// True if the elements of a sample are in logical order.
[[nodiscard]] inline bool in_logical_order(const Layout& layout) {
  Layout plain = plain_layout(shape_of(layout));
  plain.stride[0] = layout.stride[0];
  return plain == layout;
}

/// Runs DrawnQuads from and to other addresses.
template <class T, class Launcher, class Address, class Change>
void change_quads(const Launcher& launcher, const DropoutMask& mask, const Change& change,
                  const TensorView& in, const TensorView& out, const Address& from,
                  const Address& to) {
  const Layout& shape = in.layout;
  const DrawnQuads<T, Address, Change> rows{
      in.as<T>(), out.as<T>(), from, to, shape.extent[1] * shape.extent[2] * shape.extent[3],
      mask,       change};
  launcher.rows(shape.extent[0] * rows.rows_a_sample(), rows);
}

/// out = change(in, draw) for every element, with zeros as padding, in any layouts.
template <class T, class Launcher, class Change>
void change_by_draws(const Launcher& launcher, const DropoutMask& mask, const Change& change,
                     const TensorView& in, const TensorView& out) {
  if (in_logical_order(in.layout) && in_logical_order(out.layout)) {
    change_quads<T>(launcher, mask, change, in, out, DropoutInOrder{in.layout.stride[0]},
                    DropoutInOrder{out.layout.stride[0]});
  } else if (const std::int64_t lanes = dropout_lanes(in.layout, out.layout)) {
    const DrawnChannels<T, Change> rows{in.as<T>(), out.as<T>(), in.layout, out.layout,
                                        lanes,      mask,        change};
    launcher.rows(rows.rows(), rows);
  } else {
    change_quads<T>(launcher, mask, change, in, out, DropoutAnywhere{in.layout},
                    DropoutAnywhere{out.layout});
  }
  zero_padding<T>(launcher, out);
}

}  // namespace trainyard
