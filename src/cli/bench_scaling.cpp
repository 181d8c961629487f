#include "cli/bench_scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ranges>

#include "base/error.h"
#include "base/output_place.h"
#include "base/text.h"
#include "cli/checks.h"
#include "cli/draw.h"
#include "cli/output.h"
#include "graph/network_input.h"
#include "report/plotter.h"
#include "run/config/batch_numbers.h"
#include "run/config/layer_overrides.h"

namespace trainyard::cli {
namespace {

constexpr int kMostHere = 256;

/// The most ranks on one host, if `most` is the largest count.
int most_on_a_host(const ScalingFlags& flags, int most) {
  return flags.spawn.hosts.empty() ? most : std::min(most, ranks_per_host(flags.run, flags.spawn));
}

int measure_as_rank(const ScalingFlags& flags, int most, const RankIdentity& identity,
                    Messages& messages) {
  RunConfig run = scaling_config(flags, most);
  RankGroup ranks(rank_group_options(identity, run.limits, messages));
  const ScalingOptions options{.batch = scaling_subject(flags, run, most).batch,
                               .windows = flags.windows,
                               .window_seconds = flags.window_seconds,
                               .inference = flags.inference,
                               .device = device_in_group(flags.run, flags.spawn, ranks)};
  const ScalingRound round = measure_scaling(std::move(run), options, ranks);
  if (identity.rank == 0) std::fputs(round_line(round).c_str(), stdout);
  return 0;
}

/// The devices for the ranks of this machine: the GPUs, or the CPU.
RankCount ranks_here(const ScalingFlags& flags, int most) {
  if (flags.spawn.replicas) {
    refuse_command(
        "--replicas " + std::to_string(*flags.spawn.replicas) +
        ": --scaling itself gives the numbers of ranks; leave out --replicas, or give --hosts, "
        "with which it is the number of ranks per host");
  }
  const std::string gpus = gpus_of(flags.run);
  const bool processor =
      gpus == "0" || (gpus.empty() && open_gpus(parse_gpus(gpus), gpu_search_paths()).gpus.empty());
  return processor ? RankCount{.count = most} : gpus_for_ranks(flags, most);
}

RankPool pool_of(const ScalingFlags& flags, const std::vector<int>& counts) {
  if (!flags.spawn.hosts.empty()) return host_pool(flags.run, flags.spawn, counts);
  return local_pool(ranks_here(flags, counts.back()));
}

/// The results of the starts; `end` is the one that failed, or the last.
struct Starts {
  std::vector<ScalingRound> rounds;
  SpawnResult end;
};

/// Counts take turns, so that slow phases of the machine affect all of them. The largest is first,
/// so that missing resources show before anything is measured.
Starts start_all(const ScalingFlags& flags, const std::vector<int>& counts, const RankPool& pool,
                 const Context& context) {
  Starts starts;
  for (int round = 1; round <= flags.rounds; ++round) {
    for (const int count : std::views::reverse(counts)) {
      std::fprintf(stderr, "round %d of %d: %s\n", round, flags.rounds,
                   count_text(count, "rank").c_str());
      const RankOutput results = RankOutput::anonymous(fs::temp_directory_path());
      starts.end =
          pool.start({.ranks = count, .arguments = context.arguments, .results = &results});
      if (starts.end.exit_code != 0 || starts.end.signal != 0) return starts;
      PrintedRound printed = round_in(results.text(), count);
      std::fputs(printable(printed.others).c_str(), stderr);
      starts.rounds.push_back(std::move(printed.round));
    }
  }
  return starts;
}

int start_and_tell(const ScalingFlags& flags, const std::vector<int>& counts,
                   const Context& context) {
  const ScalingSubject subject =
      scaling_subject(flags, scaling_config(flags, counts.back()), counts.back());
  const PlotFiles plot = plot_files(flags, "scaling.png");
  const RankPool pool = pool_of(flags, counts);
  const Starts starts = start_all(flags, counts, pool, context);
  if (starts.end.exit_code != 0 || starts.end.signal != 0) {
    return end_as(starts.end, context.messages);
  }
  const std::vector<ScalingRow> rows = scaling_rows(starts.rounds);
  print(flags.json ? scaling_json(subject, rows) : scaling_table(subject, rows), flags.json);
  write_files(plot, scaling_csv(subject, rows), scaling_script(subject, rows, plot.output));
  return 0;
}

/// In operations of the direct form.
double share_of_peak(const StepTime& layer, const BenchResult& result) {
  return layer.gflop / layer.seconds / result.peaks.gflops;
}

std::string line_of(const StepTime& layer, const BenchResult& result) {
  std::string line = fmt::format("  {:9.3f} ms  {:5.1f} %  {}", 1e3 * layer.seconds,
                                 1e5 * layer.seconds / result.step_milliseconds, layer.name);
  if (layer.gflop == 0) return line + "\n";
  if (!layer.algorithm.name.empty()) line += ", " + layer.algorithm.name;
  const double share = 100 * share_of_peak(layer, result);
  line += fmt::format(": {:.0f} % of the peak", share);
  if (layer.algorithm.operations < 1) {
    line += fmt::format(", {:.0f} % in executed operations", share * layer.algorithm.operations);
  }
  return line + "\n";
}

}  // namespace

RunConfig scaling_config(const ScalingFlags& flags, int most) {
  RunConfig run = read_config(flags.run, most_on_a_host(flags, most));
  if (run.batch.shards) {
    refuse_command(fmt::format(
        "--scaling gives each rank its own batch, but 'batch.shards: {}' makes one batch for all "
        "ranks; leave out the shards, as with --set 'batch={{per_gpu: 64}}' ('train bench' without "
        "--scaling measures their cost)",
        *run.batch.shards));
  }
  return run;
}

ScalingSubject scaling_subject(const ScalingFlags& flags, const RunConfig& run, int most) {
  const SampleUnit unit = sample_unit(build_network(run, 1));
  ScalingSubject subject{
      .network = run.name, .unit = std::string(unit.plural), .rounds = flags.rounds};
  if (flags.batch) {
    subject.batch = *flags.batch;
    subject.batch_from = "--batch";
  } else if (run.batch.per_gpu) {
    subject.batch = *run.batch.per_gpu;
    subject.batch_from = "batch.per_gpu";
  } else {
    subject.batch = replica_batch(run, most);
    subject.batch_from = fmt::format("batch.total on {} ranks", most);
  }
  return subject;
}

RankCount gpus_for_ranks(const ScalingFlags& flags, int most) {
  const std::string gpus = gpus_of(flags.run);
  const UsableGpus usable = open_gpus(request_for_ranks(gpus, most), gpu_search_paths());
  if (most > 1) require_joining_libraries(usable);
  RankCount ranks{.count = most};
  for (const GpuFinding& gpu : usable.gpus) ranks.gpus.push_back(gpu.ordinal);
  if (static_cast<int>(ranks.gpus.size()) >= most) return ranks;
  throw device_error(
      fmt::format("--scaling needs {} GPUs, but --gpus {} selects {}; leave out the larger counts, "
                  "or use --gpus 0 for the CPU",
                  most, gpus, ranks.gpus.size()));
}

PlotFiles plot_files(const ScalingFlags& flags, const std::string& usual) {
  PlotFiles plot{.gnuplot = gnuplot_program(),
                 .output = kept_output("--plot", flags.output.empty() ? usual : flags.output)};
  if (!flags.output.empty()) check_plot_output(plot.output, !plot.gnuplot.empty());
  return plot;
}

void write_files(const PlotFiles& plot, const std::string& csv, const std::string& script) {
  const fs::path table = fs::path(plot.output).replace_extension(".csv");
  if (!output_place(plot.output).is_stream()) Disk().replace_file(table, csv);
  if (plot.gnuplot.empty()) {
    return print_warning(missing_gnuplot_warning(table.filename().string()));
  }
  const std::string complaint = draw_script(script, plot.output);
  if (!complaint.empty()) print_warning("no plot was drawn: " + complaint);
}

std::vector<int> parse_counts(const std::string& text, bool hosts) {
  const int most = hosts ? kMostRanks : kMostHere;
  std::vector<int> counts;
  for (const std::string& word : split(text, ',')) {
    const auto number = parse_integer(word);
    if (!number || *number < 1 || *number > most) {
      refuse_command(fmt::format(
          "--scaling {}: '{}' is not a number of ranks from 1 to {}; give a list, as in "
          "--scaling 1,2,4",
          text, word, most));
    }
    counts.push_back(static_cast<int>(*number));
  }
  std::ranges::sort(counts);
  const auto twice = std::ranges::adjacent_find(counts);
  if (twice == counts.end()) return counts;
  refuse_command(
      fmt::format("--scaling {}: {} appears twice; give each number of ranks once", text, *twice));
}

int bench_scaling(const ScalingFlags& flags, const Context& context) {
  const std::vector<int> counts = parse_counts(flags.counts, !flags.spawn.hosts.empty());
  check_host_flags(flags.spawn);
  const auto identity = own_identity();
  if (!identity) return start_and_tell(flags, counts, context);
  if (!train_started(*identity)) {
    refuse_command("--scaling starts the ranks, but " + other_launcher(*identity) +
                   "; start train directly, with --hosts for several machines");
  }
  return measure_as_rank(flags, counts.back(), *identity, context.messages);
}

std::string layers_text(const BenchResult& result) {
  std::string out;
  double products = 0, others = 0;
  for (const StepTime& layer : result.layers) {
    out += line_of(layer, result);
    (layer.gflop > 0 ? products : others) += 1e3 * layer.seconds;
  }
  if (result.layers.empty()) return out;
  return out + fmt::format("  products {:.2f} ms ({:.0f} %), all else {:.2f} ms ({:.0f} %)\n",
                           products, 100 * products / (products + others), others,
                           100 * others / (products + others));
}

std::string node_times_text(const BenchResult& result) {
  if (result.node_times.empty()) return "";
  std::string out;
  double sum = 0;
  for (const NodeTime& time : result.node_times) {
    const counted::Launch& launch = time.of.launch;
    const std::string what = launch.functor.empty() ? launch.kind : launch.functor;
    out += fmt::format("  {:9.2f} us  {}{}{}\n", time.microseconds, time.step,
                       what.empty() ? "" : ", " + what,
                       time.of.count > 1 ? fmt::format(", {} times", time.of.count) : "");
    sum += time.microseconds * static_cast<double>(time.of.count);
  }
  return out + fmt::format("  {:9.2f} us  all nodes one after the other, each warm\n", sum);
}

Json node_times_json(const BenchResult& result) {
  Json rows = Json::array();
  for (const NodeTime& time : result.node_times) {
    const counted::Launch& launch = time.of.launch;
    rows.push_back({{"step", time.step},
                    {"kind", launch.kind},
                    {"functor", launch.functor},
                    {"library", launch.library},
                    {"beside", launch.on_side_queue},
                    {"bytes", launch.bytes.value_or(0)},
                    {"flop", launch.flop},
                    {"nodes", time.of.nodes.count},
                    {"count", time.of.count},
                    {"microseconds", time.microseconds}});
  }
  return rows;
}

std::string spans_lines(const BenchResult& result) {
  std::string lines = json_line({{"net", result.network},
                                 {"batch", result.batch},
                                 {"device", result.device},
                                 {"ms_per_step", result.step_milliseconds}});
  for (std::size_t node = 0; node < result.spans.size(); ++node) {
    const StepSpan& span = result.spans[node];
    lines += json_line({{"node", node},
                        {"kind", span.kind},
                        {"functor", span.functor},
                        {"queue", span.queue},
                        {"begin_us", span.begin},
                        {"end_us", span.end},
                        {"gap_us", number_or_null(span.gap)},
                        {"calls_in_gap", span.calls}});
  }
  return lines;
}

Json layers_json(const BenchResult& result) {
  Json rows = Json::array();
  for (const StepTime& layer : result.layers) {
    Json row{{"step", layer.name}, {"ms", 1e3 * layer.seconds}};
    if (layer.gflop > 0) {
      row["gflop"] = layer.gflop;
      row["algorithm"] = layer.algorithm.name;
      row["share_of_peak"] = share_of_peak(layer, result);
      row["executed_share_of_peak"] = share_of_peak(layer, result) * layer.algorithm.operations;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace trainyard::cli
