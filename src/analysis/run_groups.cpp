#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/run_table.h"
#include "base/error.h"
#include "base/text.h"
#include "config/diagnostics.h"
#include "run/config/run_config.h"

namespace trainyard {

namespace {

using Values = std::vector<std::string>;

constexpr const char* kSeed = "seed";
constexpr const char* kComplete = "complete";

/// "0.10" and "1e-1" are one value.
std::string canonical(const std::string& value) {
  const auto number = parse_real(value);
  return number ? number_text(*number) : value;
}

struct Statistic {
  std::optional<double> mean, deviation;
};

/// Over the values that are there.
Statistic statistic_of(const std::vector<std::optional<double>>& values) {
  double sum = 0, squares = 0, count = 0;
  for (const auto& value : values) {
    if (value) sum += *value, ++count;
  }
  if (count == 0) return {};
  Statistic result{.mean = sum / count};
  for (const auto& value : values) {
    if (value) squares += (*value - *result.mean) * (*value - *result.mean);
  }
  if (count > 1) result.deviation = std::sqrt(squares / (count - 1));
  return result;
}

/// The statistic of a value of each row.
template <typename Value>
Statistic over(const std::vector<const RunTableRow*>& rows, const Value& value) {
  std::vector<std::optional<double>> values;
  for (const RunTableRow* row : rows) values.push_back(value(*row));
  return statistic_of(values);
}

/// The rows of one combination of values, in their order.
using Members = std::vector<std::size_t>;

class Grouping {
 public:
  Grouping(std::span<const RecordedRun> runs, const Values& by,
           const std::function<void(const std::string&)>& warn)
      : runs_(runs), by_(by), warn_(warn) {
    Values keys = by;
    keys.emplace_back(kSeed);
    table_ = tabulate(runs, keys);
    for (std::size_t key = 0; key < by.size(); ++key) require_key(key);
  }

  RunTable groups() {
    RunTable groups{.measured = table_.measured, .keys = by_, .rows = {}, .grouped = true};
    std::map<Values, std::size_t> known;
    std::vector<Members> all;
    for (std::size_t i = 0; i < table_.rows.size(); ++i) {
      const auto [found, is_new] = known.emplace(values_of(i), all.size());
      if (is_new) all.emplace_back();
      all[found->second].push_back(i);
    }
    for (const Members& members : all) {
      warn_of_others(members);
      groups.rows.push_back(row_of(members));
    }
    return groups;
  }

 private:
  void require_key(std::size_t key) const {
    const bool known = std::ranges::any_of(
        table_.rows, [&](const RunTableRow& row) { return !row.values[key].empty(); });
    if (known) return;
    const Values differ = tabulate(runs_).keys;
    refuse_command("--by: no run has a key '" + by_[key] + "'" +
                   config::suggestion(by_[key], differ) +
                   (differ.empty() ? "" : " (keys that differ: " + joined(differ) + ")"));
  }

  [[nodiscard]] Values values_of(std::size_t row) const {
    const Values& all = table_.rows[row].values;
    Values values;
    for (std::size_t i = 0; i < by_.size(); ++i) values.push_back(canonical(all[i]));
    return values;
  }

  /// "optimizer.sgd.lr=0.1, batch.total=64".
  [[nodiscard]] std::string name_of(const Members& members) const {
    Values words;
    for (std::size_t i = 0; i < by_.size(); ++i) {
      words.push_back(by_[i] + "=" + table_.rows[members[0]].values[i]);
    }
    return joined(words);
  }

  void warn_of_others(const Members& members) const {
    std::vector<RecordedRun> runs;
    for (const std::size_t i : members) runs.push_back(runs_[i]);
    Values others = tabulate(runs).keys;
    std::erase_if(others, [&](const std::string& key) {
      const bool result = key == "run.init" || key == "run.ranks" || key == "run.global_batch";
      return key == kSeed || key == "name" || (key.starts_with("run.") && !result) ||
             std::ranges::find(by_, key) != by_.end();
    });
    if (others.empty()) return;
    warn_("the runs of " + name_of(members) + " differ also in " + joined(others) +
          ": their mean is over that too; add it to --by");
  }

  /// The complete rows, the latest of each seed.
  [[nodiscard]] std::vector<const RunTableRow*> counted(const Members& members,
                                                        RunGroup& group) const {
    std::vector<const RunTableRow*> rows;
    for (const std::size_t i : members) {
      const RunTableRow& row = table_.rows[i];
      if (row.state != kComplete) {
        group.left_out.push_back(row.run);
        continue;
      }
      const auto same = std::ranges::find_if(rows, [&](const RunTableRow* other) {
        return other->values.back() == row.values.back();
      });
      if (same == rows.end()) {
        rows.push_back(&row);
        continue;
      }
      warn_(row.run + " has the seed of " + (*same)->run + ": only the later one counts");
      *same = &row;
    }
    return rows;
  }

  [[nodiscard]] RunTableRow row_of(const Members& members) const {
    RunGroup group;
    const std::vector<const RunTableRow*> rows = counted(members, group);
    RunTableRow row{.run = "", .values = table_.rows[members[0]].values};
    row.values.pop_back();
    for (const RunTableRow* one : rows) {
      group.runs.push_back(one->run);
      group.seeds.push_back(one->values.back());
    }
    add_best(rows, row, group);
    row.elapsed_s = over(rows, [](const RunTableRow& one) { return one.elapsed_s; }).mean;
    row.images_per_s = over(rows, [](const RunTableRow& one) { return one.images_per_s; }).mean;
    for (std::size_t i = 0; i < table_.measured.size(); ++i) {
      const auto last = over(rows, [&](const RunTableRow& one) { return one.measured[i].last; });
      const auto best = over(rows, [&](const RunTableRow& one) { return one.measured[i].best; });
      row.measured.push_back({last.mean, best.mean});
      group.measured.push_back({last.deviation, best.deviation});
    }
    row.group = std::move(group);
    return row;
  }

  static void add_best(const std::vector<const RunTableRow*>& rows, RunTableRow& row,
                       RunGroup& group) {
    RunTable members;
    for (const RunTableRow* one : rows) members.rows.push_back(*one);
    const auto best = best_row(members);
    if (!best) return;
    const Statistic statistic = over(rows, [](const RunTableRow& one) {
      return one.best ? std::optional(one.best->value) : std::nullopt;
    });
    row.run = members.rows[*best].run;
    row.best = BestValue{.metric = common_metric(members), .value = *statistic.mean};
    group.best = statistic.deviation;
  }

  std::span<const RecordedRun> runs_;
  const Values& by_;
  const std::function<void(const std::string&)>& warn_;
  RunTable table_;
};

}  // namespace

RunTable group_runs(std::span<const RecordedRun> runs, const std::vector<std::string>& by,
                    const std::function<void(const std::string&)>& warn) {
  return Grouping(runs, by, warn).groups();
}

}  // namespace trainyard
