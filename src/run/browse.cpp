#include "run/browse.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "data/images/image_sheet.h"
#include "data/sets/balanced_sampler.h"
#include "data/sets/drawn_sample.h"
#include "data/sets/float_image.h"
#include "run/session/session_weights.h"

namespace trainyard {

namespace {

/// A row before its values become colours.
struct BrowsedSample {
  std::string label;
  FloatImage original;
  std::vector<FloatImage> draws;
};

class Browser {
 public:
  Browser(const RunConfig& run, const BrowseOptions& options, const SessionData& data)
      : options_(options),
        seed_(static_cast<std::uint64_t>(run.seed)),
        data_(data),
        uncolored_(data_.pipeline->input_shape(), run.data.augment, {}),
        set_(options.val ? *data_.val : *data_.train),
        order_(order_of_epoch({.seed = seed_,
                               .epoch = options.epoch,
                               .size = set_.size(),
                               .block = set_.block(),
                               .shuffle = !options.val && run.data.train.shuffle},
                              options.val ? nullptr : sampler_of(run, set_).get())) {}

  BrowsedSample sample(std::int64_t position) {
    const std::int64_t drawn = order_[position], index = index_of_drawn(drawn);
    BrowsedSample row{.label = label(index), .original = image_of(set_, index)};
    const std::int64_t draws = options_.val ? 1 : options_.draws;
    for (std::int64_t draw = 0; draw < draws; ++draw) {
      const SampleKey key{seed_, options_.epoch + static_cast<std::uint32_t>(draw), drawn};
      row.draws.push_back(made(uncolored_, key));
      network_.take(made(*data_.pipeline, key).values);
    }
    return row;
  }
  [[nodiscard]] std::int64_t size() const { return set_.size(); }
  [[nodiscard]] bool eight_bit() const { return set_.eight_bit(); }
  /// Of the values that the network gets.
  [[nodiscard]] const ValueRange& network() const { return network_; }

 private:
  [[nodiscard]] FloatImage made(const Pipeline& pipeline, const SampleKey& key) {
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
  EpochOrder order_;
  ImageScratch scratch_;
  ValueRange network_;
};

/// Throws Error{config} if the samples have none to show.
void require_images(const SplitConfig& split, const Dataset& set) {
  if (has_images(set)) return;
  throw Error(ErrorKind::config,
              split.where.text() + ": 'browse' shows images, but the samples of " + "source '" +
                  std::string(split.source->name()) + "' are sequences " + sample_text(set));
}

SheetRow row_of(const BrowsedSample& sample, const ValueRange& range,
                const BrowseOptions& options) {
  SheetRow row;
  row.push_back({colored(sample.original, range), sample.label});
  for (std::size_t draw = 0; draw < sample.draws.size(); ++draw) {
    std::string text =
        options.val ? "network" : "epoch " + std::to_string(options.epoch + draw + 1);
    row.push_back({colored(sample.draws[draw], range), std::move(text)});
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
  for (const BrowsedSample& sample : samples) rows.push_back(row_of(sample, range, options));
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
