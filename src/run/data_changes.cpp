#include "run/data_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/error.h"
#include "base/hash.h"
#include "base/plural.h"
#include "base/text.h"

namespace trainyard {
namespace {

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

/// Those of `from` that `other`, also sorted, does not have.
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
bool has_contents(const SampleFile& before, SampleFile& now, const std::filesystem::path& folder,
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
  throw Error(ErrorKind::data, text + "\nput them back as they were, or " + advice);
}

}  // namespace trainyard
