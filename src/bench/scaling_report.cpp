#include "bench/scaling_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/plural.h"
#include "base/text.h"
#include "report/csv_file.h"

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

}  // namespace trainyard
