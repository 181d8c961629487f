#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "bench/scaling.h"
#include "report/csv_file.h"
#include "report/plot_script.h"

namespace trainyard {

namespace {

std::string parts_columns(const StepParts& parts) {
  return fmt::format("{:>10.2f} {:>9.2f} {:>9.2f} {:>14.2f} {:>8.2f}", parts.step, parts.data,
                     parts.compute, parts.communication, parts.hidden);
}

std::string count_line(const ScalingRow& row) {
  return fmt::format("{:>7} {:>10.1f}  {:<19} {:>8.2f} {:>9.1f} % {}\n", row.ranks,
                     row.images_per_second, fmt::format("{:.1f} to {:.1f}", row.low, row.high),
                     row.speed_up, 100 * row.efficiency, parts_columns(row.parts));
}

std::string rank_line(const ScalingRow& row, std::size_t rank) {
  const RankMeasurement& measured = row.by_rank[rank];
  const std::string name = fmt::format("rank {}, {}, {}", rank, measured.host, measured.device);
  return fmt::format("{:>7} {:<51} {}\n", "", name, parts_columns(row.parts_by_rank[rank]));
}

Json parts_json(const StepParts& parts) {
  return {{"step_ms", parts.step},
          {"data_ms", parts.data},
          {"compute_ms", parts.compute},
          {"communication_ms", parts.communication},
          {"hidden_communication_ms", parts.hidden}};
}

Json ranks_json(const ScalingRow& row) {
  Json ranks = Json::array();
  for (std::size_t rank = 0; rank < row.by_rank.size(); ++rank) {
    Json one{{"rank", rank},
             {"host", row.by_rank[rank].host},
             {"device", row.by_rank[rank].device},
             {"threads", row.by_rank[rank].threads}};
    one.update(parts_json(row.parts_by_rank[rank]));
    ranks.push_back(std::move(one));
  }
  return ranks;
}

/// The all-reduces of a step: size, time alone, and how fast each rank's bytes are summed.
std::string collective_lines(const ScalingRow& row) {
  if (row.collectives.empty()) return "";
  std::string out = fmt::format(
      "Each all-reduce of a step alone, on {} ranks:\n{:>7} {:>14} "
      "{:>10} {:>8}  {}\n",
      row.ranks, "", "bytes", "ms", "GB/s", "elements");
  for (std::size_t i = 0; i < row.collectives.size(); ++i) {
    const CollectiveTime& one = row.collectives[i];
    out += fmt::format("{:>7} {:>14} {:>10.3f} {:>8.3f}  {}\n", i + 1, with_separators(one.bytes),
                       1e3 * one.seconds, static_cast<double>(one.bytes) / one.seconds / 1e9,
                       one.elements);
  }
  return out;
}

Json collectives_json(const ScalingRow& row) {
  Json all = Json::array();
  for (const CollectiveTime& one : row.collectives) {
    all.push_back({{"elements", one.elements}, {"bytes", one.bytes}, {"ms", 1e3 * one.seconds}});
  }
  return all;
}

/// "1 thread", or "2 to 8 threads" if hosts differ.
std::string threads_text(std::span<const ScalingRow> rows) {
  int least = rows.front().by_rank.front().threads, most = least;
  for (const ScalingRow& row : rows) {
    for (const RankMeasurement& rank : row.by_rank) {
      least = std::min(least, rank.threads);
      most = std::max(most, rank.threads);
    }
  }
  if (least != most) return fmt::format("{} to {} threads", least, most);
  return count_text(most, "thread");
}

}  // namespace

std::string scaling_table(const ScalingSubject& subject, std::span<const ScalingRow> rows) {
  std::string out = fmt::format("{}: batch {} ({}) and {} for each rank, medians of {}\n",
                                subject.network, subject.batch, subject.batch_from,
                                threads_text(rows), count_text(subject.rounds, "round"));
  out += fmt::format("{:>7} {:>10}  {:<19} {:>8} {:>11} {:>10} {:>9} {:>9} {:>14} {:>8}\n", "ranks",
                     subject.unit + "/s", "rounds", "speed-up", "efficiency", "ms/step", "data",
                     "compute", "communication", "hidden");
  for (const ScalingRow& row : rows) {
    out += count_line(row);
    for (std::size_t rank = 0; row.ranks > 1 && rank < row.by_rank.size(); ++rank) {
      out += rank_line(row, rank);
    }
  }
  for (const ScalingRow& row : rows.subspan(1)) out += missing_text(rows.front(), row) + "\n";
  for (const ScalingRow& row : rows) out += collective_lines(row);
  return out;
}

std::string scaling_csv(const ScalingSubject& subject, std::span<const ScalingRow> rows) {
  std::string out =
      "ranks,rank,host,device,threads,batch,images_per_s,low,high,speedup,efficiency,step_ms,"
      "data_ms,compute_ms,communication_ms,hidden_communication_ms\n";
  for (const ScalingRow& row : rows) {
    for (std::size_t rank = 0; rank < row.by_rank.size(); ++rank) {
      const RankMeasurement& measured = row.by_rank[rank];
      CsvRow line;
      line.add(std::int64_t{row.ranks}).add(static_cast<std::int64_t>(rank));
      line.add(std::string_view(measured.host)).add(std::string_view(measured.device));
      line.add(std::int64_t{measured.threads}).add(subject.batch);
      line.add_rounded(row.images_per_second, 3).add_rounded(row.low, 3).add_rounded(row.high, 3);
      line.add_rounded(row.speed_up, 5).add_rounded(row.efficiency, 5);
      const StepParts& parts = row.parts_by_rank[rank];
      for (const double value :
           {parts.step, parts.data, parts.compute, parts.communication, parts.hidden}) {
        line.add_rounded(value, 5);
      }
      out += line.text();
    }
  }
  return out;
}

std::string scaling_json(const ScalingSubject& subject, std::span<const ScalingRow> rows) {
  std::string out;
  for (const ScalingRow& row : rows) {
    Json line{{"program", "train"},
              {"net", subject.network},
              {"ranks", row.ranks},
              {"batch", subject.batch},
              {"threads", row.by_rank.front().threads},
              {"rounds", subject.rounds},
              {"images_per_s", row.images_per_second},
              {"low", row.low},
              {"high", row.high},
              {"speedup", row.speed_up},
              {"efficiency", row.efficiency}};
    line.update(parts_json(row.parts));
    line["all_reduces"] = collectives_json(row);
    line["by_rank"] = ranks_json(row);
    out += json_line(line);
  }
  return out;
}

namespace {

double rate_of_one(std::span<const ScalingRow> rows) {
  return rows.front().images_per_second / rows.front().ranks;
}

/// Columns: position on the axis, ranks, images/s, low, high, efficiency in percent, ms per step of
/// compute, data, communication, hidden communication.
std::string data_block(std::span<const ScalingRow> rows) {
  std::string block = "$counts << END\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ScalingRow& row = rows[i];
    block += fmt::format("{} {} {} {} {} {} {} {} {} {}\n", i, row.ranks, row.images_per_second,
                         row.low, row.high, 100 * row.efficiency, row.parts.compute, row.parts.data,
                         row.parts.communication, row.parts.hidden);
  }
  return block + "END\n";
}

constexpr std::string_view kRates = R"(set title 'Speed' font ',13'
set xlabel 'ranks' textcolor rgb '#555555'
set ylabel UNIT textcolor rgb '#555555'
set key inside top left reverse Left spacing 1.3 samplen 2
set xrange [0 : most * 1.14]
set yrange [0 : *]
plot sample [x = 0 : most] of_one * x with lines dashtype 2 linewidth 2 linecolor rgb '#777777' title 'perfect scaling', \
  $counts using 2:3:xtic(2) with lines linewidth 2.5 linecolor rgb '#E24A33' notitle, \
  $counts using 2:3:4:5 with yerrorbars linewidth 2.5 pointtype 7 pointsize 1.2 linecolor rgb '#E24A33' title 'measured', \
  $counts using 2:3:(sprintf('%.0f %%', $6)) with labels left offset 0.8,-0.9 textcolor rgb '#555555' notitle
)";

