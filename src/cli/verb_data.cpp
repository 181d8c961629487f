// `train data`: get, make, pack, read.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "base/text.h"
#include "cli/checks.h"
#include "cli/environment.h"
#include "cli/output.h"
#include "cli/run_flags.h"
#include "cli/verbs.h"
#include "config/fields.h"
#include "config/load.h"
#include "data/sets/epoch_order.h"
#include "data/sets/make_shapes.h"
#include "data/sets/pack.h"
#include "fetch/get_set.h"

namespace trainyard::cli {
namespace {

// a source on a command line

/// The map that `source=image_list file=list.csv` is in a run file; a folder alone is one of
/// images.
config::Node source_map(const std::vector<std::string>& words) {
  config::Node map{.kind = config::Node::Kind::map, .where = {"train data pack", 1, 1}};
  const auto add = [&](const std::string& key, config::Node value) {
    map.entries.push_back({key, value.where, std::move(value)});
  };
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos && map.find("root") == nullptr) {
      add("source", config::scalar_node("image_folder", false, map.where));
      add("root", config::scalar_node(word, true, map.where));
      continue;
    }
    if (equals == std::string::npos) {
      refuse_command("'" + word +
                     "' is not KEY=VALUE: the source is a folder of images, or the "
                     "keys of a source, as in: source=image_list file=list.csv");
    }
    const std::string key = word.substr(0, equals);
    add(key, config::parse_yaml(word.substr(equals + 1), "train data pack " + key));
  }
  return map;
}

struct NamedSource {
  std::unique_ptr<DatasetSource> source;
};

void declare(config::Fields& fields, NamedSource& named) {
  fields.select("source", named.source, "where the samples come from", dataset_kinds());
}

/// The help of the words of a source.
constexpr const char* kSourceHelp =
    "a folder of images, or the keys of a source as in a run file: source=pack file=a.pack";

/// The source that `source=image_list file=list.csv` names, as the same keys in a run file do; a
/// word without '=' is a folder of images. Throws Error{command_line} and Error{config}.
std::unique_ptr<DatasetSource> source_of(const std::vector<std::string>& words) {
  const config::Node map = source_map(words);
  config::Diagnostics diagnostics;
  config::Fields fields(map, nullptr, "source", config::Profile::keras2, diagnostics);
  NamedSource named;
  declare(fields, named);
  fields.finish();
  diagnostics.raise();
  return std::move(named.source);
}

// data get

struct GetFlags {
  std::string name;  // name of the set
  std::string to;    // "": $TRAINYARD_DATA, or data
  std::string from;
};

/// A line that is redrawn on a terminal with each percent; nothing elsewhere.
class PercentBar {
 public:
  explicit PercentBar(Messages& messages) : messages_(messages) {}

  void operator()(const RemoteFile& file, std::uint64_t bytes) {
    const std::uint64_t percent = bytes * 100 / file.bytes;
    if (percent == shown_ || isatty(STDERR_FILENO) == 0) return;
    shown_ = percent;
    messages_.show_bar(fmt::format("{} {:>3} % of {}", file.name(), percent,
                                   memory_text(static_cast<std::size_t>(file.bytes))));
  }

 private:
  Messages& messages_;
  std::uint64_t shown_ = 0;
};

std::string set_names() {
  std::vector<std::string> names;
  for (const KnownSet& set : known_sets()) names.push_back(set.name);
  return joined(names, "|");
}

CLI::App* add_get(CLI::App& data, GetFlags& flags) {
  CLI::App* command = data.add_subcommand(
      "get", "fetch a published data set, check its hash and unpack it; continues if it was ended");
  command->add_option("set", flags.name, "the data set")->required()->type_name(set_names());
  command->add_option("--to", flags.to, "data folder (default: $TRAINYARD_DATA, or data)")
      ->type_name("FOLDER");
  command
      ->add_option("--from", flags.from,
                   "address of a folder with the same files: a mirror, or file:///FOLDER")
      ->check(CLI::Validator(
          [](const std::string& text) {
            const std::string url = lower_case(text);
            const bool known = url.starts_with("http://") || url.starts_with("https://") ||
                               url.starts_with("file:///");
            return known ? ""
                         : "expected an address that begins with http://, https:// or file:///, "
                           "found '" +
                               text + "'";
          },
          ""))
      ->type_name("URL");
  return command;
}

int get_data(const GetFlags& flags, Messages& messages) {
  const std::string usual = variable("TRAINYARD_DATA");
  GetOptions options{.to = flags.to, .from = flags.from, .progress = PercentBar(messages)};
  if (flags.to.empty()) options.to = usual.empty() ? "data" : usual;
  options.tell = [&](const std::string& line) {
    messages.clear_bar();
    print(line + "\n");
    std::fflush(stdout);
  };
  const KnownSet& set = known_set(flags.name);
  const fs::path folder = get_set(set, options);
  const bool found = options.to == fs::path(usual.empty() ? "data" : usual);
  const std::string root = found ? "" : ", root: " + options.to.string();
  print("in a run file: {source: " + set.name + root + "}\n");
  return 0;
}

