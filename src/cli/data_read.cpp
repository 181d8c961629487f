#include "cli/data_read.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>

#include "base/each_sample.h"
#include "base/plural.h"
#include "cli/checks.h"
#include "cli/print.h"
#include "cli/run_flags.h"
#include "cli/source_words.h"
#include "data/sets/epoch_order.h"

namespace trainyard::cli {
namespace {

using Seconds = std::chrono::duration<double>;

struct ReadingRate {
  double a_second = 0, a_processor_second = 0;  // samples
};

/// Reads samples in the shuffled order of an epoch, again and again, for `flags.seconds`.
ReadingRate reading_rate(const Dataset& set, const ReadFlags& flags) {
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t processor_begin = std::clock();
  const auto passed = [begin] { return Seconds(std::chrono::steady_clock::now() - begin).count(); };
  const EpochOrder order({.size = set.size(), .block = set.block()});
  const std::vector<SampleField> fields = set.fields();
  std::atomic<std::int64_t> next = 0, read = 0;
  each_sample(static_cast<int>(flags.threads), flags.threads, [&](std::int64_t) {
    std::vector<float> image;
    std::vector<std::byte> values;
    while (passed() < flags.seconds) {
      const std::int64_t index = order[next++ % set.size()];
      image.resize(static_cast<std::size_t>(set.sample_shape(index).elements()));
      set.read(index, image.data());
      for (std::size_t field = 0; field < fields.size(); ++field) {
        values.resize(fields[field].bytes());
        set.read_field(field, index, values.data());
      }
      ++read;
    }
  });
  const auto samples = static_cast<double>(read);
  const double processor = static_cast<double>(std::clock() - processor_begin) / CLOCKS_PER_SEC;
  return {samples / passed(), samples / processor};
}

}  // namespace

CLI::App* add_read(CLI::App& data, ReadFlags& flags) {
  CLI::App* command = data.add_subcommand("read", "measure how fast a source is read");
  command->add_option("source", flags.words, kSourceHelp)
      ->required()
      ->expected(1, 64)
      ->type_name("SOURCE");
  command->add_option("--seconds", flags.seconds, "how long to read")
      ->check(number_between(0.1, 3600))
      ->type_name("N");
  command->add_option("--threads", flags.threads, "threads that read")
      ->check(whole_number(1, 1024))
      ->type_name("N");
  return command;
}

int read(const ReadFlags& flags) {
  const auto set =
      source_of(flags.words)->open({.cache_folder = cache_folder(), .warn = print_warning});
  const ReadingRate rate = reading_rate(*set, flags);
  const std::string text =
      fmt::format("{:.1f} samples/s on {}, {:.1f} per second of processor time\n", rate.a_second,
                  count_text(flags.threads, "thread"), rate.a_processor_second);
  print(text);
  return 0;
}

}  // namespace trainyard::cli
