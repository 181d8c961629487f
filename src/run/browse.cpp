#include "run/browse.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/images/image_sheet.h"
#include "data/sets/dataset.h"
#include "data/sets/epoch_order.h"
#include "run/session/session_weights.h"

namespace trainyard {

namespace {

/// A row before its values become colours.
struct BrowsedSample {
  std::string label;
  FloatImage original;
  std::vector<FloatImage> draws;
  std::vector<std::string> captions;  // captions of the draws
};

/// What the network gets in an epoch: a sample, perhaps mixed with another.
struct Draw {
  SampleKey key;
  std::int64_t other = -1;  // drawn_sample(); -1: none
  PairMix mix = {};
};

class Browser {
 public:
  Browser(const RunConfig& run, const BrowseOptions& options, const SessionData& data)
      : options_(options),
        seed_(static_cast<std::uint64_t>(run.seed)),
        data_(data),
        uncolored_(data_.pipeline->input_shape(), run.data.augment, {}),
        set_(options.val ? *data_.val : *data_.train) {
    const std::int64_t draws = options_.val ? 1 : options_.draws;
    const auto sampler = options.val ? nullptr : sampler_of(run, set_);
    for (std::int64_t draw = 0; draw < (mixes() ? draws : 1); ++draw) {
      orders_.push_back(order_of_epoch({.seed = seed_,
                                        .epoch = options.epoch + static_cast<std::uint32_t>(draw),
                                        .size = set_.size(),
                                        .block = set_.block(),
                                        .shuffle = !options.val && run.data.train.shuffle,
                                        .repeats = options.val ? 1 : run.data.train.repeats()},
                                       sampler.get()));
    }
  }

  BrowsedSample sample(std::int64_t position) {
    const std::int64_t drawn = orders_[0][position], index = index_of_drawn(drawn);
    BrowsedSample row{.label = label(index), .original = image_of(set_, index)};
    const std::int64_t draws = options_.val ? 1 : options_.draws;
    for (std::int64_t i = 0; i < draws; ++i) {
      const Draw draw = draw_of(drawn, static_cast<std::uint32_t>(i));
      row.draws.push_back(made(uncolored_, draw));
      row.captions.push_back(caption(draw));
      network_.take(made(*data_.pipeline, draw).values);
    }
    return row;
  }
  [[nodiscard]] std::int64_t size() const { return set_.size(); }
  [[nodiscard]] bool eight_bit() const { return set_.eight_bit(); }
  /// Range of the values that the network gets.
  [[nodiscard]] const ValueRange& network() const { return network_; }

 private:
  [[nodiscard]] bool mixes() const { return !options_.val && data_.pipeline->mixing(); }

  /// The draw of a sample in the epoch `later` after the first. It is mixed with no other in an
  /// epoch whose sampler does not take it, nor as the last of an odd number.
  [[nodiscard]] Draw draw_of(std::int64_t drawn, std::uint32_t later) const {
    Draw draw{.key = {seed_, options_.epoch + later, drawn}};
    if (!mixes()) return draw;
    const EpochOrder& order = orders_[later];
    std::int64_t position = 0;
    while (position < set_.size() && order[position] != drawn) ++position;
    if (position == set_.size() || (position ^ 1) == set_.size()) return draw;
    draw.other = order[position ^ 1];
    draw.mix = mix_of_pair(*data_.pipeline->mixing(), {seed_, draw.key.epoch, position / 2},
                           data_.pipeline->output_shape());
    return draw;
  }

  /// "epoch 1", of a mixture what joins the row's label: "+ 16% dog".
  [[nodiscard]] std::string caption(const Draw& draw) const {
    if (options_.val) return "network";
    if (draw.mix.kind == PairMix::Kind::none) {
      return "epoch " + std::to_string(draw.key.epoch + 1);
    }
    return fmt::format("+ {:.0f}% {}", 100 * (1 - draw.mix.share),
                       label(index_of_drawn(draw.other)));
  }