// data pack

struct PackFlags {
  std::vector<std::string> words;  // the source, then the destination
  std::int64_t block = 0;
  std::int64_t seed = 0;
};

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

CLI::App* add_pack(CLI::App& data, PackFlags& flags) {
  CLI::App* command = data.add_subcommand(
      "pack", "decode and resize images once, into a file that is read without decoding");
  command
      ->add_option("words", flags.words,
                   "a folder of images with size=224, or the keys of any source; then the new "
                   "file")
      ->required()
      ->expected(2, 64)
      ->type_name("SOURCE FILE");
  add_count(*command, "--block", flags.block, "samples read together; 0: as many as fit 1 MiB", 0,
            1'000'000);
  add_count(*command, "--seed", flags.seed, "seed of the order in which samples are stored", 0);
  return command;
}

int pack_data(const PackFlags& flags) {
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

// data read

struct ReadFlags {
  std::vector<std::string> words;  // the source
  double seconds = 5;
  std::int64_t threads = 1;
};

using Seconds = std::chrono::duration<double>;

struct ReadingRate {
  double a_second = 0, a_processor_second = 0;  // samples
};

/// Reads samples in the shuffled order of an epoch, again and again, for `flags.seconds`.
ReadingRate reading_rate(const Dataset& set, const ReadFlags& flags) {
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t processor_begin = std::clock();
  const auto passed = [begin] { return Seconds(std::chrono::steady_clock::now() - begin).count(); };
  const EpochOrder order(OrderOptions{.size = set.size(), .block = set.block()});
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

CLI::App* add_read(CLI::App& data, ReadFlags& flags) {
  CLI::App* command = data.add_subcommand("read", "measure how fast a source is read");
  command->add_option("source", flags.words, kSourceHelp)
      ->required()
      ->expected(1, 64)
      ->type_name("SOURCE");
  command->add_option("--seconds", flags.seconds, "how long to read")
      ->check(number_between(0.1, 3600))
      ->type_name("N");
  add_count(*command, "--threads", flags.threads, "threads that read", 1, 1024);
  return command;
}

int read_data(const ReadFlags& flags) {
  const auto set =
      source_of(flags.words)->open({.cache_folder = cache_folder(), .warn = print_warning});
  const ReadingRate rate = reading_rate(*set, flags);
  const std::string text =
      fmt::format("{:.1f} samples/s on {}, {:.1f} per second of processor time\n", rate.a_second,
                  count_text(flags.threads, "thread"), rate.a_processor_second);
  print(text);
  return 0;
}

// data make

struct MakeFlags {
  std::string folder;
  ShapesOptions shapes;
};

void add_make(CLI::App& data, MakeFlags& flags) {
  CLI::App* make = data.add_subcommand("make", "generate a data set");
  make->require_subcommand(1);
  CLI::App* shapes = make->add_subcommand(
      "shapes", "10 classes of simple shapes, 32x32, in CIFAR-10's binary layout");
  shapes->add_option("destination", flags.folder, "folder, new or empty")
      ->required()
      ->type_name("FOLDER");
  add_count(*shapes, "--train", flags.shapes.train, "training samples", 5, 10'000'000);
  add_count(*shapes, "--test", flags.shapes.test, "test samples", 1, 10'000'000);
  add_count(*shapes, "--seed", flags.shapes.seed, "seed of the drawings", 0);
}

int make_data(const MakeFlags& flags) {
  ShapesOptions options = flags.shapes;
  options.threads = available_cores();
  make_shapes(flags.folder, options);
  std::printf("%s: %lld training and %lld test samples of 10 classes\n", flags.folder.c_str(),
              static_cast<long long>(options.train), static_cast<long long>(options.test));
  return 0;
}

struct DataFlags {
  GetFlags get;
  MakeFlags make;
  PackFlags pack;
  ReadFlags read;
};

}  // namespace

void declare_data(CLI::App& app, const Context& context, Action& action) {
  auto flags = std::make_shared<DataFlags>();  // shared with the action, which outlives parsing
  app.require_subcommand(1);
  add_make(app, flags->make);
  const CLI::App* const packing = add_pack(app, flags->pack);
  const CLI::App* const reading = add_read(app, flags->read);
  const CLI::App* const getting = add_get(app, flags->get);
  action = [flags, packing, reading, getting, context] {
    if (getting->parsed()) return get_data(flags->get, context.messages);
    if (packing->parsed()) return pack_data(flags->pack);
    return reading->parsed() ? read_data(flags->read) : make_data(flags->make);
  };
}

}  // namespace trainyard::cli
