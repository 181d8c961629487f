#include "run/session/session_data.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "data/augment/whitening.h"
#include "data/sets/class_numbering.h"
#include "data/sets/source.h"
#include "graph/network_input.h"
#include "run/config/batch_numbers.h"
#include "run/config/losses.h"
#include "run/session/session_weights.h"
#include "run/session/shared_set.h"

namespace trainyard {
namespace {

/// Throws Error{checkpoint} unless the statistics of a checkpoint are of images of this shape.
void check_statistics(const Statistics& known, const Shape& image) {
  const auto has = [](const std::vector<float>& values, std::int64_t count) {
    return static_cast<std::int64_t>(values.size()) == count;
  };
  if (has(known.mean_image, image.elements()) && has(known.mean, image[0]) &&
      has(known.deviation, image[0])) {
    return;
  }
  throw checkpoint_error(
      "the checkpoint's statistics of the training split do not fit its images " + image.text() +
      ": a mean image of " + std::to_string(known.mean_image.size()) + " values, " +
      std::to_string(known.mean.size()) + " means, " + std::to_string(known.deviation.size()) +
      " deviations; were the data or 'preprocess' changed?");
}

/// Advice for data without names of classes, with fewer or more than expected, to follow a message;
/// "" otherwise, and for a source without the key.
std::string classes_advice(std::int64_t wanted, const Dataset& set, const SplitConfig& split) {
  if (!set.class_names().empty() || set.classes() == wanted) return "";
  if (!source_takes(split.source->name(), "classes")) return "";
  if (set.classes() < wanted) {
    return "; if only the highest label is missing, set 'classes: " + std::to_string(wanted) +
           "' of its source";
  }
  for (std::int64_t i = 0; i < set.size(); ++i) {
    if (set.label(i) == 0) return "";
  }
  return "; no sample has the label 0: labels are numbered from 0";
}

/// The classes of the validation split get the labels that the training split has for their names;
/// those of neither split are missing without harm.
void number_classes(SessionData& data, const Opening& opening) {
  const std::vector<std::string> own = data.val->class_names();
  const std::vector<std::string> names = data.train->class_names();
  data.val =
      numbered_as(std::move(data.val),
                  {.names = names, .classes = data.train->classes(), .of = "the training split"},
                  "the validation split");
  if (own.empty() || names.empty()) return;
  std::string missing;
  for (const std::string& name : names) {
    if (std::ranges::find(own, name) != own.end()) continue;
    missing += (missing.empty() ? "'" : ", '") + name + "'";
  }
  if (!missing.empty()) opening.warn("the validation split has no samples of class " + missing);
}

/// Fingerprints of images are of their names and lengths: some pixels are compared too.
bool same_samples(const Dataset& a, const Dataset& b) {
  constexpr std::int64_t kCompared = 8;
  if (a.fingerprint() != b.fingerprint() || a.size() != b.size()) return false;
  if (!has_images(a)) return true;
  for (std::int64_t i = 0; i < kCompared; ++i) {
    const std::int64_t at = i * a.size() / kCompared;
    std::vector<float> one(static_cast<std::size_t>(a.sample_shape(at).elements()));
    std::vector<float> other(static_cast<std::size_t>(b.sample_shape(at).elements()));
    a.read(at, one.data());
    b.read(at, other.data());
    if (one != other) return false;
  }
  return true;
}

/// Warns of splits that are the same samples.
void warn_of_equal_splits(const SessionData& data, const Opening& opening) {
  if (!same_samples(*data.train, *data.val)) return;
  opening.warn(
      "both splits contain the same samples: validation shows how well they were learnt by heart, "
      "not how well others will be told");
}

/// Throws Error{config} if steps for images are given for samples that have none.
void require_images(const DataConfig& config, const Dataset& train) {
  if (has_images(train)) return;
  const bool preprocessed = !config.preprocess.empty();
  if (!preprocessed && config.augment.empty()) return;
  const Position& at = preprocessed ? config.preprocess_at : config.augment_at;
  throw config_error(at.text() + ": " + (preprocessed ? "'preprocess'" : "'augment'") +
                     " is for images, but the samples of source '" +
                     std::string(config.train.source->name()) + "' are sequences " +
                     sample_text(train) + "; remove it");
}

/// Throws Error{data} unless both splits, of which one has tokens, have the same ones.
void require_same_tokens(const Dataset& train, const Dataset& val) {
  const Vocabulary *a = train.vocabulary(), *b = val.vocabulary();
  const bool same_fields = train.fields() == val.fields();
  if (a != nullptr && b != nullptr && same_fields && a->words() == b->words()) return;
  const auto text = [](const Dataset& set) {
    const Vocabulary* vocabulary = set.vocabulary();
    const std::string of = sample_text(set);
    if (vocabulary == nullptr) return "images " + of;
    return "sequences " + of + " from a vocabulary of " + std::to_string(vocabulary->size());
  };
  const bool words_differ = a != nullptr && b != nullptr && same_fields && a->size() == b->size();
  throw data_error("the training split holds " + text(train) + ", the validation split " +
                   text(val) + (words_differ ? " with other words" : "") +
                   "; both must have the same steps, labels and vocabulary");
}

/// Throws unless fields of both have the same means, deviations and words.
void require_alike_fields(const Dataset& train, const Dataset& val) {
  const std::vector<SampleField> fields = val.fields();
  for (const SampleField& of : train.fields()) {
    const auto other = std::ranges::find(fields, of.name, &SampleField::name);
    if (other == fields.end() || *other == of) continue;
    throw data_error("the field '" + of.name +
                     "' of the training split is not made as that of the validation split; give "
                     "both the same 'columns'");
  }
}

void require_alike(const DataConfig& config, const Dataset& train, const Dataset& val) {
  if (!has_images(train) || !has_images(val)) require_same_tokens(train, val);
  require_alike_fields(train, val);
  const std::int64_t a = train.classes(), b = val.classes();
  const bool sized = train.image_shape()[1] > 0 && val.image_shape()[1] > 0;
  const bool alike = sized ? train.image_shape() == val.image_shape()
                           : train.image_shape()[0] == val.image_shape()[0];
  if (alike && a == b) return;
  throw data_error(
      "the training split holds images " + train.image_shape().text() + " of " +
      count_text(a, "class") + ", the validation split " + val.image_shape().text() + " of " +
      std::to_string(b) + "; both must have the same shape and classes" +
      classes_advice(std::max(a, b), a < b ? train : val, a < b ? config.train : config.val));
}

/// A regression without a target learns the numbers of classes.
void warn_of_regression_on_labels(const RunConfig& run, const Opening& opening) {
  constexpr std::array<std::string_view, 5> kOfNumbers = {"mse", "mae", "huber", "logcosh",
                                                          "poisson"};
  for (const auto& loss : losses_of(run)) {
    const bool of_numbers = std::ranges::find(kOfNumbers, loss->type()) != kOfNumbers.end();
    if (!of_numbers || loss->values().target != kLabelField) continue;
    opening.warn("'" + std::string(loss->type()) +
                 "' has no 'target': outputs are compared with the labels of classes; for a "
                 "regression set 'target' to the field of the data that they are to predict");
  }
}

/// The shape of the samples of both splits: without height and width if one has images of their
/// own sizes.
Shape shape_of_both(const Dataset& train, const Dataset& val) {
  return val.image_shape()[1] == 0 ? val.image_shape() : train.image_shape();
}

Statistics statistics_of(const Dataset& train, int threads) {
  if (train.image_shape()[1] > 0) return compute_statistics(train, threads);
  throw config_error(
      "'preprocess' needs statistics of the training images, which differ in size; give their "
      "source a 'size', or give the values instead of 'train'");
}

/// Throws Error{config} with the reason if the sets cannot stay on a device.
void require_resident(const SessionData& data) {
  const std::string fault = DeviceImages::fault(*data.pipeline);
  for (const auto* set : {&data.train, &data.val}) {
    const bool held = !(*set)->held().bytes.empty();
    if (held && fault.empty()) continue;
    throw config_error("'data.resident: always', but the " +
                       std::string(set == &data.train ? "training" : "validation") +
                       " split cannot stay on the device: " +
                       (held ? fault : "its source keeps no 8-bit images in memory") +
                       "; set 'data.resident: auto'");
  }
}

BatchImages images_for(const DataConfig& config, const SessionDevice& device,
                       const SessionData& data) {
  if (config.resident == Resident::always) {
    require_resident(data);
    return BatchImages::steps;
  }
  const bool on_gpu = device.total_bytes > 0;
  if (!on_gpu || !data.train->eight_bit() || !data.val->eight_bit()) return BatchImages::made;
  if (!DeviceImages::fault(*data.pipeline).empty()) return BatchImages::made;
  const std::size_t train = data.train->held().bytes.size(), val = data.val->held().bytes.size();
  const bool held = train > 0 && val > 0;
  const bool fits = held && train + val <= device.device->free_bytes() / 4;
  return config.resident == Resident::automatic && fits ? BatchImages::steps : BatchImages::bytes;
}

/// Throws Error{checkpoint} for a whitening matrix of samples of another size.
void require_whitening(const std::vector<float>& matrix, const Pipeline& pipeline) {
  const std::int64_t elements = pipeline.output_shape().elements();
  if (std::ssize(matrix) == elements * elements) return;
  throw checkpoint_error("the run's whitening matrix has " + std::to_string(matrix.size()) +
                         " values, but its samples have " + std::to_string(elements) +
                         "; was 'augment' or 'preprocess' changed?");
}

/// Gives the pipeline its whitening matrix, if it whitens: the run's `known` one, or a new one.
void whiten(SessionData& data, bool known, int threads) {
  const std::optional<double> epsilon = data.pipeline->whitens();
  if (!epsilon) return;
  std::vector<float>& matrix = data.statistics.whitening;
  if (!known) matrix = whitening_matrix(*data.train, *data.pipeline, *epsilon, threads);
  require_whitening(matrix, *data.pipeline);
  data.pipeline->whiten_with(matrix);
}

/// The number of tokens of a sample; 0: it has none.
std::int64_t tokens_of(const Dataset& set) {
  const std::vector<SampleField> fields = set.fields();
  const auto tokens = std::ranges::find(fields, kTokensField, &SampleField::name);
  return tokens == fields.end() ? 0 : tokens->shape[0];
}

/// What the network gets, as its input would be written.
std::string samples_text(const Dataset& set, const Pipeline& pipeline) {
  const Vocabulary* vocabulary = set.vocabulary();
  if (set.table() != nullptr) return sample_text(set);
  if (vocabulary == nullptr) return pipeline.output_shape().text();
  return "{tokens: " + std::to_string(tokens_of(set)) +
         ", vocabulary: " + std::to_string(vocabulary->size()) + "}";
}

/// Whether the network's input is what samples are; tokens may be of a smaller vocabulary than its.
bool reads_samples(const Graph& network, const Dataset& set, const Pipeline& pipeline) {
  const Shape& input = network.values[network.inputs[0]].shape;
  const Vocabulary* vocabulary = set.vocabulary();
  if (network.vocabulary == 0 && vocabulary == nullptr) {
    return Shape{input.c(), input.h(), input.w()} == pipeline.output_shape();
  }
  return vocabulary != nullptr && vocabulary->size() <= network.vocabulary &&
         input.c() == tokens_of(set);
}

/// Warnings of both splits, which may be parts of one set: each is told once.
Opening telling_once(Opening opening) {
  opening.warn = [told = std::make_shared<std::set<std::string>>(),
                  warn = std::move(opening.warn)](const std::string& text) {
    if (told->insert(text).second) warn(text);
  };
  return opening;
}

}  // namespace

SessionData open_data(const RunConfig& run, const Statistics* known, int threads, RankGroup& ranks,
                      const Opening& given, const std::function<void(const SessionData&)>& opened) {
  SessionData data;
  const Opening opening = telling_once(given);
  data.train = open_shared(*run.data.train.source, opening, ranks);
  Opening of_val = following(opening, *data.train);
  of_val.may_lack_classes = true;
  data.val = open_shared(*run.data.val.source, of_val, ranks);
  opened(data);
  number_classes(data, opening);
  warn_of_equal_splits(data, opening);
  warn_of_regression_on_labels(run, opening);
  require_alike(run.data, *data.train, *data.val);
  require_images(run.data, *data.train);
  data.pipeline = std::make_unique<Pipeline>(shape_of_both(*data.train, *data.val),
                                             run.data.augment, run.data.preprocess);
  require_mixable(run, *data.train, data.pipeline->output_shape());
  data.pipeline->mix_with(run.data.mix);
  if (known != nullptr) {
    if (data.pipeline->needs_statistics()) check_statistics(*known, data.train->image_shape());
    data.statistics = *known;
  } else if (data.pipeline->needs_statistics()) {
    data.statistics = statistics_of(*data.train, threads);
  }
  data.pipeline->prepare(data.statistics);
  whiten(data, known != nullptr, threads);
  return data;
}

std::unique_ptr<Pipeline> make_pipeline(const RunConfig& run, const Shape& image,
                                        const Statistics& known) {
  auto pipeline = std::make_unique<Pipeline>(image, run.data.augment, run.data.preprocess);
  if (pipeline->needs_statistics()) check_statistics(known, image);
  pipeline->prepare(known);
  if (!pipeline->whitens()) return pipeline;
  require_whitening(known.whitening, *pipeline);
  pipeline->whiten_with(known.whitening);
  return pipeline;
}

/// Refuses steps that would round values that are not bytes.
void require_bytes(const RunConfig& run, const Dataset& set) {
  for (const auto& augmentation : run.data.augment) {
    if (set.eight_bit() || !augmentation->needs_bytes()) continue;
    throw config_error(run.data.augment_at.text() + ": '" + std::string(augmentation->name()) +
                       "' with a 'filter' rounds to whole numbers from 0 to 255, but the data "
                       "are not 8-bit images; remove 'filter'");
  }
}

void require_fit(const RunConfig& run, const Graph& network, const Dataset& set,
                 const Pipeline& pipeline) {
  const std::string at = run.network.where.text() + ": ";
  require_classes(run, set);
  require_bytes(run, set);
  if (!reads_samples(network, set, pipeline)) {
    throw config_error(at + "the network's input is " + input_text(network) +
                       ", but the data are " + samples_text(set, pipeline) +
                       "; change 'input' of the network or the data");
  }
  if (network.mask >= 0 && (!run.data.augment.empty() || run.data.mix)) {
    const bool augments = !run.data.augment.empty();
    throw config_error((augments ? run.data.augment_at : run.data.mix_at).text() +
                       (augments ? ": 'augment' moves" : ": 'mix' mixes") +
                       " the steps of samples, and the network's input has 'lengths: true', which "
                       "do not follow; remove one of them");
  }
  for (const auto& loss : losses_of(run)) {
    const std::string& name = loss->values().output;
    const Shape output = network.values[output_named(network, name)].shape;
    const bool of_labels = loss->values().target == kLabelField;
    // One output tells two classes apart.
    const bool binary = output.c() == 1 && set.classes() <= 2;
    if (!of_labels || binary || output.c() == set.classes()) continue;
    throw config_error(at + (name.empty() ? "the network" : "output '" + name + "'") + " ends in " +
                       count_text(output.c(), "output") + ", but the data have " +
                       count_text(set.classes(), "class") + "; change the last layer's units" +
                       classes_advice(output.c(), set, run.data.train));
  }
}

void place_data(const DataConfig& config, const SessionDevice& device, std::int64_t batch,
                SessionData& data) {
  data.images = images_for(config, device, data);
  const auto on_device = [&](const auto&... of) {
    return std::make_unique<DeviceImages>(*device.device, *device.queue, *device.batches, batch,
                                          of..., *data.pipeline);
  };
  if (data.images == BatchImages::steps) {
    data.train_images = on_device(*data.train);
    data.val_images = on_device(*data.val);
  } else if (data.images == BatchImages::bytes) {
    data.train_images = on_device(data.train->image_shape());
  }
}

void make_feeders(const RunConfig& run, std::int64_t batch, const TrainingGraph& graph,
                  const RankGroup& ranks, SessionData& data) {
  const std::optional<ClassWeightPolicy> weights =
      class_weight_policy(run, *data.train, graph.mask);
  require_labels(run, *data.val, "the validation split");
  FeederOptions options{.batch = batch,
                        .seed = static_cast<std::uint64_t>(run.seed),
                        .shuffle = run.data.train.shuffle,
                        .train = true,
                        .workers = static_cast<int>(run.data.workers),
                        .prefetch = static_cast<int>(run.data.prefetch),
                        .images = data.images,
                        .fields = field_names(graph),
                        .weights = weights,
                        .repeats = run.data.train.repeats(),
                        .sampler = sampler_of(run, *data.train),
                        .rank = ranks.rank(),
                        .ranks = ranks.size(),
                        .shards = shards_of_rank(run, ranks.size())};
  data.train_feeder = std::make_unique<Feeder>(*data.train, *data.pipeline, options);
  options.shuffle = false;
  options.sampler = nullptr;
  options.repeats = 1;
  options.train = false;
  options.shards = 1;
  if (weights && !run.weights.validation) options.weights = weights->counting();
  data.val_feeder = std::make_unique<Feeder>(*data.val, *data.pipeline, options);
  if (!run.train_eval) return;
  options.shuffle = true;
  options.samples = run.train_eval->samples > 0 ? run.train_eval->samples : data.val->size();
  data.clean_feeder = std::make_unique<Feeder>(*data.train, *data.pipeline, options);
}

std::string feeding_text(const SessionData& data, const SessionDevice& device) {
  if (data.images == BatchImages::steps) return "resident";
  if (data.images == BatchImages::bytes) return "uploaded as bytes";
  if (!device.copies) return "";
  return has_images(*data.train) ? "uploaded as floats" : "uploaded as tokens";
}

}  // namespace trainyard
