#include "run/initial_weights.h"

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "base/text.h"
#include "checkpoint/run_identity.h"
#include "checkpoint/tensor_slots.h"
#include "config/diagnostics.h"
#include "formats/float_types.h"
#include "run/config/layer_overrides.h"

namespace trainyard {

namespace {

using Names = std::vector<std::string>;

bool is_skipped(const InitFlags& flags, const std::string& name) {
  return std::any_of(flags.skip.begin(), flags.skip.end(),
                     [&](const std::string& pattern) { return names_layer(pattern, name); });
}

/// "stage1.conv1" of "stage1.conv1.weight".
std::string layer_of(const std::string& tensor) { return tensor.substr(0, tensor.rfind('.')); }

/// Throws for a pattern that matches nothing.
void require_known(const InitialWeights& weights, const std::vector<TensorSlot>& slots) {
  Names names;
  for (const TensorSlot& slot : slots) names.push_back(slot.name);
  for (const NamedTensor& tensor : weights.tensors->tensors()) names.push_back(tensor.name);
  for (const std::string& pattern : weights.flags.skip) {
    const auto fits = [&](const std::string& name) { return names_layer(pattern, name); };
    if (std::any_of(names.begin(), names.end(), fits)) continue;
    Names known = names;
    std::transform(names.begin(), names.end(), std::back_inserter(known), layer_of);
    throw checkpoint_error("init skips '" + pattern + "', which names no tensor of " +
                           weights.path.string() + " or of the network" +
                           config::suggestion(pattern, known));
  }
}

/// Fills the tensors of a model from a file.
class Filling {
 public:
  Filling(Model& model, const InitialWeights& weights)
      : model_(model), weights_(weights), type_(stored_type_of(model.memory().type())) {}

  void fill(const TensorSlot& slot) {
    const NamedTensor* tensor = weights_.tensors->find(slot.name);
    if (tensor == nullptr || is_skipped(weights_.flags, slot.name)) {
      report_.left_new.push_back(slot.name);
    } else if (const std::string fault = shape_fault(slot, *tensor); !fault.empty()) {
      faults_.push_back(fault);
      misshapen_.insert(layer_of(slot.name));
    } else {
      take(slot, *tensor);
    }
  }

  /// Throws if anything was wrong.
  InitReport finish() {
    raise_misfits(faults_, weights_.path.string(), advice());
    for (const NamedTensor& tensor : weights_.tensors->tensors()) {
      if (known_.contains(tensor.name)) continue;
      Names& names = is_skipped(weights_.flags, tensor.name) ? report_.skipped : report_.unknown;
      names.push_back(tensor.name);
    }
    if (report_.loaded.empty()) refuse_empty();
    return report_;
  }

 private:
  void take(const TensorSlot& slot, const NamedTensor& tensor) {
    known_.insert(slot.name);
    if (tensor.type == type_) {
      put(slot, tensor.bytes);
    } else if (!is_float(tensor.type)) {
      faults_.push_back(slot.name + ": has type " + text_of(tensor.type) + ", expected " +
                        text_of(type_));
    } else if (const ConvertedTensor as_wanted = converted(tensor, type_); as_wanted.lost) {
      faults_.push_back(slot.name + ": is " + text_of(tensor.type) + " and holds " +
                        number_text(*as_wanted.lost) + ", which " + text_of(type_) +
                        " can only round; save it as " + text_of(type_));
    } else {
      put(slot, as_wanted.bytes);
      report_.converted.push_back(slot.name);
    }
  }

  void put(const TensorSlot& slot, std::span<const std::byte> bytes) {
    model_.compute().queue.copy_from_host(slot.data, bytes.data(), slot.bytes);
    report_.loaded.push_back(slot.name);
  }

  static std::string text_of(StoredType type) { return std::string(safetensors_name(type)); }

  /// If only a few layers differ, as with a new head, they may be meant to be initialised anew.
  [[nodiscard]] std::string advice() const {
    constexpr std::size_t kHead = 3;
    if (misshapen_.empty()) return "";
    if (misshapen_.size() > kHead) return "\nare these the weights of another network?";
    std::string flags;
    for (const std::string& layer : misshapen_) flags += " --init-skip " + shell_quoted(layer);
    return "\nto keep the random initial values of these layers ('skip' of the key 'init'), for "
           "instance for a new head:" +
           flags;
  }

  [[noreturn]] void refuse_empty() const {
    const auto& tensors = weights_.tensors->tensors();
    const std::string file = weights_.path.string();
    if (!report_.skipped.empty()) {
      throw checkpoint_error(file + ": init skips all of its tensors");
    }
    const std::string names = tensors.empty() || report_.left_new.empty()
                                  ? ""
                                  : "; it has '" + tensors.front().name + "', the network '" +
                                        report_.left_new.front() + "'";
    throw checkpoint_error(file + ": none of its " + std::to_string(tensors.size()) +
                           " tensors has a name in this network" + names);
  }

