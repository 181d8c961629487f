#include "data/sets/image_list.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/read_file.h"
#include "base/text.h"
#include "data/images/decoders.h"

namespace trainyard {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostListBytes = std::uint64_t{1} << 30;

/// A line of a list.
struct ListLine {
  std::int64_t line = 0;
  std::string path;
  std::string label;
};

std::size_t column_of(const std::string& name, const std::vector<std::string>& columns,
                      const std::string& key, const fs::path& list) {
  const auto found = std::ranges::find(columns, name);
  if (found != columns.end()) return static_cast<std::size_t>(found - columns.begin());
  bad_file(list, "has the columns " + joined(columns) + ", but none named '" + name +
                     "': set the key '" + key + "' to the name of the one with " +
                     (key == "path" ? "the paths of images" : "their labels"));
}

std::vector<ListLine> lines_of(const ImageListOptions& options, const fs::path& list) {
  std::vector<SeparatedRow> rows = separated_rows(read_text(list, ErrorKind::data, kMostListBytes),
                                                  options.separator, list.string());
  std::vector<std::string> columns = options.columns;
  if (options.header && !rows.empty()) {
    columns = rows.front().cells;
    rows.erase(rows.begin());
  }
  if (rows.empty()) bad_file(list, "lists no images");
  const std::size_t path = column_of(options.path, columns, "path", list);
  const std::size_t label = column_of(options.label, columns, "label", list);
  std::vector<ListLine> lines;
  for (SeparatedRow& row : rows) {
    if (row.cells.size() != columns.size()) {
      bad_line(list.string(), row.line,
               "has " + count_text(std::ssize(row.cells), "cell") + ", expected " +
                   std::to_string(columns.size()) + " (" + joined(columns) + ")");
    }
    lines.push_back({row.line, std::move(row.cells[path]), std::string(trimmed(row.cells[label]))});
    if (lines.back().label.empty())
      bad_line(list.string(), row.line, "has no label: its cell is empty");
  }
  return lines;
}

/// Turns the labels of a list into class indices.
class Labels {
 public:
  Labels(const ImageListOptions& options, const std::vector<ListLine>& lines, std::string list)
      : list_(std::move(list)), by_name_(options.labels == ListLabels::name) {
    if (!options.class_names.empty()) {
      names_ = names_in(located(options.class_names), options.classes);
    } else if (by_name_) {
      for (const ListLine& line : lines) names_.push_back(line.label);
      std::ranges::sort(names_);
      names_.erase(std::ranges::unique(names_).begin(), names_.end());
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
      index_.emplace(names_[i], static_cast<std::int32_t>(i));
    }
    classes_ = options.classes > 0 ? options.classes : std::ssize(names_);
  }

  std::int32_t at(const ListLine& line) const {
    const std::int32_t label = by_name_ ? by_name(line) : number(line);
    if (classes_ == 0 || label < classes_) return label;
    bad_line(list_, line.line,
             "label " + line.label + " is class " + std::to_string(label) + " (from 0), expected " +
                 "less than " + std::to_string(classes_));
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// 0: as many as the largest label needs.
  [[nodiscard]] std::int64_t classes() const { return classes_; }

 private:
  static std::vector<std::string> names_in(const fs::path& file, std::int64_t classes) {
    std::error_code ignored;
    if (!fs::exists(file, ignored)) bad_file(file, "does not exist; 'class_names' names it");
    return read_class_names(file, classes);
  }
  [[nodiscard]] std::int32_t by_name(const ListLine& line) const {
    const auto found = index_.find(line.label);
    if (found != index_.end()) return found->second;
    bad_line(list_, line.line, "'" + line.label + "' is not in the file of class names");
  }
  [[nodiscard]] std::int32_t number(const ListLine& line) const {
    std::int32_t value = 0;
    const char* const end = line.label.data() + line.label.size();
    const auto [rest, status] = std::from_chars(line.label.data(), end, value);
    if (status == std::errc{} && rest == end && value >= 0 &&
        value < std::numeric_limits<std::int32_t>::max()) {
      return value;
    }
    bad_line(list_, line.line,
             "label '" + line.label +
                 "' is not a whole number from 0; for names of classes set 'labels: name', for a "
                 "first line of column names 'header: true'");
  }

  std::string list_;
  bool by_name_;
  std::vector<std::string> names_;
  std::map<std::string, std::int32_t> index_;
  std::int64_t classes_ = 0;
};

/// Looks at the files of a list, which are below its root.
class ListedFiles {
 public:
  ListedFiles(fs::path root, std::string list, Links links)
      : root_(std::move(root)), list_(std::move(list)), links_(links) {}

