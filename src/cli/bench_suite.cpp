#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/text.h"
#include "bench/suite.h"
#include "cli/bench_scaling.h"
#include "cli/output.h"
#include "cli/version.h"
#include "config/diagnostics.h"

namespace trainyard::cli {
namespace {

/// The published rates of a suite: NAME.csv in the folder suites/ of the configs.
std::vector<SuiteLine> suite_named(const std::string& name) {
  std::vector<std::string> names;
  for (const fs::path& file : known_suites()) {
    names.push_back(file.stem().string());
    if (names.back() == name) return read_suite(file);
  }
  refuse_command("--suite: there is no suite '" + name + "'; known: " + joined(names) +
                 config::suggestion(name, names));
}

/// The rows that --rows names, or all: the first rate of each config.
std::vector<SuiteLine> rows_of(const SuiteFlags& flags, const std::vector<SuiteLine>& suite) {
  std::vector<SuiteLine> rows;
  std::vector<std::string> configs;
  for (const SuiteLine& line : suite) {
    if (configs.empty() || configs.back() != line.config) configs.push_back(line.config);
  }
  for (const std::string& name : flags.rows.empty() ? configs : split(flags.rows, ',')) {
    const auto found = std::ranges::find(suite, name, &SuiteLine::config);
    if (found == suite.end()) {
      refuse_command("--rows: " + flags.name + " has no row '" + name + "'; it has " +
                     joined(configs) + config::suggestion(name, configs));
    }
    rows.push_back(*found);
  }
  return rows;
}

/// The CPU, then the counts of --scaling.
std::vector<SuitePlace> places_of(const ScalingFlags& flags) {
  const bool gpus = gpus_of(flags.run) != "0";
  const std::string counts = !flags.counts.empty() ? flags.counts : gpus ? "1,4,8" : "1";
  std::vector<SuitePlace> places = {{.ranks = 1}};
  for (const int count : parse_counts(counts, false)) {
    const SuitePlace place{.ranks = count, .gpus = gpus};
    if (place != places.front()) places.push_back(place);
  }
  return places;
}

/// The command line of a row's ranks.
std::vector<std::string> arguments_of(const ScalingFlags& flags, const SuitePlace& place) {
  std::vector<std::string> words = {"bench",
                                    "--config",
                                    flags.run.config,
                                    "--scaling",
                                    std::to_string(place.ranks),
                                    "--windows",
                                    std::to_string(flags.windows),
                                    "--seconds",
                                    fmt::format("{}", flags.window_seconds)};
  const auto add = [&](const std::string& flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  add("--gpus", flags.run.gpus);
  add("--device", flags.run.device);
  add("--precision", flags.run.precision);
  if (flags.run.threads > 0) add("--threads", std::to_string(flags.run.threads));
  if (flags.batch) add("--batch", std::to_string(*flags.batch));
  for (const std::string& change : flags.run.overrides) add("--set", change);
  if (flags.run.no_tune) words.emplace_back("--no-tune");
  if (flags.inference) words.emplace_back("--inference");
  return words;
}

/// The error that a rank printed, on one line.
std::string error_in(const std::string& printed) {
  constexpr std::string_view kMark = "train: error: ";
  const std::size_t mark = printed.find(kMark);
  const std::string_view from =
      std::string_view(printed).substr(mark == std::string::npos ? 0 : mark + kMark.size());
  return std::string(trimmed(from.substr(0, trimmed(from).find('\n'))));
}

/// What the starts of a row at a place gave.
struct RowStarts {
  std::vector<ScalingRound> rounds;
  SpawnResult end;
  std::string error;  // message of a start that failed
};

RowStarts start_row(const ScalingFlags& flags, const SuitePlace& place) {
  const RankPool pool =
      local_pool(place.gpus ? gpus_for_ranks(flags, place.ranks) : RankCount{.count = place.ranks});
  const std::vector<std::string> arguments = arguments_of(flags, place);
  RowStarts starts;
  for (int round = 0; round < flags.rounds; ++round) {
    const RankOutput results = RankOutput::anonymous(fs::temp_directory_path());
    const RankOutput errors = RankOutput::anonymous(fs::temp_directory_path());
    starts.end = pool.start(
        {.ranks = place.ranks, .arguments = arguments, .results = &results, .errors = &errors});
    if (starts.end.signal != 0) return starts;
    if (starts.end.exit_code != 0) {
      starts.error = error_in(errors.text());
      if (starts.error.empty()) starts.error = starts.end.message;
      return starts;
    }
    starts.rounds.push_back(round_in(results.text(), place.ranks).round);
  }
  return starts;
}

/// Measures the rows one after another.
class SuiteRun {
 public:
  SuiteRun(const ScalingFlags& flags, const Context& context) : flags_(flags), context_(context) {}

  void measure(const SuiteLine& row, const SuitePlace& place);
  [[nodiscard]] const std::vector<SuiteLine>& lines() const { return lines_; }
  /// 0 if anything was measured.
  [[nodiscard]] int exit_code() const { return measured_ ? 0 : first_failure_; }

 private:
  [[nodiscard]] SuiteLine measured(const SuiteLine& row, const SuitePlace& place);

  const ScalingFlags& flags_;
  const Context& context_;
  std::vector<SuiteLine> lines_;
  bool measured_ = false;
  int first_failure_ = 0;
};

SuiteLine SuiteRun::measured(const SuiteLine& row, const SuitePlace& place) {
  SuiteLine found{
      .row = row.row, .config = row.config, .place = place, .inference = flags_.inference};
  std::optional<ScalingRow> figures;
  int code = 0;
  try {
    ScalingFlags flags = flags_;
    flags.run.config = row.config;
    if (!place.gpus && flags.run.device.empty()) flags.run.gpus = "0";
    const ScalingSubject subject =
        scaling_subject(flags, scaling_config(flags, place.ranks), place.ranks);
    found.unit = subject.unit;
    found.batch = subject.batch * place.ranks;
    const RowStarts starts = start_row(flags, place);
    if (starts.end.signal != 0) static_cast<void>(end_as(starts.end, context_.messages));
    found.reason = starts.error;
    code = starts.end.exit_code;
    if (code == 0) figures = scaling_rows(starts.rounds).front();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::command_line || error.kind() == ErrorKind::bug) throw;
    found.reason = trimmed(split(error.what(), '\n').front());
    code = static_cast<int>(error.kind());
  }
  measured_ = measured_ || code == 0;
  if (first_failure_ == 0) first_failure_ = code;
  return our_line(std::move(found), version_text(), figures);
}

void SuiteRun::measure(const SuiteLine& row, const SuitePlace& place) {
  std::fprintf(stderr, "%s: %s\n", row.config.c_str(), place_text(place).c_str());
  lines_.push_back(measured(row, place));
  const SuiteLine& line = lines_.back();
  if (!line.rate) std::fprintf(stderr, "  not measured: %s\n", line.reason.c_str());
}

}  // namespace

int bench_suite(const SuiteFlags& suite_flags, const ScalingFlags& flags, const Context& context) {
  const std::vector<SuiteLine> published = suite_named(suite_flags.name);
  const std::vector<SuiteLine> rows = rows_of(suite_flags, published);
  const std::vector<SuitePlace> places = places_of(flags);
  const PlotFiles plot = plot_files(flags, suite_flags.name + ".png");
  if (own_identity()) {
    refuse_command("--suite starts the ranks itself; start train directly");
  }
  SuiteRun run(flags, context);
  for (const SuiteLine& row : rows) {
    for (const SuitePlace& place : places) run.measure(row, place);
  }
  const SuiteReport report{suite_flags.name, with_published(run.lines(), published)};
  print(flags.json ? suite_json(report) : suite_table(report), flags.json);
  write_files(plot, suite_csv(report), suite_script(report, plot.output));
  return run.exit_code();
}

}  // namespace trainyard::cli
