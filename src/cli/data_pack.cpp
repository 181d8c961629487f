#include "cli/data_pack.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/parallel.h"
#include "base/plural.h"
#include "base/text.h"
#include "cli/checks.h"
#include "cli/print.h"
#include "cli/run_flags.h"
#include "cli/source_words.h"
#include "data/sets/pack.h"

namespace trainyard::cli {
namespace {

/// Prints every tenth part of a long work.
class TenthLines {
 public:
  explicit TenthLines(std::int64_t total) : total_(total) {}
  void operator()(std::int64_t done) {
    const std::int64_t tenth = done * 10 / total_;
    if (tenth == printed_ || done == total_) return;
    printed_ = tenth;
    std::fprintf(stderr, "%lld of %lld samples\n", static_cast<long long>(done),
                 static_cast<long long>(total_));
  }

 private:
  std::int64_t total_, printed_ = 0;
};

}  // namespace

CLI::App* add_pack(CLI::App& data, PackFlags& flags) {
  CLI::App* command = data.add_subcommand(
      "pack", "decode and resize pictures once, into a file that is read without decoding");
  command
      ->add_option("words", flags.words,
                   "a folder of pictures with size=224, or the keys of any source; then the new "
                   "file")
      ->required()
      ->expected(2, 64)
      ->type_name("SOURCE FILE");
  command->add_option("--block", flags.block, "samples read together; 0: as many as fit 1 MiB")
      ->check(whole_number(0, 1'000'000))
      ->type_name("N");
  command->add_option("--seed", flags.seed, "seed of the order in which samples are stored")
      ->check(whole_number(0))
      ->type_name("N");
  return command;
}

int pack(const PackFlags& flags) {
  const std::vector<std::string> words(flags.words.begin(), flags.words.end() - 1);
  const std::string& destination = flags.words.back();
  const auto seed = static_cast<std::uint64_t>(flags.seed);
  const auto set =
      source_of(words)->open({.seed = seed, .cache_folder = cache_folder(), .warn = print_warning});
  TenthLines lines(set->size());
  write_pack(*set, destination,
             {.block = flags.block,
              .seed = seed,
              .threads = available_cores(),
              .written = [&](std::int64_t done) { lines(done); }});
  const std::string text = fmt::format(
      "{}: {} {} {} of {}, {:.1f} MB\n", destination, with_separators(set->size()),
      plural(set->size(), "sample"), set->image_shape().text(), count_text(set->classes(), "class"),
      1e-6 * static_cast<double>(set->size() * set->image_shape().elements()));
  print(text);
  return 0;
}

}  // namespace trainyard::cli
