#include "data/sets/image_list.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "data/images/image_decode.h"
#include "data/sets/subset.h"

namespace trainyard {
namespace {

void append_class(const fs::path& root, const std::string& name, std::int32_t label, Links links,
                  const Opening& opening, std::vector<ImageFile>& files) {
  const fs::path folder = root / name;
  const std::vector<FoundFile> found = files_below(folder, links, is_image_name);
  for (const FoundFile& file : found) {
    files.push_back({(fs::path(name) / file.name).string(), label, file.fault});
  }
  if (!found.empty()) return;
  const std::string what = "holds no image (" + std::string(kImageNames) + ")";
  if (!opening.may_lack_classes) {
    bad_file(folder, what + "; every class folder needs at least one");
  }
  opening.warn("'" + folder.string() + "' " + what + ": a class without samples");
}

/// Checks that the folders are classes, of which there may be more than folders.
void check_classes(const fs::path& root, const std::vector<std::string>& names,
                   std::int64_t classes) {
  const auto count = static_cast<std::int64_t>(names.size());
  if (classes == 0 || count <= classes) return;
  bad_file(root / names[static_cast<std::size_t>(classes)],
           "is class folder " + std::to_string(classes + 1) + " of " + std::to_string(count) +
               ", expected at most " + std::to_string(classes) + " ('classes')");
}

/// A line of a list.
struct ListLine {
  std::int64_t line = 0;
  std::string path;
};

std::size_t list_column(const NamedRows& rows, const std::string& name, const std::string& key) {
  return rows.column(name, "set the key '" + key + "' to the name of the one with " +
                               (key == "path" ? "the paths of images" : "their labels"));
}

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

std::vector<std::int64_t> rows_of_files(std::span<const ImageFile> files) {
  std::vector<std::int64_t> rows;
  for (const ImageFile& file : files) rows.push_back(file.row);
  return rows;
}

/// The samples of these files, without images, which are divided as those with images are.
DatasetPtr named_samples(std::span<const ImageFile> files) {
  MemorySamples samples{.image = kNoImage};
  for (const ImageFile& file : files) {
    samples.labels.push_back(file.label);
    samples.files.files.push_back({.name = file.name});
  }
  return std::make_unique<MemoryDataset>(std::move(samples));
}

/// Declares the name of a column, which `columns` may have given.
void declare_column(config::Fields& fields, std::string_view key, std::string& name,
                    const std::string& in_columns, std::string_view help) {
  if (!in_columns.empty()) name = in_columns;
  fields.field(key, name, help);
  if (in_columns.empty() || name == in_columns) return;
  fields.error(
      key, "'columns' has another name, '" + in_columns + "'; remove '" + std::string(key) + "'");
}

/// Declares the header and the columns that are used; `columns` names those of the first line.
void declare_used_columns(config::Fields& fields, ImageListOptions& options) {
  fields.field("columns", options.columns,
               "{image: path, label: species}: the columns that are used, which the first line "
               "names; a list: without a header the names of the columns, in order");
  const ListColumns& names = options.columns;
  const bool named = !names.image.empty() || !names.label.empty() || !names.targets.empty();
  options.header = named;
  fields.field("header", options.header, "whether the first line names the columns");
  if (named && !options.header) {
    fields.error("header", "'columns' names columns of the first line; remove 'header: false'");
  }
  declare_column(fields, "path", options.path, names.image, "the name of the column of paths");
  if (!names.targets.empty()) options.label = "";
  declare_column(fields, "label", options.label, names.label, "the name of the column of labels");
}

}  // namespace

void declare(config::Fields& fields, ImageFolderOptions& options) {
  fields.required("root", options.root, "folder with one folder of images per class");
  fields.field("classes", options.classes,
               "number of classes, the last of which may lack a folder; 0: that of the folders",
               {.minimum = 0});
  declare_images(fields, options);
}

ImageFiles class_folders(const fs::path& folder, Links links, const Opening& opening) {
  ImageFiles set{.folder = folder};
  set.class_names = folders_in(folder, links);
  for (std::size_t i = 0; i < set.class_names.size(); ++i) {
    append_class(folder, set.class_names[i], static_cast<std::int32_t>(i), links, opening,
                 set.files);
  }
  set.classes = std::ssize(set.class_names);
  if (set.files.empty()) {
    bad_file(folder,
             "holds no class folders with images; expected " + folder.string() + "/CLASS/*.jpg");
  }
  return set;
}

DatasetPtr open_image_folder(const ImageFolderOptions& options, const Opening& opening) {
  const fs::path folder = located(options.root);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    bad_file(folder, "is not a folder; 'root' names a folder with one folder of images per class");
  }
  ImageFiles set = class_folders(folder, options.links, opening);
  check_classes(set.folder, set.class_names, options.classes);
  if (options.classes > 0) set.classes = options.classes;
  return open_images(std::move(set), options, opening);
}

