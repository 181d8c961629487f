#include "bench/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/median.h"
#include "base/text.h"

namespace trainyard {
namespace {

constexpr double kMilliseconds = 1e3;
constexpr const char* kRoundKey = "scaling_ranks";

/// Parts of a step of one rank, or of the mean rank, over rounds. Differences are taken within a
/// round, whose windows alternate; clocks and other load may make them negative.
StepParts parts_of(std::span<const StepTimes> rounds) {
  std::vector<double> step, exposed, data, sums;
  for (const StepTimes& seconds : rounds) {
    step.push_back(seconds.whole);
    exposed.push_back(seconds.whole - seconds.without_sums);
    data.push_back(seconds.without_sums - seconds.without_data);
    sums.push_back(seconds.sums);
  }
  StepParts parts{.step = kMilliseconds * median(step)};
  parts.communication = std::clamp(kMilliseconds * median(exposed), 0.0, parts.step);
  parts.data = std::clamp(kMilliseconds * median(data), 0.0, parts.step - parts.communication);
  parts.compute = parts.step - parts.communication - parts.data;
  parts.hidden = std::max(0.0, kMilliseconds * median(sums) - parts.communication);
  return parts;
}

StepTimes mean_over_ranks(const ScalingRound& round) {
  StepTimes sum;
  for (const RankMeasurement& rank : round) {
    sum.whole += rank.seconds.whole;
    sum.without_sums += rank.seconds.without_sums;
    sum.without_data += rank.seconds.without_data;
    sum.sums += rank.seconds.sums;
  }
  const auto ranks = static_cast<double>(round.size());
  return {sum.whole / ranks, sum.without_sums / ranks, sum.without_data / ranks, sum.sums / ranks};
}

double samples_of(const ScalingRound& round) {
  double samples = 0;
  for (const RankMeasurement& rank : round) samples += static_cast<double>(rank.samples);
  return samples;
}

/// Ranks make the same all-reduces.
std::vector<CollectiveTime> collectives_of(const std::vector<const ScalingRound*>& rounds) {
  std::vector<CollectiveTime> all = rounds.front()->front().collectives;
  for (std::size_t call = 0; call < all.size(); ++call) {
    std::vector<double> means;
    for (const ScalingRound* round : rounds) {
      double sum = 0;
      for (const RankMeasurement& rank : *round) sum += rank.collectives.at(call).seconds;
      means.push_back(sum / static_cast<double>(round->size()));
    }
    all[call].seconds = median(means);
  }
  return all;
}

Json json_of(const CollectiveTime& collective) {
  return {{"elements", collective.elements},
          {"bytes", collective.bytes},
          {"seconds", collective.seconds}};
}

std::vector<CollectiveTime> collectives_in(const Json& json) {
  std::vector<CollectiveTime> all;
  for (const Json& one : json) {
    all.push_back({.elements = one.at("elements").get<std::string>(),
                   .bytes = one.at("bytes").get<std::int64_t>(),
                   .seconds = one.at("seconds").get<double>()});
  }
  return all;
}

/// All but the comparison with other counts.
ScalingRow row_of(const std::vector<const ScalingRound*>& rounds) {
  const ScalingRound& first = *rounds.front();
  ScalingRow row{.ranks = static_cast<int>(first.size()), .by_rank = first};
  std::vector<StepTimes> means;
  std::vector<double> rates;
  for (const ScalingRound* round : rounds) {
    means.push_back(mean_over_ranks(*round));
    rates.push_back(samples_of(first) / means.back().whole);
  }
  row.parts = parts_of(means);
  row.collectives = collectives_of(rounds);
  row.images_per_second = kMilliseconds * samples_of(first) / row.parts.step;
  row.low = *std::min_element(rates.begin(), rates.end());
  row.high = *std::max_element(rates.begin(), rates.end());
  for (std::size_t rank = 0; rank < first.size(); ++rank) {
    std::vector<StepTimes> own;
    for (const ScalingRound* round : rounds) own.push_back((*round)[rank].seconds);
    row.parts_by_rank.push_back(parts_of(own));
  }
  return row;
}

/// A part of a step on the fewest ranks and on more.
struct Growth {
  const char* name;
  double from, to;
  double share;  // share of the longer step
};

std::vector<Growth> growths(const StepParts& from, const StepParts& to) {
  std::vector<Growth> all = {{"compute", from.compute, to.compute, 0},
                             {"communication", from.communication, to.communication, 0},
                             {"data", from.data, to.data, 0}};
  for (Growth& growth : all) growth.share = (growth.to - growth.from) / to.step;
  std::ranges::stable_sort(all, std::ranges::greater{}, &Growth::share);
  return all;
}

/// On CPUs ranks may have to share cores, which is a reason of its own.
std::string crowd_text(const ScalingRow& row) {
  const RankMeasurement& rank = row.by_rank.front();
  const int threads = rank.local_ranks * rank.threads;
  if (rank.device != "cpu" || threads <= rank.cores) return "";
  return fmt::format(" {} ranks of {} share {}.", rank.local_ranks,
                     count_text(rank.threads, "thread"), count_text(rank.cores, "core"));
}

}  // namespace

Json json_of(const RankMeasurement& measurement) {
  Json collectives = Json::array();
  for (const CollectiveTime& one : measurement.collectives) collectives.push_back(json_of(one));
  return {{"host", measurement.host},
          {"device", measurement.device},
          {"threads", measurement.threads},
          {"cores", measurement.cores},
          {"local_ranks", measurement.local_ranks},
          {"samples", measurement.samples},
          {"whole_s", measurement.seconds.whole},
          {"without_sums_s", measurement.seconds.without_sums},
          {"without_data_s", measurement.seconds.without_data},
          {"sums_s", measurement.seconds.sums},
          {"collectives", std::move(collectives)},
          {"device_text", measurement.device_text},
          {"processor", measurement.processor},
          {"libraries", measurement.libraries}};
}

RankMeasurement measurement_of(const Json& json) {
  try {
    return {.host = json.at("host").get<std::string>(),
            .device = json.at("device").get<std::string>(),
            .threads = json.at("threads").get<int>(),
            .cores = json.at("cores").get<int>(),
            .local_ranks = json.at("local_ranks").get<int>(),
            .samples = json.at("samples").get<std::int64_t>(),
            .seconds = {.whole = json.at("whole_s").get<double>(),
                        .without_sums = json.at("without_sums_s").get<double>(),
                        .without_data = json.at("without_data_s").get<double>(),
                        .sums = json.at("sums_s").get<double>()},
            .collectives = collectives_in(json.at("collectives")),
            .device_text = json.at("device_text").get<std::string>(),
            .processor = json.at("processor").get<std::string>(),
            .libraries = json.at("libraries").get<std::string>()};
  } catch (const Json::exception& error) {
    throw device_error(std::string("the measurement of a rank cannot be read (") + error.what() +
                       "); all hosts must have the same version of train");
  }
}

std::string round_line(const ScalingRound& round) {
  Json ranks = Json::array();
  for (const RankMeasurement& rank : round) ranks.push_back(json_of(rank));
  return json_line({{kRoundKey, std::move(ranks)}});
}

PrintedRound round_in(std::string_view printed, int ranks) {
  const std::string begin = std::string("{\"") + kRoundKey + "\":";
  PrintedRound found;
  for (const std::string& line : split(printed, '\n')) {
    if (!line.starts_with(begin)) {
      if (!line.empty()) found.others += line + "\n";
      continue;
    }
    const Json json =
        parse_json(line, {.name = "the measurement of rank 0", .kind = ErrorKind::device});
    found.round.clear();
    for (const Json& rank : json.at(kRoundKey)) found.round.push_back(measurement_of(rank));
  }
  if (found.round.size() == static_cast<std::size_t>(ranks)) return found;
  throw device_error(
      fmt::format("{} ranks succeeded, but {} of them reported their measurements; check that all "
                  "hosts have the same version of train",
                  ranks, found.round.size()));
}

std::vector<ScalingRow> scaling_rows(std::span<const ScalingRound> rounds) {
  std::map<std::size_t, std::vector<const ScalingRound*>> by_count;
  for (const ScalingRound& round : rounds) by_count[round.size()].push_back(&round);
  std::vector<ScalingRow> rows;
  for (const auto& [count, own] : by_count) rows.push_back(row_of(own));
  for (ScalingRow& row : rows) {
    const ScalingRow& fewest = rows.front();
    row.speed_up = row.images_per_second / fewest.images_per_second * fewest.ranks;
    row.efficiency = row.speed_up / row.ranks;
  }
  return rows;
}

std::string missing_text(const ScalingRow& fewest, const ScalingRow& row) {
  std::string text =
      fmt::format("{} ranks: {:.2f} of {} times", row.ranks, row.speed_up, row.ranks);
  constexpr double kWorthSaying = 0.0005;  // the least that is printed as 0.1 %
  const double missing = 1 - row.efficiency;
  if (missing < kWorthSaying) return text + ", nothing is missing." + crowd_text(row);
  text += fmt::format(". The missing {:.1f} %:", 100 * missing);
  std::string won;
  const char* separator = " ";
  for (const Growth& part : growths(fewest.parts, row.parts)) {
    if (std::abs(part.share) < kWorthSaying) continue;
    const std::string what = fmt::format("{} {:.1f} % ({:.2f} to {:.2f} ms)", part.name,
                                         100 * std::abs(part.share), part.from, part.to);
    if (part.share < 0) {
      won += (won.empty() ? "; won back: " : ", ") + what;
      continue;
    }
    text += separator + what;
    separator = ", ";
  }
  return text + won + "." + crowd_text(row);
}

}  // namespace trainyard
