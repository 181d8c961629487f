#include "run/data_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/read_file.h"
#include "base/text.h"
#include "checkpoint/run_identity.h"
#include "data/sets/separated_rows.h"
#include "report/class_table.h"
#include "report/csv_file.h"
#include "run/training_files.h"

namespace trainyard {
namespace {

constexpr const char* kDivision = "val_fraction_rule";
constexpr const char* kByName = "seed and name";
constexpr const char* kDataFiles = "data_files.csv";
constexpr std::string_view kHeader = "split,name,label,bytes,changed,hash\n";
constexpr std::uint64_t kMostFilesBytes = std::uint64_t{1} << 32;

std::int64_t whole_number(const std::string& text) {
  if (const auto value = parse_integer(text)) return *value;
  throw data_error("'" + text + "' is not a whole number");
}

void take_row(const std::vector<std::string>& cells, DataFacts& facts) {
  const bool train = cells.at(0) == "train";
  if (cells.size() != 6 || (!train && cells[0] != "val")) {
    throw data_error("a line has not six cells, the first of them train or val");
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
    if (!text.starts_with(kHeader)) throw data_error("it has another first line");
    const std::string_view rows = std::string_view(text).substr(kHeader.size());
    for (const SeparatedRow& row : separated_rows(rows, Separator::comma, path.string())) {
      take_row(row.cells, facts);
    }
  } catch (const Error& error) {
    throw checkpoint_error(
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

using Files = std::vector<const SampleFile*>;

/// What a fingerprint is of.
auto key_of(const SampleFile* file) { return std::tie(file->name, file->label, file->bytes); }
bool precedes(const SampleFile* a, const SampleFile* b) { return key_of(a) < key_of(b); }
bool name_precedes(const SampleFile* a, const SampleFile* b) { return a->name < b->name; }

Files sorted(const SampleFiles& files) {
  Files list;
  for (const SampleFile& file : files.files) list.push_back(&file);
  std::ranges::sort(list, precedes);
  return list;
}

/// Files of `from` that `other`, also sorted, does not have.
template <class Precedes>
Files without(const Files& from, const Files& other, Precedes before) {
  Files rest;
  std::ranges::set_difference(from, other, std::back_inserter(rest), before);
  return rest;
}

std::string changed_text(std::size_t count, const std::string& one, const std::string& what,
                         const std::string& first) {
  return fmt::format("{} {}, {}'{}'", count_text(static_cast<std::int64_t>(count), one), what,
                     count == 1 ? "" : "the first ", first);
}

void add_files(const Files& files, const std::string& what, std::vector<std::string>& parts) {
  if (files.empty()) return;
  parts.push_back(changed_text(files.size(), "file", what, files.front()->name));
}

void add_file_changes(const SplitFacts& before, const SplitFacts& now,
                      std::vector<std::string>& parts) {
  const Files old = sorted(before.files), own = sorted(now.files);
  const Files gone = without(old, own, precedes), fresh = without(own, old, precedes);
  add_files(without(fresh, gone, name_precedes), "added", parts);
  add_files(without(gone, fresh, name_precedes), "removed", parts);
  Files labels, lengths;
  for (const SampleFile* file : gone) {
    const auto same = std::ranges::lower_bound(fresh, file, name_precedes);
    if (same == fresh.end() || (*same)->name != file->name) continue;
    ((*same)->label != file->label ? labels : lengths).push_back(file);
  }
  add_files(labels, "with another label", parts);
  add_files(lengths, "with another length", parts);
}

/// Gives `now` its hash, if the run knew it: by reading the file if its time says that it may have
/// changed. False: the contents are others.
bool has_contents(const SampleFile& before, SampleFile& now, const fs::path& folder,
                  bool all_files) {
  if (before.hash.empty()) return true;
  if (now.hash.empty() && !all_files && now.changed == before.changed) now.hash = before.hash;
  if (now.hash.empty()) now.hash = hash128_file_hex(folder / now.name, ErrorKind::data);
  return now.hash == before.hash;
}

void add_contents(const SplitFacts& before, SplitFacts& now, bool all_files,
                  std::vector<std::string>& parts) {
  const Files old = sorted(before.files);
  Files other;
  for (SampleFile& file : now.files.files) {
    const auto same = std::ranges::lower_bound(old, &file, precedes);
    if (same == old.end() || key_of(*same) != key_of(&file)) continue;
    if (!has_contents(**same, file, now.files.folder, all_files)) other.push_back(&file);
  }
  add_files(other, "with other contents", parts);
}

/// Whether the files are the same ones in the same order, as far as names, labels, lengths, times
/// and hashes tell: so are the samples, whatever else the fingerprint of a part of a set is of.
bool same_files(const SampleFiles& before, const SampleFiles& now) {
  return std::ranges::equal(before.files, now.files, [](const SampleFile& a, const SampleFile& b) {
    return key_of(&a) == key_of(&b) && (a.changed == b.changed || !a.hash.empty());
  });
}

void add_classes(const SplitFacts& before, const SplitFacts& now, std::vector<std::string>& parts) {
  if (before.classes > 0 && before.classes != now.classes) {
    parts.push_back(
        fmt::format("{} -> {} {}", before.classes, now.classes, plural(now.classes, "class")));
  }
  if (before.class_names.empty() || now.class_names.empty()) return;
  const auto add = [&](const auto& from, const auto& other, const std::string& what) {
    std::vector<std::string> rest;
    std::ranges::copy_if(from, std::back_inserter(rest), [&](const std::string& name) {
      return std::ranges::find(other, name) == other.end();
    });
    if (!rest.empty()) {
      parts.push_back(plural(std::ssize(rest), "class") + " " + what + ": " + joined(rest));
    }
  };
  add(now.class_names, before.class_names, "added");
  add(before.class_names, now.class_names, "removed");
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
  const auto train = run.data.train.source->open(opening);
  Opening of_val = following(opening, *train);
  of_val.may_lack_classes = true;
  return {facts_of(*train), facts_of(*run.data.val.source->open(of_val))};
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
  throw checkpoint_error((folder / "run.json").string() + ": '" + kDivision + "' is " +
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

std::string split_change(const SplitFacts& before, SplitFacts& now, bool all_files) {
  if (before.fingerprint.empty()) return "";
  std::vector<std::string> parts;
  const bool listed = !before.files.files.empty() && !now.files.files.empty();
  const bool other =
      before.fingerprint != now.fingerprint && !(listed && same_files(before.files, now.files));
  if (other) {
    if (before.samples > 0 && before.samples != now.samples) {
      parts.push_back(
          fmt::format("{} -> {} {}", before.samples, now.samples, plural(now.samples, "sample")));
    }
    add_classes(before, now, parts);
    if (listed) add_file_changes(before, now, parts);
  }
  if (listed) add_contents(before, now, all_files, parts);
  if (parts.empty() && other) {
    parts.push_back("other contents: fingerprint " + before.fingerprint + " -> " + now.fingerprint);
  }
  return joined(parts, "; ");
}

std::vector<std::string> data_changes(const DataFacts& before, DataFacts& now, bool all_files) {
  std::vector<std::string> changes;
  const auto add = [&](const std::string& split, const SplitFacts& was, SplitFacts& is) {
    const std::string change = split_change(was, is, all_files);
    if (!change.empty()) changes.push_back(split + " split: " + change);
  };
  add("training", before.train, now.train);
  add("validation", before.val, now.val);
  return changes;
}

void judge_changes(std::span<const std::string> changes, const std::string& run,
                   const std::string& advice, const DataCheck& check,
                   const std::function<void(const std::string&)>& warn) {
  if (changes.empty()) return;
  std::string text = "the data are not those of the run " + run + ":";
  for (const std::string& change : changes) text += "\n  " + change;
  if (check.changed) return warn(text);
  throw data_error(text + "\nput them back as they were, or " + advice);
}

}  // namespace trainyard
