#include "run/snapshot.h"

#include <algorithm>

#include "base/error.h"
#include "checkpoint/manifest.h"
#include "checkpoint/tensor_slots.h"
#include "run/training_files.h"

namespace trainyard {
namespace {

constexpr const char* kWeights = "weights.safetensors";  // the copy that is evaluated
// The other copy, if there are two.
constexpr const char* kTrained = "trained.safetensors";
constexpr const char* kAverage = "average.safetensors";
constexpr const char* kOptimizer = "optimizer.safetensors";

/// Copies the tensors to the host, into memory that `content` owns.
std::vector<NamedTensor> copied(const std::vector<TensorSlot>& slots, const Model& model,
                                CheckpointContent& content) {
  Queue& queue = model.compute().queue;
  std::vector<NamedTensor> tensors;
  for (const TensorSlot& slot : slots) {
    std::vector<std::byte>& copy = content.copies.emplace_back(slot.bytes);
    queue.copy_to_host(copy.data(), slot.data, slot.bytes);
    tensors.push_back({.name = slot.name,
                       .type = stored_type_of(model.memory().type()),
                       .shape = extents(slot.shape),
                       .bytes = copy});
  }
  queue.wait();
  return tensors;
}

std::vector<TensorSlot> state_slots(Session& session) {
  return optimizer_slots(session.model(), *session.config().optimizer,
                         session.step().optimizer_step().parameters());
}

/// Why `tensor` cannot fill `slot`, or "".
std::string mismatch(const TensorSlot& slot, const NamedTensor* tensor, DType type) {
  if (tensor == nullptr) return slot.name + ": is not in the file";
  if (tensor->type != stored_type_of(type)) {
    return slot.name + ": has type " + std::string(safetensors_name(tensor->type)) + ", expected " +
           std::string(safetensors_name(stored_type_of(type)));
  }
  return shape_fault(slot, *tensor);
}

void fill(const std::vector<TensorSlot>& slots, const SafetensorsFile& file, const Model& model,
          std::vector<std::string>& faults) {
  for (const TensorSlot& slot : slots) {
    const NamedTensor* tensor = file.find(slot.name);
    const std::string fault = mismatch(slot, tensor, model.memory().type());
    if (fault.empty()) {
      model.compute().queue.copy_from_host(slot.data, tensor->bytes.data(), slot.bytes);
    } else {
      faults.push_back(fault);
    }
  }
}

const SafetensorsFile& file_of(const LoadedCheckpoint& checkpoint, const std::string& name) {
  const auto found = checkpoint.files.find(name);
  if (found == checkpoint.files.end()) {
    throw checkpoint_error(checkpoint.path.string() + ": has no " + name);
  }
  return found->second;
}

/// Fills the trained weights and their average. A checkpoint without one, from before the run had
/// it, starts it.
void fill_weights(Model& model, const LoadedCheckpoint& checkpoint,
                  std::vector<std::string>& faults) {
  const bool average_judged = checkpoint.files.contains(kTrained);
  fill(weight_slots(model, model.memory().trained()),
       file_of(checkpoint, average_judged ? kTrained : kWeights), model, faults);
  model.publish_weights(WeightChange::load);
  const char* const average = average_judged ? kWeights : kAverage;
  if (!model.memory().averages() || !checkpoint.files.contains(average)) return;
  fill(weight_slots(model, model.memory().averaged()), file_of(checkpoint, average), model, faults);
  model.publish_weights(WeightChange::average);
}

/// The state of a loss scale, for runs that have one.
Json loss_scale_json(const StepPosition& position) {
  return {{"loss_scale", position.loss_scale}, {"good_steps", position.good_steps}};
}

/// The state of a plateau, for runs that have one; its best value is null before the first epoch.
Json plateau_json(const PlateauState& plateau) {
  return {{"factor", plateau.factor},
          {"best", plateau.best ? Json(*plateau.best) : Json()},
          {"waited", plateau.waited},
          {"cooldown", plateau.cooldown}};
}

/// The inverse.
PlateauState plateau_state_of(const Json& json) {
  PlateauState plateau{.factor = json.at("factor"),
                       .best = {},
                       .waited = json.at("waited"),
                       .cooldown = json.at("cooldown")};
  if (!json.at("best").is_null()) plateau.best = json.at("best").get<double>();
  return plateau;
}

/// The inverse; without that number every step was finished. The schedule continues at the state's
/// position in epochs of `steps` steps.
StepPosition position_of(const Json& json, const TrainingState& state, std::int64_t steps) {
  StepPosition position{.tried = state.epoch * steps + state.step_in_epoch, .finished = state.step};
  if (json.contains("finished_updates")) position.finished = json.at("finished_updates");
  if (!json.contains("loss_scale")) return position;
  position.loss_scale = json.at("loss_scale");
  position.good_steps = json.at("good_steps");
  return position;
}

/// Calls `use` with the name and the member of each counter, in the order of the JSON state.
template <class State, class Use>
void each_counter(State& state, const Use& use) {
  use("epoch", state.epoch);
  use("step_in_epoch", state.step_in_epoch);
  use("skipped_steps", state.skipped_steps);
  use("step", state.step);
  use("loss_sum", state.totals.loss);
  use("metric_sums", state.totals.metrics);
  use("samples", state.totals.samples);
  use("gradient_norm_sum", state.gradient_norm_sum);
  use("rate", state.rate);
  use("best_value", state.best_value);
  use("best_epoch", state.best_epoch);
  use("epochs_since_best", state.epochs_since_best);
  use("elapsed_seconds", state.elapsed_seconds);
}

Json state_json(const Session& session, const TrainingState& state) {
  Json json;
  each_counter(state, [&](const char* name, const auto& counter) { json[name] = counter; });
  json["global_batch"] = session.batch().global;
  return json;
}

[[noreturn]] void refuse_state(const LoadedCheckpoint& checkpoint, const std::string& what) {
  throw checkpoint_error((checkpoint.path / kStateName).string() + ": " + what);
}

/// The result of `read` on the JSON state, which is not trusted.
template <class Read>
auto counters_of(const LoadedCheckpoint& checkpoint, const Read& read) {
  try {
    return read(checkpoint.state);
  } catch (const Json::exception& error) {
    refuse_state(checkpoint,
                 std::string("does not contain the counters of a run: ") + error.what());
  }
}

/// The inverse of state_json().
TrainingState state_of(const Json& json) {
  TrainingState state;
  each_counter(state, [&](const char* name, auto& counter) { json.at(name).get_to(counter); });
  if (json.contains("plateau")) state.plateau = plateau_state_of(json.at("plateau"));
  return state;
}

/// Converts the position in the epoch from steps of `saved` samples to `steps` steps of `batch`
/// samples: no sample is used twice, and the rest of a partial step is left out.
void count_in_batches(TrainingState& state, std::int64_t saved, std::int64_t batch,
                      std::int64_t steps) {
  if (saved == batch || state.step_in_epoch == 0) return;
  const std::int64_t samples = state.step_in_epoch * saved;
  const auto before = static_cast<double>(state.step_in_epoch);
  state.step_in_epoch = std::min((samples + batch - 1) / batch, steps);
  // The mean over the epoch's steps stays the same.
  state.gradient_norm_sum *= static_cast<double>(state.step_in_epoch) / before;
}

}  // namespace

CheckpointContent snapshot(Session& session, const TrainingState& state) {
  Model& model = session.model();
  CheckpointContent content{.epoch = state.epoch, .step = state.step};
  content.files[kWeights] = copied(weight_slots(model, model.judged_weights()), model, content);
  const ModelMemory& memory = model.memory();
  if (model.judges_average()) {
    content.files[kTrained] = copied(weight_slots(model, memory.trained()), model, content);
  } else if (memory.averages()) {
    content.files[kAverage] = copied(weight_slots(model, memory.averaged()), model, content);
  }
  content.files[kOptimizer] = copied(state_slots(session), model, content);
  content.state = state_json(session, state);
  const bool scaled = session.step().optimizer_step().scales_loss();
  if (scaled || weight_sums(model.graph())) {  // steps may be skipped
    const StepPosition position = session.step().position();
    content.state["finished_updates"] = position.finished;
    if (scaled) content.state.update(loss_scale_json(position));
  }
  if (session.config().plateau) content.state["plateau"] = plateau_json(state.plateau);
  const std::string statistics = hash_of(session.data().statistics);
  if (!statistics.empty()) content.state["statistics"] = statistics;
  return content;
}

std::string statistics_hash_of(const LoadedCheckpoint& checkpoint) {
  return counters_of(checkpoint, [](const Json& json) {
    return json.contains("statistics") ? json.at("statistics").get<std::string>() : "";
  });
}

std::int64_t global_batch_of(const LoadedCheckpoint& checkpoint) {
  const auto batch = counters_of(
      checkpoint, [](const Json& json) { return json.at("global_batch").get<std::int64_t>(); });
  if (batch < 1) refuse_state(checkpoint, "has a global batch of " + std::to_string(batch));
  return batch;
}

TrainingState restore(Session& session, const LoadedCheckpoint& checkpoint) {
  Model& model = session.model();
  std::vector<std::string> faults;
  fill_weights(model, checkpoint, faults);
  fill(state_slots(session), file_of(checkpoint, kOptimizer), model, faults);
  raise_misfits(faults, checkpoint.path.string());
  TrainingState state = counters_of(checkpoint, state_of);
  if (state.epoch < 0 || state.step < 0 || state.totals.samples < 0) {
    refuse_state(checkpoint, "has a negative count");
  }
  const auto metrics = static_cast<std::size_t>(metric_sums(model.graph()));
  if (state.step_in_epoch != 0 && state.totals.metrics.size() != metrics) {
    refuse_state(checkpoint, "has " + std::to_string(state.totals.metrics.size()) +
                                 " sums of metrics, the run has " + std::to_string(metrics) +
                                 "; were they changed?");
  }
  const PlateauState& plateau = state.plateau;
  if (!(plateau.factor >= 0 && plateau.factor <= 1) || plateau.waited < 0 || plateau.cooldown < 0) {
    refuse_state(checkpoint, "has a plateau that no run can have");
  }
  const std::int64_t saved = global_batch_of(checkpoint);
  const std::int64_t saved_steps = session.data().train->size() / saved;
  if (state.step_in_epoch < 0 || state.step_in_epoch > saved_steps) {
    throw checkpoint_error(checkpoint.path.string() + ": is at step " +
                           std::to_string(state.step_in_epoch) + " of an epoch of " +
                           std::to_string(saved_steps) + " steps; were the data changed?");
  }
  const BatchNumbers& batch = session.batch();
  count_in_batches(state, saved, batch.global, batch.steps);
  const bool scaled = checkpoint.state.contains("loss_scale");
  if (scaled != session.step().optimizer_step().scales_loss()) {
    refuse_state(checkpoint, std::string(scaled ? "has a loss scale, the run has none"
                                                : "has no loss scale, the run has one") +
                                 "; was 'loss_scale' or 'precision' changed?");
  }
  if (checkpoint.state.contains("plateau") != session.config().plateau.has_value()) {
    refuse_state(checkpoint, std::string(session.config().plateau
                                             ? "has no state of a plateau, the run has one"
                                             : "has the state of a plateau, the run has none") +
                                 "; was 'plateau' changed?");
  }
  session.step().start_at(counters_of(
      checkpoint, [&](const Json& json) { return position_of(json, state, batch.steps); }));
  return state;
}

}  // namespace trainyard
