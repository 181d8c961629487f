// Sums over the pixels of each channel, written once for tensors of any layout: of all samples, or
// of each.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "compute/elementwise/element_index.h"
#include "launcher/pairwise.h"

namespace trainyard {

/// Adds body(place) of `pixels` pixels in `count` channels to the channels' sums, pixel by pixel.
template <class Body>
struct ChannelAdder {
  static constexpr std::int64_t kLanes = 16;

  Places at;
  Body body;

  TY_HD void operator()(std::int64_t n, std::int64_t c, std::int64_t pixel, std::int64_t pixels,
                        std::int64_t count, PairSum* sums) const {
    while (count > 0) {
      const std::int64_t some = at.together(c, count < kLanes ? count : kLanes);
      // A whole block has no condition, so that its sums are vectors.
      some == kLanes ? add(n, c, pixel, pixels, kLanes, sums)
                     : add(n, c, pixel, pixels, some, sums);
      c += some;
      sums += some;
      count -= some;
    }
  }

 private:
  TY_HD void add(std::int64_t n, std::int64_t c, std::int64_t pixel, std::int64_t pixels,
                 std::int64_t count, PairSum* sums) const {
    double first[kLanes], second[kLanes];
    for (std::int64_t k = 0; k < count; ++k) {
      first[k] = sums[k].first;
      second[k] = sums[k].second;
    }
    ElementIndex place = at.place(n, c, pixel);
    for (std::int64_t i = 0; i < pixels; ++i) {
      for (std::int64_t k = 0; k < count; ++k) {
        const PairSum term = body(
            ElementIndex{n, c + k, place.pixel, place.offset + k, place.block, place.lane + k});
        first[k] += term.first;
        second[k] += term.second;
      }
      ++place.pixel;
      place.offset += at.pixel_stride;
    }
    for (std::int64_t k = 0; k < count; ++k) sums[k] = {first[k], second[k]};
  }
};

/// For every channel, the sums over all pixels of body(place), a PairSum, in the order of columns()
/// and in double: to first[c] and second[c], each of which may be null. A column is a channel.
template <class A, class Body>
struct ChannelSums {
  using Sum = PairSum;
  Places at;
  Body body;
  A* first;
  A* second;

  TY_HD PairSum operator()(std::int64_t row, std::int64_t c) const {
    const std::int64_t n = row / at.pixels, pixel = row - n * at.pixels;
    return body(at.place(n, c, pixel));
  }
  TY_HD void add(std::int64_t begin, std::int64_t end, std::int64_t c, std::int64_t count,
                 PairSum* sums) const {
    while (begin < end) {
      const std::int64_t n = begin / at.pixels, pixel = begin - n * at.pixels;
      const std::int64_t left = at.pixels - pixel;
      const std::int64_t some = left < end - begin ? left : end - begin;
      ChannelAdder<Body>{at, body}(n, c, pixel, some, count, sums);
      begin += some;
    }
  }
  TY_HD void finish(std::int64_t c, const PairSum& sum) const {
    if (first != nullptr) first[c] = static_cast<A>(sum.first);
    if (second != nullptr) second[c] = static_cast<A>(sum.second);
  }
};

/// Runs ChannelSums over the places of a tensor with this layout, in channel_sum_bytes() of
/// workspace. `finished`: BatchContext's.
template <class A, class Launcher, class Body>
void sum_channels(const Launcher& launcher, const Layout& layout, const Body& body, A* first,
                  A* second, void* workspace, std::uint32_t* finished) {
  const ChannelSums<A, Body> sums{Places(layout), body, first, second};
  launcher.columns(sums.at.all_pixels(), sums.at.channels, sums, static_cast<PairSum*>(workspace),
                   finished);
}

/// For every sample and channel, the sums over the pixels of body(place), a PairSum, in double: to
/// sums[n * channels + c]. Where channels are neighbours in memory, a column of columns() is a
/// channel of a sample, those of its padding included; else a row of rows() is.
template <class Body>
struct MapSumColumns {
  using Sum = PairSum;
  Places at;
  Body body;
  PairSum* sums;  // [n, channels]

  TY_HD PairSum operator()(std::int64_t pixel, std::int64_t column) const {
    const std::int64_t n = column / at.padded, c = column - n * at.padded;
    return c < at.channels ? body(at.place(n, c, pixel)) : PairSum{};
  }
  TY_HD void add(std::int64_t begin, std::int64_t end, std::int64_t column, std::int64_t count,
                 PairSum* found) const {
    while (count > 0) {
      const std::int64_t n = column / at.padded, c = column - n * at.padded;
      const std::int64_t left = at.padded - c, some = count < left ? count : left;
      const std::int64_t kept = at.channels - c < some ? at.channels - c : some;
      ChannelAdder<Body>{at, body}(n, c, begin, end - begin, kept, found);
      column += some;
      found += some;
      count -= some;
    }
  }
  TY_HD void finish(std::int64_t column, const PairSum& sum) const {
    const std::int64_t n = column / at.padded, c = column - n * at.padded;
    if (c < at.channels) sums[n * at.channels + c] = sum;
  }
};

template <class Body>
struct MapSumRows {
  Places at;
  Body body;
  PairSum* sums;  // [n, channels]

  template <class Team>
  TY_HD void operator()(const Team& team, std::int64_t map) const {
    const std::int64_t n = map / at.channels, c = map - n * at.channels;
    const double first = team.template sum<double>(
        at.pixels, [&](std::int64_t pixel) { return body(at.place(n, c, pixel)).first; });
    const double second = team.template sum<double>(
        at.pixels, [&](std::int64_t pixel) { return body(at.place(n, c, pixel)).second; });
    team.once([&] { sums[map] = {first, second}; });
  }
};

/// Runs MapSumColumns or MapSumRows. `sums` has map_sum_bytes(); `finished`: BatchContext's.
template <class Launcher, class Body>
void sum_maps(const Launcher& launcher, const Layout& layout, const Body& body, PairSum* sums,
              std::uint32_t* finished) {
  const Places at(layout);
  const std::int64_t maps = at.images * at.channels;
  if (at.lanes() == 1) return launcher.rows(maps, MapSumRows<Body>{at, body, sums});
  launcher.columns(at.pixels, at.images * at.padded, MapSumColumns<Body>{at, body, sums},
                   sums + maps, finished);
}

}  // namespace trainyard