  Model& model_;
  const InitialWeights& weights_;
  StoredType type_;
  InitReport report_;
  std::set<std::string> known_;  // tensors of the file that the model uses
  std::vector<std::string> faults_;
  std::set<std::string> misshapen_;  // layers
};

/// The hash of the tensors with their names and types, except those that a pattern skips.
std::string hash_of(const SafetensorsFile& file, const InitFlags& flags) {
  Hash128 hash;
  for (const NamedTensor& tensor : file.tensors()) {
    if (is_skipped(flags, tensor.name)) continue;
    std::string head = tensor.name + " " + std::string(safetensors_name(tensor.type));
    for (const std::int64_t extent : tensor.shape) head += " " + std::to_string(extent);
    hash.update(head + "\n");
    hash.update(tensor.bytes);
  }
  return hash.hex();
}

/// "init" of a run.json; without flags if the run had none.
struct RecordedInit {
  InitFlags flags;
  std::string hash;
};

/// Empty for a file that cannot be read, or of a run from before ids existed.
std::optional<RecordedInit> recorded_init(const fs::path& run_json) {
  const std::optional<Json> run = run_record(run_json);
  if (!run || !run->contains("id")) return std::nullopt;
  try {
    const Json init = run->value("init", Json::object());
    return RecordedInit{{.from = init.value("from", ""), .skip = init.value("skip", Names())},
                        init.value("hash", "")};
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::string flags_text(const InitFlags& flags) {
  std::string text = "--init " + shell_quoted(flags.from.string());
  for (const std::string& pattern : flags.skip) text += " --init-skip " + shell_quoted(pattern);
  return text;
}

}  // namespace

InitialWeights read_initial_weights(const InitFlags& flags) {
  WeightsFile file = read_weights(flags.from);
  return {.flags = flags,
          .hash = hash_of(file.tensors, flags),
          .path = std::move(file.path),
          .tensors = std::move(file.tensors)};
}

void initialize_from(Model& model, InitialWeights& weights) {
  const std::vector<TensorSlot> slots = weight_slots(model, model.memory().trained());
  require_known(weights, slots);
  Filling filling(model, weights);
  for (const TensorSlot& slot : slots) filling.fill(slot);
  weights.report = filling.finish();
  model.publish_weights(WeightChange::load);
  weights.tensors.reset();
}

std::string first_names(std::span<const std::string> names, std::size_t shown) {
  const std::size_t named = std::min(names.size(), shown);
  std::string text = std::to_string(names.size()) + ": " + joined(names.first(named));
  if (named < names.size()) text += " and " + std::to_string(names.size() - named) + " more";
  return text;
}

std::string text_of(const InitialWeights& weights, std::size_t shown) {
  const InitReport& report = weights.report;
  const std::size_t all = report.loaded.size() + report.left_new.size();
  const std::string count =
      report.left_new.empty() ? "all" : std::to_string(report.loaded.size()) + " of";
  std::string text = "init: loaded " + count + " " + std::to_string(all) +
                     " tensors of the network from " + weights.path.string();
  const auto add = [&](const std::string& what, const Names& names) {
    if (!names.empty()) text += "\n  " + what + " " + first_names(names, shown);
  };
  add("loaded", report.loaded);
  add("converted to the network's type", report.converted);
  add("skipped as asked", report.skipped);
  add("skipped, not in the network", report.unknown);
  add("left new", report.left_new);
  return text;
}

Json json_of(const InitialWeights& weights) {
  return {{"from", weights.flags.from.string()}, {"skip", weights.flags.skip},
          {"file", weights.path.string()},       {"hash", weights.hash},
          {"loaded", weights.report.loaded},     {"converted", weights.report.converted},
          {"skipped", weights.report.skipped},   {"unknown", weights.report.unknown},
          {"new", weights.report.left_new}};
}

std::optional<InitialWeights> initial_weights_of_run(const fs::path& run_json) {
  const std::optional<RecordedInit> init = recorded_init(run_json);
  if (!init || init->flags.from.empty()) return std::nullopt;
  InitialWeights weights = read_initial_weights(init->flags);
  if (weights.hash == init->hash) return weights;
  throw checkpoint_error(weights.path.string() + ": has other weights than when the run of " +
                         run_json.parent_path().string() + " was started with " +
                         flags_text(init->flags) + "; nothing has been trained: start it again");
}

void require_init_of_run(const fs::path& run_json, const InitFlags& flags,
                         const std::string& advice) {
  const std::optional<RecordedInit> init = recorded_init(run_json);
  if (!init || init->flags == flags) return;
  const auto text = [](const InitFlags& of) {
    return of.from.empty() ? "without --init" : "with " + flags_text(of);
  };
  refuse_command("the run of " + run_json.parent_path().string() + " was started " +
                 text(init->flags) + ", not " + text(flags) + "; " + advice);
}

}  // namespace trainyard
