#include "starter/starter.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "config/file_path.h"
#include "config/node.h"

namespace trainyard {
namespace {

using Words = std::map<std::string, std::string>;  // keys are the @WORDS@ that they replace

constexpr std::int64_t kTextWindow = 64;  // characters
constexpr const char* kWeights =
    "class_weights: balanced # some classes have many more images: each counts alike\n";

/// '$' at the front, and '${', begin an expression in a config.
void require_no_expression(const std::string& text) {
  if (!text.starts_with('$') && text.find("${") == std::string::npos) return;
  refuse_command("'" + text +
                 "' would be read as an expression: in a config these begin with '$' or '${'; "
                 "rename it");
}

/// Quoted if YAML would read a number, a truth value or nothing: 2024, 010, true, null.
std::string text_in_yaml(const std::string& text) {
  require_no_expression(text);
  const bool letter = !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0;
  const bool plain =
      std::ranges::all_of(text, [](char c) { return begins_name(c) || is_digit(c) || c == '-'; }) &&
      config::scalar_node(text, false, {}).kind == config::Node::Kind::text;
  return letter && plain ? text : json_quoted(text);
}

std::string path_in_yaml(const std::string& path) {
  const std::string begun = path.starts_with('$') ? "./" + path : path;
  require_no_expression(begun);
  return json_quoted(begun);
}

/// ", separator: tab", unless files of this name have it.
std::string separator_text(const RowsOptions& rows) {
  const bool tsv = lower_case(rows.file.path.extension().string()) == ".tsv";
  if (rows.separator == (tsv ? Separator::tab : Separator::comma)) return "";
  return ", separator: " + std::string(config::word_of(rows.separator));
}

/// "label: species", or the field that is learned: "price: float", "tags: {column: labels, split:
/// ";"}".
std::string answer_text(const std::string& label, const Answer& answer) {
  if (answer.kind == Answer::Kind::classes) return "label: " + text_in_yaml(label);
  const TargetColumn& target = answer.target.second;
  const std::string key = text_in_yaml(answer.target.first);
  if (target.split) {
    return key + ": {column: " + text_in_yaml(*target.column) +
           ", split: " + json_quoted(*target.split) + "}";
  }
  if (target.is_float()) return key + ": float";
  return key + ": {columns: [" + text_in_yaml(target.columns[0]) + "], standardize: true}";
}

std::string columns_text(const ImageListOptions& list, const Answer& answer) {
  std::string text = separator_text(list);
  if (answer.kind != Answer::Kind::classes) {
    return text + ", columns: {image: " + text_in_yaml(list.path) + ", " + answer_text("", answer) +
           "}";
  }
  if (list.header) text += ", header: true";
  if (list.path != "path") text += ", path: " + text_in_yaml(list.path);
  if (list.label != "label") text += ", label: " + text_in_yaml(list.label);
  if (!list.header && list.columns.order != ImageListOptions{}.columns.order) {
    text += ", columns: [" + joined(list.columns.order) + "]";
  }
  return text + (list.labels == ListLabels::name ? ", labels: name" : "");
}

/// "size: 64, fit: cover", and for grey images their channels.
std::string size_text(const ImageFacts& images, const Pretrained* weights) {
  if (weights != nullptr) return "size: 256, fit: cover";
  return "size: " + std::to_string(input_side(images.side)) + ", fit: cover" +
         (images.grey ? ", channels: 1" : "");
}

/// ", ignore: [id, name]", if there are any.
std::string names_text(const char* key, const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(text_in_yaml(name));
  return names.empty() ? "" : std::string(", ") + key + ": [" + joined(quoted) + "]";
}

/// What is between the file and the end of a source of rows.
std::string rows_text(const TableOptions& table, const Answer& answer) {
  const bool names = table.labels == ListLabels::name && answer.kind == Answer::Kind::classes;
  return separator_text(table) + ", columns: {" + answer_text(table.columns.label, answer) +
         names_text("categorical", table.columns.categorical) +
         names_text("ignore", table.columns.ignore) + "}" + (names ? ", labels: name" : "") +
         (table.missing.rule == MissingRule::mean ? ", missing: mean" : "") +
         (table.unknown == UnknownCategory::ignore ? ", unknown: ignore" : "");
}
std::string rows_text(const TextsOptions& texts, const Answer& answer) {
  const bool names = texts.labels == ListLabels::name && answer.kind == Answer::Kind::classes;
  return separator_text(texts) + ", columns: {text: " + text_in_yaml(texts.columns.text) + ", " +
         answer_text(texts.columns.label, answer) + "}" + (names ? ", labels: name" : "") +
         ", vocabulary: " + std::to_string(texts.vocabulary) +
         ", length: " + std::to_string(texts.length);
}

std::string source_text(const StarterData& data, const fs::path& path, const fs::path& root) {
  const std::string where = path_in_yaml(path.string());
  if (data.rows) {
    return std::string(data.kind == StarterKind::table ? "source: table" : "source: texts") +
           ", file: " + where +
           std::visit([&](const auto& source) { return rows_text(source, data.rows->answer); },
                      data.rows->source);
  }
  if (!data.list) return "source: image_folder, root: " + where;
  return "source: image_list, file: " + where +
         (root.empty() ? "" : ", root: " + path_in_yaml(root.string())) +
         columns_text(*data.list, data.images.answer);
}

std::string split_text(const StarterData& data, const Pretrained* weights,
                       const fs::path& val_path) {
  if (val_path.empty()) {
    const bool classes = data.images.answer.kind == Answer::Kind::classes;
    return std::string("  val_fraction: 0.2 # of the images") + (classes ? " of each class" : "") +
           " is kept for validation";
  }
  return "  val: {" + source_text(data, val_path, {}) + ", " + size_text(data.images, weights) +
         "}";
}

/// What the config and the network say of what is learned.
Words words_of_answer(const Answer& answer, std::int64_t outputs, StarterKind kind) {
  const std::string key = text_in_yaml(answer.target.first), count = std::to_string(outputs);
  switch (answer.kind) {
    case Answer::Kind::classes:
      break;
    case Answer::Kind::number:
      return {
          {"outputs", "outputs: " + count},
          {"output count", "outputs"},
          {"what is learned", "'" + key + "' is learned, a number with mean 0 and deviation 1."},
          {"loss", "{mse: {target: " + key + "}}"},
          {"image loss", "{mse: {target: " + key + "}}"},
          {"metrics", "[mae, rmse, r2] # mae and rmse in the column's own units"},
          {"best", "{metric: val_mae, mode: min}"},
          {"closing", ""}};
    case Answer::Kind::words:
      return {{"outputs", "outputs: " + count},
              {"output count", "outputs"},
              {"what is learned", "'" + key + "' has an output for each of its words, 0 or 1."},
              {"loss", "{binary_cross_entropy: {target: " + key + "}}"},
              {"metrics", "[mean_average_precision]"},
              {"best", "{metric: val_mean_average_precision, mode: max}"},
              {"closing", "  - sigmoid\n"}};
  }
  const bool table = kind == StarterKind::table;
  return {
      {"outputs", "classes: " + count},
      {"output count", "classes"},
      {"what is learned", "'label' is the column of the classes."},
      {"loss", "cross_entropy"},
      {"image loss", "{cross_entropy: {label_smoothing: 0.1}}"},
      {"metrics", table ? "[accuracy, macro_f1] # macro_f1 counts each class alike, however rare"
                        : "[accuracy]"},
      {"best", "{metric: val_accuracy, mode: max}"},
      {"closing", "  - softmax\n"}};
}

/// The text with @WORDS@ replaced; what replaces them is left as it is.
std::string filled(std::string_view text, const Words& words) {
  std::string out;
  for (std::size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@')) {
    const std::size_t end = text.find('@', at + 1);
    out.append(text.substr(0, at)).append(words.at(std::string(text.substr(at + 1, end - at - 1))));
    text.remove_prefix(end + 1);
  }
  return out.append(text);
}

void require_new(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(path, ignored))) return;
  refuse_command("'" + path.string() + "' exists; move it away, or give --out another folder");
}