  [[nodiscard]] FloatImage made(const Pipeline& pipeline, const Draw& draw) {
    FloatImage image = filled(pipeline, draw.key);
    if (draw.mix.kind == PairMix::Kind::none) return image;
    FloatImage other = filled(pipeline, {draw.key.seed, draw.key.epoch, draw.other});
    mix_samples(draw.mix, image.shape, image.values.data(), other.values.data());
    return image;
  }
  [[nodiscard]] FloatImage filled(const Pipeline& pipeline, const SampleKey& key) {
    FloatImage image{pipeline.output_shape(), {}};
    image.values.resize(static_cast<std::size_t>(image.shape.elements()));
    if (options_.val) {
      pipeline.fill_eval(set_, key.index, scratch_, image.values.data());
    } else {
      pipeline.fill_train(set_, key, scratch_, image.values.data());
    }
    pipeline.whiten(1, scratch_, image.values.data());
    return image;
  }
  [[nodiscard]] std::string label(std::int64_t index) const {
    const auto number = static_cast<std::size_t>(set_.label(index));
    const std::vector<std::string> names = set_.class_names();
    return number < names.size() ? names[number] : "class " + std::to_string(number);
  }

  BrowseOptions options_;
  std::uint64_t seed_;
  const SessionData& data_;
  Pipeline uncolored_;  // without `preprocess`
  const Dataset& set_;
  std::vector<EpochOrder> orders_;  // orders of the epochs shown; the first alone if none mixes
  ImageScratch scratch_;
  ValueRange network_;
};

/// Throws Error{config} if the samples have none to show.
void require_images(const SplitConfig& split, const Dataset& set) {
  if (has_images(set)) return;
  throw config_error(split.where.text() + ": 'browse' shows images, but the samples of " +
                     "source '" + std::string(split.source->name()) + "' are sequences " +
                     sample_text(set));
}

SheetRow row_of(const BrowsedSample& sample, const ValueRange& range) {
  SheetRow row;
  row.push_back({colored(sample.original, range), sample.label});
  for (std::size_t draw = 0; draw < sample.draws.size(); ++draw) {
    row.push_back({colored(sample.draws[draw], range), sample.captions[draw]});
  }
  return row;
}

EventImage event_image(const Image& sheet) {
  return {.png = png_of_image(sheet), .h = sheet.size().h, .w = sheet.size().w};
}

}  // namespace

BrowsedSamples browse(const RunConfig& run, const BrowseOptions& options, int threads,
                      const Opening& opening) {
  RankGroup ranks(RankGroupOptions{});
  const SessionData data = open_data(run, nullptr, threads, ranks, opening);
  require_images(run.data.train, options.val ? *data.val : *data.train);
  return browse(run, options, data);
}

BrowsedSamples browse(const RunConfig& run, const BrowseOptions& options, const SessionData& data) {
  Browser browser(run, options, data);
  const std::int64_t count = std::min(options.samples, browser.size());
  std::vector<BrowsedSample> samples;
  ValueRange range;
  for (std::int64_t i = 0; i < count; ++i) {
    samples.push_back(browser.sample(i));
    range.take(samples.back().original.values);
  }
  if (browser.eight_bit()) range = {.least = 0, .most = 255};
  std::vector<SheetRow> rows;
  for (const BrowsedSample& sample : samples) rows.push_back(row_of(sample, range));
  const ValueRange& network = browser.network();
  return {
      image_sheet(rows, options.most_side),
      fmt::format("the network gets values from {:.6g} to {:.6g}, mean {:.6g}, after "
                  "'preprocess'",
                  network.least, network.most, network.sum / static_cast<double>(network.count))};
}

TensorboardHead tensorboard_head(Session& session, std::string yaml, std::int64_t epoch) {
  TensorboardHead head{.config = std::move(yaml), .train_samples = {}, .val_samples = {}};
  const SessionData& data = session.data();
  if (!has_images(*data.train)) return head;
  BrowseOptions options{.epoch = static_cast<std::uint32_t>(epoch)};
  head.train_samples = event_image(browse(session.config(), options, data).sheet);
  options.val = true;
  head.val_samples = event_image(browse(session.config(), options, data).sheet);
  return head;
}

}  // namespace trainyard
