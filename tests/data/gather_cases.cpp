#include "gather_cases.h"

#include <cstring>

#include "data/augment/augmentations.h"
#include "data/augment/preprocess.h"
#include "data/augment/statistics.h"
#include "data/augment/whitening.h"
#include "data/feed/device_images.h"
#include "data/feed/feeder.h"
#include "helpers.h"
#include "tensor/dtype.h"

namespace trainyard::test {
namespace {

constexpr std::int64_t kBatch = 6, kSamples = 19;
const Shape kImage{3, 9, 13};

using Augmentations = std::vector<std::shared_ptr<const Augmentation>>;
using Preprocessing = std::vector<std::shared_ptr<const Preprocess>>;

template <class Base, class... Members>
std::vector<std::shared_ptr<const Base>> list_of(Members... members) {
  std::vector<std::shared_ptr<const Base>> list;
  (list.push_back(std::make_unique<Members>(std::move(members))), ...);
  return list;
}

Shift shift(Fill fill, Interpolation interpolation) {
  return Shift({.x = 0.4, .y = 0.3, .fill = fill, .cval = 7, .interpolation = interpolation});
}

PadCrop crop() {
  PadCropOptions options;
  options.pad = 2;
  options.value = 128;
  options.size = config::Pair{7, 8};
  return PadCrop(options);
}

/// What docs/language/data.md shows of the augmentations that change colours.
Augmentations documented_colours() {
  Augmentations list = documented_augmentations();
  std::erase_if(list,
                [](const auto& augmentation) { return augmentation->colour_transforms() == 0; });
  return list;
}

/// These, of images of 17 x 19.
Augmentations large(Augmentations list) {
  list.insert(list.begin(),
              std::make_shared<Resize>(config::Pair{17, 19},
                                       Sampling{.interpolation = Interpolation::bilinear}));
  return list;
}

struct NamedPipeline {
  std::string name;
  Pipeline pipeline;
};

/// Adds pipelines of images of kImage.
class PipelineList {
 public:
  Pipeline& add(std::string name, Augmentations augment, Preprocessing preprocess) {
    list_.push_back({std::move(name), Pipeline(kImage, std::move(augment), std::move(preprocess))});
    return list_.back().pipeline;
  }
  [[nodiscard]] std::vector<NamedPipeline> take() { return std::move(list_); }

