// Suites: named lists of configs to measure, with the rates published for them. A suite is data: to
// add one, add it to the list in suite.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// Where a row is measured.
struct SuitePlace {
  int ranks = 1;
  bool gpus = false;  // a GPU for each rank, else they are on the CPU
  bool operator==(const SuitePlace&) const = default;
};
/// "CPU", "2 CPU ranks", "1 GPU", "8 GPUs".
[[nodiscard]] std::string place_text(const SuitePlace& place);

/// A rate that somebody published.
struct PublishedRate {
  std::string by;        // "Keras-MXNet"
  std::string hardware;  // "c5.18xlarge (36 cores)"
  SuitePlace place;
  std::int64_t batch = 0;  // on all devices together
  double samples_per_second = 0;
  bool inference = false;
};

struct SuiteRow {
  std::string name;    // "LSTM on Nietzsche"
  std::string config;  // a name in configs/
  std::vector<PublishedRate> published;
};

struct Suite {
  std::string name;
  std::string published;  // by which programs, in which versions
  std::string source;     // of the published rates
  std::vector<SuiteRow> rows;
};

/// All suites.
[[nodiscard]] std::span<const Suite> suites();

}  // namespace trainyard
