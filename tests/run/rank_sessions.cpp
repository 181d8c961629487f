#include "rank_sessions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "base/parallel.h"
#include "plain_host.h"
#include "ranks/spawn/spawn.h"
#include "run/snapshot.h"
#include "run_text.h"

namespace trainyard::test {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Stores the losses as steps.csv would show them.
class Losses final : public MetricsSink {
 public:
  explicit Losses(std::vector<double>& losses) : losses_(losses) {}
  void on_epoch(const EpochRow&) override {}
  void on_step(const StepRow& row) override { losses_.push_back(row.loss.value()); }

 private:
  std::vector<double>& losses_;
};

TrainingState begin(Session& session, const LoadedCheckpoint* from) {
  if (from != nullptr) return restore(session, *from);
  session.model().initialize(static_cast<std::uint64_t>(session.config().seed));
  return {};
}

void run_rank(const PartialRun& stretch, RankGroup& group, PartialRunEnd& end) {
  set_threads(1);
  Session session(read_run(stretch.yaml, stretch.overrides), {.kind = stretch.device, .threads = 1},
                  nullptr, group);
  TrainerOptions options = stretch.options;
  options.epochs = session.batch().epochs;
  std::vector<double> own_losses;
  Losses losses(group.rank() == 0 ? end.losses : own_losses);
  PlainHost host(1, [&](const TrainingState& now, bool edge) -> std::optional<Outcome> {
    stretch.before_update(session, group, now);
    if (stretch.until > 0 && now.step == stretch.until) return Outcome::interrupted;
    if (stretch.stop) return stretch.stop(session, group, now, edge);
    return std::nullopt;
  });
  Trainer trainer({.step = session.step(),
                   .train = *session.data().train_feeder,
                   .val = *session.data().val_feeder,
                   .sink = losses,
                   .ranks = group,
                   .host = host},
                  options, begin(session, stretch.from));
  static_cast<void>(trainer.run());
  if (group.rank() == 0) end.reached = reloaded(snapshot(session, trainer.state()));
}

template <class T>
double largest_of(const NamedTensor& a, const NamedTensor& b) {
  const std::span x(reinterpret_cast<const T*>(a.bytes.data()), a.bytes.size() / sizeof(T));
  const std::span y(reinterpret_cast<const T*>(b.bytes.data()), b.bytes.size() / sizeof(T));
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double difference = std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
    largest = std::isnan(difference) ? kInfinite : std::max(largest, difference);
  }
  return largest;
}

double largest_difference(const NamedTensor& a, const NamedTensor& b) {
  if (b.type != a.type || a.shape != b.shape) return kInfinite;
  if (a.type == StoredType::f64) return largest_of<double>(a, b);
  return a.type == StoredType::f32 ? largest_of<float>(a, b) : kInfinite;
}

}  // namespace

LoadedCheckpoint reloaded(const CheckpointContent& content) {
  LoadedCheckpoint loaded{.path = "memory", .epoch = content.epoch, .step = content.step};
  for (const auto& [name, tensors] : content.files) {
    const SafetensorsImage image = encode_safetensors(tensors);
    std::vector<std::byte> bytes;
    for (const auto part : image.parts()) bytes.insert(bytes.end(), part.begin(), part.end());
    loaded.files.emplace(name, SafetensorsFile::parse(std::move(bytes), name));
  }
  loaded.state = content.state;
  return loaded;
}

testing::Outcomes run_groups(int ranks, const std::function<void(RankGroup&)>& work) {
  const int port = ranks > 1 ? free_port() : 0;
  return testing::run_threads(ranks, [&](int rank) {
    RankGroup group({.identity = {.rank = rank,
                                  .ranks = ranks,
                                  .local_rank = rank,
                                  .local_ranks = ranks,
                                  .master_address = "127.0.0.1",
                                  .master_port = port,
                                  .token = "a token",
                                  .source = "local"},
                     .host = "host" + std::to_string(rank),
                     .on_failure = [](const Failure&) {}});
    try {
      work(group);
    } catch (const Error& error) {
      static_cast<void>(group.report(error));
      throw;
    }
    group.sign_off();
  });
}

PartialRunEnd run_stretch(const PartialRun& stretch) {
  PartialRunEnd end;
  end.outcomes =
      run_groups(stretch.ranks, [&](RankGroup& group) { run_rank(stretch, group, end); });
  const auto failed = [](const std::string& outcome) { return !outcome.empty(); };
  if (std::ranges::any_of(end.outcomes, failed)) end.reached.reset();
  return end;
}

double largest_difference(const LoadedCheckpoint& a, const LoadedCheckpoint& b) {
  double largest = 0;
  for (const char* file : {"weights.safetensors", "optimizer.safetensors"}) {
    const auto& names = a.files.at(file).tensors();
    if (names.empty() || names.size() != b.files.at(file).tensors().size()) return kInfinite;
    for (const NamedTensor& tensor : names) {
      const NamedTensor* const other = b.files.at(file).find(tensor.name);
      if (other == nullptr) return kInfinite;
      largest = std::max(largest, largest_difference(tensor, *other));
    }
  }
  return largest;
}

}  // namespace trainyard::test