 private:
  std::vector<NamedPipeline> list_;
};

void add_warps(PipelineList& list) {
  for (const Fill fill : {Fill::nearest, Fill::reflect, Fill::wrap, Fill::constant, Fill::mirror}) {
    const std::string number = std::to_string(static_cast<int>(fill));
    list.add("whole shift, flip, fill " + number,
             list_of<Augmentation>(shift(fill, Interpolation::nearest),
                                   Flip(Flip::Axis::horizontal, 0.5)),
             list_of<Preprocess>(MeanImage()));
    list.add("crop, flips, part of a shift, crop, fill " + number,
             list_of<Augmentation>(
                 crop(), Flip(Flip::Axis::horizontal, 0.5), Flip(Flip::Axis::vertical, 0.5),
                 shift(fill, Interpolation::bilinear), Flip(Flip::Axis::vertical, 0.5)),
             list_of<Preprocess>(MeanRgb({1, 2, 3})));
    for (const Interpolation interpolation : {Interpolation::nearest, Interpolation::bilinear}) {
      const Sampling sampling{.fill = fill, .cval = 7, .interpolation = interpolation};
      list.add("crop, all warps, flip, fill " + number +
                   (sampling.interpolation == Interpolation::bilinear ? ", bilinear" : ""),
               list_of<Augmentation>(crop(), Rotate(25, sampling), shift(fill, interpolation),
                                     Shear(15, sampling), Zoom(0.7, 1.2, sampling),
                                     Flip(Flip::Axis::horizontal, 0.5)),
               list_of<Preprocess>(MeanRgb({1, 2, 3})));
    }
  }
}

std::vector<NamedPipeline> pipelines() {
  PipelineList list;
  list.add("bytes as they are", {}, {});
  list.add("mean image, scale", {}, list_of<Preprocess>(MeanImage(), Scale(1.0 / 255)));
  list.add("colours of Keras and MXNet, deviation",
           list_of<Augmentation>(crop(), ChannelShift(40), HlsJitter({}), Brightness({0.5, 1.5}),
                                 Flip(Flip::Axis::horizontal, 0.5)),
           list_of<Preprocess>(MeanRgb({}), StdRgb({})));
  list.add("a shift, colours of torchvision, cutout, samplewise",
           list_of<Augmentation>(
               shift(Fill::mirror, Interpolation::bilinear),
               ColourJitter({.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.1}),
               Cutout(4, 100)),
           list_of<Preprocess>(Scale(0.1), SampleCenter(), SampleStd()));
  list.add("random parts, erased at random",
           list_of<Augmentation>(
               RandomResizedCrop({.size = {8, 7}}, {.interpolation = Interpolation::bilinear}),
               Flip(Flip::Axis::horizontal, 0.5),
               RandomErasing({.probability = 0.8, .value = {1, 2, 3}}),
               RandomErasing({.probability = 0.8, .value = {}})),
           list_of<Preprocess>(MeanRgb({})));
  for (const CropFilter filter : {CropFilter::box, CropFilter::bilinear, CropFilter::bicubic}) {
    list.add("random parts, filtered " + std::to_string(static_cast<int>(filter)),
             list_of<Augmentation>(Flip(Flip::Axis::vertical, 0.5),
                                   RandomResizedCrop({.size = {4, 15}, .filter = filter}, {}),
                                   PadCrop({.pad = 2})),
             list_of<Preprocess>(MeanRgb({})));
  }
  list.add("every change of colours, as documented", documented_colours(),
           list_of<Preprocess>(MeanRgb({})));
  list.add("every change of colours, of images whose values are equalized",
           large(documented_colours()), list_of<Preprocess>(MeanRgb({})));
  list.add("policies",
           large(list_of<Augmentation>(Flip(Flip::Axis::horizontal, 0.5), RandAugment(6, 20),
                                       TrivialAugment(), Cutout(4, 100))),
           list_of<Preprocess>(MeanRgb({})));
  list.add("whitening after colours", list_of<Augmentation>(crop(), ChannelShift(20)),
           list_of<Preprocess>(MeanRgb({}), Zca(1e-2)));
  list.add("mixed, mean image", {}, list_of<Preprocess>(MeanImage()))
      .mix_with(MixOptions{.mixup = 0.8, .cutmix = 1, .probability = 0.8});
  list.add("mixed after whitening", list_of<Augmentation>(crop(), ChannelShift(20)),
           list_of<Preprocess>(MeanRgb({}), Zca(1e-2)))
      .mix_with(MixOptions{.cutmix = 1});
  list.add("samplewise alone", {}, list_of<Preprocess>(SampleStd(), MeanRgb({1})));
  list.add("crop, deviation", list_of<Augmentation>(crop()),
           list_of<Preprocess>(Scale(0.1), MeanRgb({}), StdRgb({})));
  add_warps(list);
  return list.take();
}

/// A batch [n, c, h, w] of the host's floats in `layout` and type T.
template <class T>
std::vector<T> laid_out(std::span<const float> images, const Layout& layout) {
  std::vector<T> out(static_cast<std::size_t>(span_elements(layout)), static_cast<T>(0.0f));
  const Layout plain = plain_layout(shape_of(layout));
  for (std::int64_t n = 0; n < layout.extent[0]; ++n)
    for (std::int64_t c = 0; c < layout.extent[1]; ++c)
      for (std::int64_t h = 0; h < layout.extent[2]; ++h)
        for (std::int64_t w = 0; w < layout.extent[3]; ++w)
          out[static_cast<std::size_t>(layout.offset(n, c, h, w))] =
              static_cast<T>(images[static_cast<std::size_t>(plain.offset(n, c, h, w))]);
  return out;
}

/// The source of a case's batches.
struct Way {
  BatchImages images;
  bool train;
};

DeviceImages images_of(Device& device, Queue& queue, const BatchLaunches& launches,
                       const Dataset& set, const Pipeline& pipeline, BatchImages images) {
  if (images == BatchImages::steps) return {device, queue, launches, kBatch, set, pipeline};
  return {device, queue, launches, kBatch, set.image_shape(), pipeline};
}

/// One pipeline on the device and on the host, in training or in evaluation.
class Comparison {
 public:
  Comparison(Device& device, Queue& queue, const BatchLaunches& launches, const Dataset& set,
             const Pipeline& pipeline, const Way& way)
      : device_(device),
        queue_(queue),
        images_(images_of(device, queue, launches, set, pipeline, way.images)),
        host_(set, pipeline, options_of(pipeline, way.train, BatchImages::made)),
        brings_(set, pipeline, options_of(pipeline, way.train, way.images)),
        index_(device, kBatch),
        spatial_(device, static_cast<std::size_t>(kBatch * pipeline.spatial_transforms())),
        colours_(device, static_cast<std::size_t>(kBatch * pipeline.colour_transforms())),
        mixes_(device, pipeline.mixing() ? kBatch / 2 : 0),
        shape_{kBatch, 3, pipeline.output_shape()[1], pipeline.output_shape()[2]} {
    host_.start(2);
    brings_.start(2);
  }
  [[nodiscard]] std::int64_t steps() const { return host_.batches_per_epoch(); }
  void next() {
    expected_ = &host_.next();
    const Batch& found = brings_.next();
    index_.write(queue_, found.sample_index);
    spatial_.write(queue_, found.spatial);
    colours_.write(queue_, found.colours);
    mixes_.write(queue_, found.mixes);
    if (!found.bytes.empty()) {
      queue_.copy_from_host(images_.incoming().data(), found.bytes.data(), found.bytes.size());
    }
    same_ = found.images.empty() && found.bytes.size() == images_.incoming().size() &&
            found.valid == expected_->valid &&
            std::ranges::equal(found.fields.front(), expected_->fields.front()) &&
            std::ranges::equal(found.fields.back(), expected_->fields.back()) &&
            std::ranges::equal(found.sample_index, expected_->sample_index);
  }
  template <class T>
  [[nodiscard]] bool same(DType type, const Layout& layout) {
    const std::vector<T> expected = laid_out<T>(expected_->images, layout);
    const std::vector<T> unwritten(expected.size(), static_cast<T>(std::nanf("")));
    DeviceArray<T> images(device_, queue_, std::span<const T>(unwritten));
    const std::vector<std::uint64_t> words{3, 5, 7}, none(words.size());
    const DeviceArray<std::uint64_t> from(device_, queue_, std::span(words));
    DeviceArray<std::uint64_t> to(device_, queue_, std::span(none));
    images_.gather({.sample_index = index_.data(),
                    .spatial = spatial_.data(),
                    .colours = colours_.data(),
                    .mixes = mixes_.size() == 0 ? nullptr : mixes_.data(),
                    .bytes = images_.incoming().data(),
                    .words = {from.data(), to.data(), 2}},
                   {images.data(), type, layout});
    const std::vector<T> found = images.read(queue_);
    return same_ && to.read(queue_) == std::vector<std::uint64_t>{3, 5, 0} &&
           std::memcmp(found.data(), expected.data(), found.size() * sizeof(T)) == 0;
  }
  [[nodiscard]] const Shape& shape() const { return shape_; }

