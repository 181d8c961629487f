#include "cli/bench_scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ranges>

#include "base/error.h"
#include "base/output_place.h"
#include "base/text.h"
#include "bench/scaling.h"
#include "cli/draw.h"
#include "cli/output.h"
#include "graph/network_input.h"
#include "report/plotter.h"
#include "run/config/batch_numbers.h"
#include "run/config/layer_overrides.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;

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
  throw Error(ErrorKind::device,
              fmt::format("--scaling needs {} GPUs, but --gpus {} selects {}; leave out the larger "
                          "counts, or use --gpus 0 for the CPU",
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

}  // namespace trainyard::cli