/// `path`, which is relative to the current folder, as files in `folder` name it.
fs::path seen_from(const fs::path& folder, const fs::path& path) {
  std::error_code ignored;
  const fs::path place = fs::weakly_canonical(fs::absolute(folder, ignored), ignored);
  if (path.is_absolute() || path.empty() || place == fs::current_path(ignored)) return path;
  return config::absolute_path(path).lexically_relative(place);
}

/// What the files say of a network that is trained already.
Words words_of_weights(const KnownResNet& network) {
  std::vector<std::string> units;
  for (const std::int64_t count : network.units) units.push_back(std::to_string(count));
  return {{"net", std::string(network.name)},
          {"units", joined(units)},
          {"filters", network.bottleneck ? "$4 * f" : "$f"},
          {"projects", network.bottleneck ? "true" : "false"},
          {"convolutions", network.bottleneck
                               ? "conv: [$f, 1], bn, relu, conv: {filters: $f, kernel: 3, stride: "
                                 "$s}, bn, relu, conv: [$4 * f, 1], bn"
                               : "conv: {filters: $f, kernel: 3, stride: $s}, bn, relu, conv: [$f, "
                                 "3], bn"}};
}

Words words_for(const StarterData& data, const Pretrained* weights, const fs::path& folder) {
  const fs::path path = seen_from(folder, data.path), val_path = seen_from(folder, data.val_path);
  const fs::path root = data.list ? seen_from(folder, data.list->root.path) : "";
  const ImageFacts& images = data.images;
  const bool text = data.kind == StarterKind::text;
  const std::int64_t size = input_side(images.side);
  const std::int64_t training = val_path.empty() ? images.samples * 4 / 5 : images.samples;
  const Recipe recipe = text                 ? text_recipe(data.length, kTextWindow)
                        : data.rows          ? rows_recipe(data.rows->samples)
                        : weights != nullptr ? fine_tuning_recipe(training)
                                             : image_recipe(training);
  const auto* texts = data.rows ? std::get_if<TextsOptions>(&data.rows->source) : nullptr;
  Words words{{"name", data.name},
              {"name text", text_in_yaml(data.name)},
              {"path", path_in_yaml(path.string())},
              {"source", source_text(data, path, root)},
              {"weights file", path_in_yaml(data.name + "_weights.safetensors")},
              {"split", split_text(data, weights, val_path)},
              {"size", std::to_string(size)},
              {"size keys", size_text(images, weights)},
              {"channels", images.grey ? "1" : "3"},
              {"crop", std::to_string(size / 8)},
              {"weights", images.skewed ? kWeights : ""},
              {"width", size > 32 ? "16" : "32"},
              {"layers", image_layers(size)},
              {"batch", std::to_string(recipe.batch)},
              {"epochs", std::to_string(recipe.epochs)},
              {"decay", recipe.weight_decay},
              {"window", std::to_string(texts != nullptr ? texts->length : kTextWindow)},
              {"features", std::to_string(data.rows ? data.rows->features : 0)},
              {"vocabulary", std::to_string(texts != nullptr ? texts->vocabulary : 0)},
              {"characters", std::to_string(data.characters)}};
  words.merge(words_of_answer(data.rows ? data.rows->answer : images.answer,
                              data.rows ? data.rows->outputs : images.outputs, data.kind));
  words.try_emplace("image loss", words.at("loss"));
  if (weights != nullptr) words.merge(words_of_weights(weights->network));
  return words;
}