  /// The fault of a line's file; "": none. Throws for a path that no image may have.
  [[nodiscard]] std::string fault(const ListLine& line) {
    const fs::path path = line.path;
    const bool up = std::ranges::find(path, fs::path("..")) != path.end();
    if (path.is_absolute() || up || line.path.empty()) {
      bad_line(list_, line.line,
               "'" + line.path + "' is not a path below the root: no absolute ones, no '..'");
    }
    if (links_ == Links::refuse) refuse_links(path, line);
    bool named = false;
    try {
      named = is_image_name(path);
    } catch (const Error& error) {  // an image of another format
      return where(line) + error.what();
    }
    if (!named) {
      bad_line(list_, line.line,
               "'" + line.path + "' is not named as a " + kImageFormats + " file");
    }
    const std::string fault = fault_of(root_ / path);
    return fault.empty() ? "" : where(line) + fault;
  }

 private:
  [[nodiscard]] std::string where(const ListLine& line) const {
    return "'" + list_ + "', line " + std::to_string(line.line) + ": ";
  }
  void refuse_links(const fs::path& path, const ListLine& line) {
    const fs::path folder = path.parent_path();
    fs::path at = root_;
    for (const fs::path& part : folder == checked_ ? fs::path() : folder) {
      at /= part;
      refuse_if_link(at, line);
    }
    checked_ = folder;
    refuse_if_link(root_ / path, line);
  }
  void refuse_if_link(const fs::path& path, const ListLine& line) const {
    std::error_code ignored;
    if (!fs::is_symlink(path, ignored)) return;
    bad_line(list_, line.line,
             "'" + path.string() +
                 "' is a symbolic link; copy what it leads to, or set "
                 "'links: follow' of the source");
  }

  fs::path root_;
  std::string list_;
  Links links_;
  fs::path checked_;  // the last folder, which the next line usually shares
};

}  // namespace

void declare(config::Fields& fields, ImageListOptions& options) {
  fields.required("file", options.file, "the list: an image's path and its label in each line");
  fields.field("root", options.root,
               "folder that the paths are relative to; without it the list's folder");
  fields.field("separator", options.separator, "what divides a line's cells");
  fields.field("header", options.header, "whether the first line names the columns");
  fields.field("columns", options.columns, "without a header: the names of the columns, in order");
  fields.field("path", options.path, "the name of the column of paths");
  fields.field("label", options.label, "the name of the column of labels");
  fields.field("labels", options.labels, "number: classes from 0; name: names of classes");
  fields.field("class_names", options.class_names,
               "a file with the name of a class in each line, in the order of their numbers");
  fields.field("classes", options.classes,
               "number of classes; 0: that of the names, or the largest number plus one",
               {.minimum = 0});
  declare_images(fields, options);
  if (options.separator == Separator::space && (options.header || options.columns.size() != 2)) {
    fields.error("separator",
                 "'space' divides lines into two cells and takes no header; use 'tab' or 'comma'");
  }
}

std::unique_ptr<Dataset> open_image_list(const ImageListOptions& options, const Opening& opening) {
  const fs::path list = located(options.file);
  ImageFiles set;
  set.folder = options.root.empty() ? list.parent_path() : located(options.root);
  if (set.folder.empty()) set.folder = ".";
  const std::vector<ListLine> lines = lines_of(options, list);
  const Labels labels(options, lines, list.string());
  ListedFiles listed(set.folder, list.string(), options.links);
  set.classes = labels.classes();
  set.class_names = labels.names();
  for (const ListLine& line : lines) {
    std::string fault = listed.fault(line);
    set.files.push_back({line.path, labels.at(line), std::move(fault)});
    if (labels.classes() == 0) {
      set.classes = std::max<std::int64_t>(set.classes, set.files.back().label + 1);
    }
  }
  return open_images(std::move(set), options, opening);
}

std::unique_ptr<DatasetSource> read_image_list(config::Fields& fields) {
  ImageListOptions options;
  declare(fields, options);
  return std::make_unique<OptionsSource<ImageListOptions>>(
      "image_list", options, [](const ImageListOptions& given, const Opening& opening) {
        return open_image_list(given, opening);
      });
}

}  // namespace trainyard
