#include "run/data_facts.h"

#include <charconv>
#include <optional>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"
#include "checkpoint/run_identity.h"
#include "data/sets/separated_rows.h"
#include "report/class_table.h"
#include "report/csv_file.h"
#include "run/samples_file.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDivision = "val_fraction_rule";
constexpr const char* kByName = "seed and name";
constexpr const char* kDataFiles = "data_files.csv";
constexpr std::string_view kHeader = "split,name,label,bytes,changed,hash\n";
constexpr std::uint64_t kMostFilesBytes = std::uint64_t{1} << 32;

std::int64_t whole_number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault == std::errc{} && end == text.data() + text.size()) return value;
  throw Error(ErrorKind::data, "'" + text + "' is not a whole number");
}

void take_row(const std::vector<std::string>& cells, DataFacts& facts) {
  const bool train = cells.at(0) == "train";
  if (cells.size() != 6 || (!train && cells[0] != "val")) {
    throw Error(ErrorKind::data, "a line has not six cells, the first of them train or val");
  }
  (train ? facts.train : facts.val)
      .files.files.push_back({.name = cells[1],
                              .label = static_cast<std::int32_t>(whole_number(cells[2])),
                              .bytes = static_cast<std::uint64_t>(whole_number(cells[3])),
                              .changed = whole_number(cells[4]),
                              .hash = cells[5]});
}

void read_files(const fs::path& path, DataFacts& facts) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  try {
    const std::string text = read_text(path, ErrorKind::data, kMostFilesBytes);
    if (!text.starts_with(kHeader)) throw Error(ErrorKind::data, "it has another first line");
    const std::string_view rows = std::string_view(text).substr(kHeader.size());
    for (const SeparatedRow& row : separated_rows(rows, Separator::comma, path.string())) {
      take_row(row.cells, facts);
    }
  } catch (const Error& error) {
    throw Error(ErrorKind::checkpoint,
                path.string() + ": does not list the files of the run's data: " + error.what() +
                    "; remove it, and changed data are noticed without the names of their files");
  }
}

void take_record(const Json& run, DataFacts& facts) {
  facts.train.fingerprint = run.value("train_fingerprint", "");
  facts.val.fingerprint = run.value("val_fingerprint", "");
  facts.train.samples = run.value("train_samples", std::int64_t{0});
  facts.val.samples = run.value("val_samples", std::int64_t{0});
}

void add_lines(std::string_view split, const SampleFiles& files, std::string& text) {
  for (const SampleFile& file : files.files) {
    text.append(split).append(",").append(csv_quoted(file.name));
    for (const std::string& cell :
         {std::to_string(file.label), std::to_string(file.bytes), std::to_string(file.changed)}) {
      text.append(",").append(cell);
    }
    text.append(",").append(file.hash).append("\n");
  }
}

/// Takes hashes that `known` lacks, and returns how many it has.
std::int64_t take_hashes(SampleFiles now, SampleFiles& known) {
  if (known.files.empty()) known = std::move(now);
  std::int64_t hashes = 0;
  for (std::size_t i = 0; i < known.files.size(); ++i) {
    std::string& hash = known.files[i].hash;
    if (hash.empty() && i < now.files.size()) hash = std::move(now.files[i].hash);
    if (!hash.empty()) ++hashes;
  }
  return hashes;
}

/// The number of files that both splits, perhaps parts of one set, leave out.
std::size_t files_left_out(const DataFacts& facts) {
  std::set<fs::path> files;
  for (const SplitFacts* split : {&facts.train, &facts.val}) {
    for (const std::string& name : split->files.left_out) files.insert(split->files.folder / name);
  }
  return files.size();
}

}  // namespace

SplitFacts facts_of(const Dataset& set) {
  return {.fingerprint = set.fingerprint(),
          .samples = set.size(),
          .classes = set.classes(),
          .class_names = set.class_names(),
          .files = set.files()};
}

DataFacts facts_of(const SessionData& data) { return {facts_of(*data.train), facts_of(*data.val)}; }

DataFacts open_facts(const RunConfig& run, const Opening& opening) {
  SplitFacts train = facts_of(*run.data.train.source->open(opening));
  Opening of_val = opening;
  of_val.may_lack_classes = true;
  return {std::move(train), facts_of(*run.data.val.source->open(of_val))};
}

