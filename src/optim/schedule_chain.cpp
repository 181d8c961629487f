// Schedules one after another: `chain: {parts: [linear: {from: 0.2, to: 1, length: 5}, cosine]}`.
#include <vector>

#include "optim/kinds.h"

namespace trainyard {
namespace {

/// Each part counts its own t from its start and lasts for its `length`; the last one takes the
/// rest of the run.
class Chain final : public Schedule {
 public:
  explicit Chain(config::Fields& fields) {
    fields.list_of("parts", parts_, "the schedules in order; each but the last gives its 'length'",
                   chain_part_kinds());
    if (fields.describing()) return;
    if (parts_.empty()) {
      fields.error(
          "",
          "'chain' needs schedules, as in {parts: [{linear: {from: 0.2, to: 1, length: 5}}, "
          "cosine]}");
    }
    for (std::size_t i = 0; i + 1 < parts_.size(); ++i) {
      if (parts_[i]->length(1)) continue;
      fields.error("parts", "part " + std::to_string(i + 1) + " of the chain, '" +
                                std::string(parts_[i]->name()) +
                                "', needs a 'length': only the last part takes the rest of the "
                                "run");
    }
  }
  [[nodiscard]] std::string_view name() const override { return "chain"; }
  [[nodiscard]] std::int64_t warmup_steps(std::int64_t steps_per_epoch) const override {
    return parts_[0]->warmup_steps(steps_per_epoch);
  }
  [[nodiscard]] std::int64_t last_part(std::int64_t steps_per_epoch) const override {
    std::int64_t begin = 0;
    for (std::size_t i = 0; i + 1 < parts_.size(); ++i) {
      begin += parts_[i]->length(steps_per_epoch).value_or(0);
    }
    const std::int64_t own = parts_.back()->last_part(steps_per_epoch);
    return own > 0 ? begin + own : begin;
  }
  [[nodiscard]] double rate(std::int64_t step, const ScheduleContext& context) const override {
    ScheduleContext own = context;
    for (std::size_t i = 0; i + 1 < parts_.size(); ++i) {
      const std::int64_t length = parts_[i]->length(context.steps_per_epoch).value_or(0);
      if (step < length) return parts_[i]->rate(step, own);
      step -= length;
      own.before += length;
    }
    return parts_.back()->rate(step, own);
  }

 private:
  std::vector<std::unique_ptr<Schedule>> parts_;
};

}  // namespace

std::unique_ptr<Schedule> read_chain(config::Fields& fields) {
  return std::make_unique<Chain>(fields);
}

}  // namespace trainyard