void declare(config::Fields& fields, ListColumns& columns) {
  fields.rest("order", columns.order, "without a header: the names of the columns, in order");
  fields.field("image", columns.image, "the column of the paths of images");
  fields.field("label", columns.label, "the column of the labels");
  declare_targets(fields, "label", columns.targets);
}

void declare(config::Fields& fields, ImageListOptions& options) {
  declare_rows(fields, options, "the list: an image's path and its label in each line");
  fields.field("root", options.root,
               "folder that the paths are relative to; without it the list's folder");
  declare_used_columns(fields, options);
  fields.field("missing", options.missing,
               "rows without a path or a label: error, or drop, which leaves them out");
  declare_labels(fields, options);
  declare_images(fields, options);
  if (options.separator == Separator::space &&
      (options.header || options.columns.order.size() != 2)) {
    fields.error("separator",
                 "'space' divides lines into two cells and takes no header; use 'tab' or 'comma'");
  }
}

DatasetPtr open_image_list(const ImageListOptions& options, const Opening& opening,
                           const std::optional<RowsPart>& part) {
  const fs::path list = located(options.file);
  ImageFiles set;
  set.folder = options.root.empty() ? list.parent_path() : located(options.root);
  if (set.folder.empty()) set.folder = ".";
  NamedRows rows = read_rows(
      list, options, options.header ? std::vector<std::string>() : options.columns.order, true);
  const std::size_t path = list_column(rows, options.path, "path");
  Targets targets(options.columns.targets, rows);
  RowsRequest request{
      .drop = nullptr, .part = {}, .advice = ", for a first line of column names 'header: true'"};
  if (!options.label.empty()) request.label = list_column(rows, options.label, "label");
  if (options.missing == MissingRow::drop) {
    request.drop = [&](const SeparatedRow& row) {
      return row.cells[path].empty() || targets.lacks_value(row, request.label);
    };
  }
  const LabelledRows listed = labelled_rows(std::move(rows), options, request, opening);
  ListedFiles files(set.folder, listed.rows.name, options.links);
  set.classes = listed.labels.classes;
  set.class_names = listed.labels.names;
  for (std::size_t i = 0; i < listed.rows.rows.size(); ++i) {
    const SeparatedRow& row = listed.rows.rows[i];
    std::string fault = files.fault({row.line, row.cells[path]});
    set.files.push_back({row.cells[path], listed.labels.of_rows[i], std::move(fault),
                         static_cast<std::int64_t>(i)});
  }
  const auto divided = [&](const Dataset& whole, Part of) {
    return part_of(whole,
                   {.fraction = part->fraction, .seed = opening.seed, .by = opening.division}, of);
  };
  if (!options.columns.targets.empty()) {
    set.fields_of = [&](std::span<const ImageFile> files_of) {
      const std::vector<std::int64_t> own = rows_of_files(files_of);
      std::vector<std::int64_t> training = own;
      if (part) {
        training.clear();
        for (const std::int64_t i : divided(*named_samples(files_of), Part::train)) {
          training.push_back(own[static_cast<std::size_t>(i)]);
        }
      }
      targets.fit(listed.rows, training, opening);
      return targets.fields(listed.rows, own);
    };
  }
  DatasetPtr all = open_images(std::move(set), options, opening);
  if (!part) return all;
  std::vector<std::int64_t> indices = divided(*all, part->part);
  return subset(std::move(all), std::move(indices));
}

}  // namespace trainyard