constexpr std::int64_t kImageSteps = 1'500;
constexpr std::int64_t kFineTuningSteps = 600;
constexpr std::int64_t kLongRun = 10'000;  // steps from which the usual weight decay is enough
constexpr std::int64_t kTextSteps = 1'500;
constexpr std::int64_t kRowSteps = 2'000;
constexpr std::int64_t kTextBatch = 16;
constexpr std::int64_t kLastMap = 8;  // pixels of a side, at most

std::int64_t batch_of(std::int64_t samples) {
  if (samples >= 50'000) return 128;
  if (samples >= 10'000) return 64;
  if (samples >= 1'000) return 32;
  std::int64_t batch = 1;
  while (batch < 16 && 8 * batch <= samples) batch *= 2;
  return batch;
}

/// Epochs in which there are about `steps` steps.
std::int64_t epochs_of(std::int64_t steps, std::int64_t steps_per_epoch) {
  return (steps + steps_per_epoch - 1) / std::max<std::int64_t>(steps_per_epoch, 1);
}

}  // namespace

StarterFiles write_starter(const StarterData& data, const Pretrained* weights,
                           const fs::path& folder, const Disk& disk) {
  StarterFiles files{.config = folder / (data.name + ".yaml"),
                     .network = folder / (data.name + "_network.yaml"),
                     .weights = {}};
  if (weights != nullptr) files.weights = folder / (data.name + "_weights.safetensors");
  for (const fs::path& file : {files.config, files.network, files.weights}) {
    if (!file.empty()) require_new(file);
  }
  const Words words = words_for(data, weights, folder);
  const StarterTexts texts = weights != nullptr ? fine_tuning_texts() : starter_texts(data.kind);
  disk.make_folders(folder.empty() ? "." : folder);
  if (weights != nullptr) {
    disk.replace_file(files.weights, encode_safetensors(weights->tensors).parts());
  }
  disk.replace_file(files.network, filled(texts.network, words));
  disk.replace_file(files.config, filled(texts.config, words));
  return files;
}

Recipe image_recipe(std::int64_t training_samples) {
  const std::int64_t batch = batch_of(training_samples);
  const std::int64_t per_epoch = training_samples / batch;
  const std::int64_t epochs = std::clamp<std::int64_t>(epochs_of(kImageSteps, per_epoch), 10, 200);
  const bool is_short = epochs * per_epoch < kLongRun;
  return {.batch = batch, .epochs = epochs, .weight_decay = is_short ? "5e-3" : "5e-4"};
}

Recipe fine_tuning_recipe(std::int64_t training_samples) {
  const std::int64_t batch = batch_of(training_samples);
  const std::int64_t epochs = epochs_of(kFineTuningSteps, training_samples / batch);
  return {.batch = batch, .epochs = std::clamp<std::int64_t>(epochs, 5, 50), .weight_decay = ""};
}

Recipe rows_recipe(std::int64_t training_samples) {
  const std::int64_t batch = batch_of(training_samples);
  const std::int64_t epochs = epochs_of(kRowSteps, training_samples / batch);
  return {.batch = batch, .epochs = std::clamp<std::int64_t>(epochs, 5, 100), .weight_decay = ""};
}

Recipe text_recipe(std::int64_t characters, std::int64_t length) {
  const std::int64_t epochs = epochs_of(kTextSteps, characters / length / kTextBatch);
  return {
      .batch = kTextBatch, .epochs = std::clamp<std::int64_t>(epochs, 5, 60), .weight_decay = ""};
}

std::int64_t input_side(std::int64_t median_side) {
  constexpr std::array<std::int64_t, 5> kSizes{28, 32, 64, 128, 224};
  const auto larger = std::ranges::upper_bound(kSizes, median_side);
  return larger == kSizes.begin() ? kSizes.front() : *(larger - 1);
}

std::string image_layers(std::int64_t size) {
  const bool strided = size >= 128;
  std::string layers = strided ? "  - cbr: {f: $width, s: 2}\n" : "  - cbr: $width\n";
  std::string filters = "$width";
  std::int64_t map = strided ? size / 2 : size, factor = 1;
  while (map > kLastMap) {
    map /= 2;
    factor *= 2;
    filters = "$" + std::to_string(factor) + " * width";
    layers += "  - max_pool: 2\n  - cbr: " + filters + "\n";
  }
  return layers + "  - add: [[cbr: " + filters +
         "], []] # a residual branch: what the block gives is added to its input\n";
}

}  // namespace trainyard