constexpr std::string_view kParts = R"(set title 'Where the time of a step goes' font ',13'
set ylabel 'ms per step' textcolor rgb '#555555'
set key left center at graph 1.02, graph 0.5 reverse Left spacing 1.4 samplen 1.5
set xrange [-0.6 : rows - 0.4]
unset grid
set grid ytics back linetype 1 linewidth 1.2 linecolor rgb '#ffffff'
set offsets 0, 0, graph 0.08, 0
set boxwidth 0.55
set style fill solid 1 noborder
plot $counts using 1:($7 + $8 + $9):xtic(2) with boxes linecolor rgb '#E24A33' title 'communication', \
  $counts using 1:($7 + $8) with boxes linecolor rgb '#FBC15E' title 'data', \
  $counts using 1:7 with boxes linecolor rgb '#348ABD' title 'compute'HIDDEN, \
  $counts using 1:($7 + $8 + $9):(sprintf('%.1f', $7 + $8 + $9)) with labels offset 0,0.8 textcolor rgb '#555555' notitle
)";

/// Communication that overlaps the computation is drawn over it, if there is enough to be visible.
constexpr std::string_view kHidden = R"(, \
  $counts using 1:($7 - $10 / 2):(0.275):($10 / 2) with boxxyerror fillstyle transparent pattern 4 noborder linecolor rgb '#1B4965' title 'communication, hidden')";

bool hides_something(std::span<const ScalingRow> rows) {
  constexpr double kVisible = 0.01;  // share of a step: a few points of the plot
  return std::ranges::any_of(
      rows, [](const ScalingRow& row) { return row.parts.hidden > kVisible * row.parts.step; });
}

std::string rates_plot(const std::string& unit) {
  std::string script(kRates);
  constexpr std::string_view kMark = "UNIT";
  return script.replace(script.find(kMark), kMark.size(), gnuplot_text(unit + "/s"));
}

std::string parts_plot(std::span<const ScalingRow> rows) {
  std::string script(kParts);
  constexpr std::string_view kMark = "HIDDEN";
  script.replace(script.find(kMark), kMark.size(), hides_something(rows) ? kHidden : "");
  return script;
}

}  // namespace

std::string scaling_script(const ScalingSubject& subject, std::span<const ScalingRow> rows,
                           const fs::path& output) {
  const std::string title = fmt::format("{}, batch {} per rank", subject.network, subject.batch);
  return "if (!exists(\"prefix\")) prefix = ''\nset encoding utf8\n" + data_block(rows) +
         fmt::format("most = {}\nrows = {}\nof_one = {}\n", rows.back().ranks, rows.size(),
                     rate_of_one(rows)) +
         gnuplot_output(output, 1280, 560) + std::string(gnuplot_look()) +
         "set multiplot layout 1,2 margins 0.1, 0.77, 0.13, 0.83 spacing 0.09 title " +
         gnuplot_text(title) + " noenhanced font ',16'\n" + rates_plot(subject.unit) +
         parts_plot(rows) + "unset multiplot\nunset output\n";
}

}  // namespace trainyard