 private:
  static FeederOptions options_of(const Pipeline& pipeline, bool train, BatchImages images) {
    FeederOptions options{
        .batch = kBatch, .seed = 3, .train = train, .workers = 0, .images = images};
    if (pipeline.mixing()) options.fields.emplace_back(kMixField);
    return options;
  }

  Device& device_;
  Queue& queue_;
  DeviceImages images_;
  Feeder host_, brings_;
  DeviceArray<std::int64_t> index_;
  DeviceArray<SpatialTransform> spatial_;
  DeviceArray<ColourTransform> colours_;
  DeviceArray<PairMix> mixes_;
  Shape shape_;
  const Batch* expected_ = nullptr;
  bool same_ = false;
};

}  // namespace

std::vector<std::string> differing_batches(Device& device, Queue& queue,
                                           const BatchLaunches& launches,
                                           std::span<const DType> types, int& made) {
  const auto set = random_bytes_set(kSamples, kImage);
  std::vector<std::string> differing;
  for (NamedPipeline& each : pipelines()) {
    each.pipeline.prepare(compute_statistics(*set, 1));
    if (const auto epsilon = each.pipeline.whitens()) {
      each.pipeline.whiten_with(whitening_matrix(*set, each.pipeline, *epsilon, 1));
    }
    for (const Way way : {Way{BatchImages::steps, true}, Way{BatchImages::steps, false},
                          Way{BatchImages::bytes, true}, Way{BatchImages::bytes, false}}) {
      Comparison comparison(device, queue, launches, *set, each.pipeline, way);
      for (std::int64_t step = 0; step < comparison.steps(); ++step) {
        comparison.next();
        for (const Layout& layout :
             {plain_layout(comparison.shape()), channels_last_layout(comparison.shape(), 4),
              blocked_layout(comparison.shape(), 8)}) {
          for (const DType type : types) {
            ++made;
            const bool same = with_float_type(type, [&]<class T>(std::type_identity<T>) {
              return comparison.same<T>(type, layout);
            });
            if (same) continue;
            differing.push_back(each.name + (way.train ? ", training, " : ", evaluation, ") +
                                (way.images == BatchImages::bytes ? "uploaded, " : "resident, ") +
                                text_of(layout) + " " + std::string(name_of(type)));
          }
        }
      }
    }
  }
  return differing;
}

}  // namespace trainyard::test