DataFacts recorded_facts(const fs::path& folder) {
  DataFacts facts;
  const std::optional<Json> run = run_record(folder / "run.json");
  if (!run) return facts;
  try {
    take_record(*run, facts);
  } catch (const Json::exception&) {
    return {};  // not a record of ours
  }
  if (const auto samples = read_samples(folder)) {
    facts.train.classes = samples->classes;
    facts.train.class_names = samples->class_names;
  }
  read_files(folder / kDataFiles, facts);
  return facts;
}

Division recorded_division(const fs::path& folder) {
  const std::optional<Json> run = run_record(folder / "run.json");
  if (!run || !run->is_object() || !run->contains(kDivision)) return Division::by_index;
  if (run->at(kDivision) == kByName) return Division::by_name;
  throw Error(ErrorKind::checkpoint,
              (folder / "run.json").string() + ": '" + kDivision + "' is " +
                  run->at(kDivision).dump() + ", expected \"" + kByName +
                  "\"; continue the run with the version of train that began it");
}

void put_division(Json& run) { run[kDivision] = kByName; }

void put_facts(const DataFacts& facts, Json& run) {
  if (const std::size_t files = files_left_out(facts); files > 0) run["files_left_out"] = files;
  run["train_fingerprint"] = facts.train.fingerprint;
  run["val_fingerprint"] = facts.val.fingerprint;
  run["train_samples"] = facts.train.samples;
  run["val_samples"] = facts.val.samples;
}

std::string data_files_csv(const DataFacts& facts) {
  std::string text(kHeader);
  add_lines("train", facts.train.files, text);
  add_lines("val", facts.val.files, text);
  return text;
}

std::string val_samples_csv(const Dataset& val) {
  const std::vector<std::string> names = val.class_names();
  std::string text = "name,label\n";
  for (std::int64_t i = 0; i < val.size(); ++i) {
    CsvRow row;
    row.add_text(sample_name(val, i)).add_text(name_of_class(names, val.label(i)));
    text += row.text();
  }
  return text;
}

HashNews::HashNews(const SessionData& data) : data_(&data) {}

bool HashNews::expected() const {
  const auto reads_files = [](const Dataset& set) {
    return set.held().labels.empty() && !set.file(0).empty();
  };
  return reads_files(*data_->train) || reads_files(*data_->val);
}

std::string HashNews::next() {
  std::string news;
  const auto add = [&](const std::string& split, const SampleFiles& all) {
    for (std::size_t i = 0; i < all.files.size(); ++i) {
      if (all.files[i].hash.empty()) continue;
      const std::string line = split + " " + std::to_string(i) + " " + all.files[i].hash + "\n";
      if (told_.insert(line).second) news += line;
    }
  };
  add("train", data_->train->files());
  add("val", data_->val->files());
  return news;
}

DataFiles::DataFiles(const RunFolder& folder, const SessionData& data, DataFacts known)
    : folder_(&folder), data_(&data), known_(std::move(known)) {}

std::int64_t DataFiles::look() {
  const std::int64_t train = take_hashes(data_->train->files(), known_.train.files);
  const std::int64_t val = take_hashes(data_->val->files(), known_.val.files);
  files_ = std::ssize(known_.train.files.files) + std::ssize(known_.val.files.files);
  return train + val;
}

void DataFiles::take(const std::string& news) {
  std::istringstream lines(news);
  std::string split, hash;
  for (std::size_t index = 0; lines >> split >> index >> hash;) {
    SampleFiles& files = (split == "train" ? known_.train : known_.val).files;
    if (files.files.at(index).hash.empty()) files.files[index].hash = hash;
  }
}

void DataFiles::write() {
  written_ = look();
  if (files_ > 0) folder_->write(kDataFiles, data_files_csv(known_));
}

void DataFiles::write_news() {
  if (written_ == files_) return;
  const std::int64_t hashes = look();
  if (hashes == written_) return;
  if (hashes < files_ && (hashes - written_) * 100 < files_) return;
  written_ = hashes;
  folder_->write(kDataFiles, data_files_csv(known_));
}

}  // namespace trainyard
