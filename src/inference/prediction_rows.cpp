#include "inference/prediction_rows.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/faults.h"
#include "base/filesystem.h"
#include "base/text.h"
#include "config/file_path.h"
#include "data/sets/arrays.h"
#include "data/sets/image_list.h"
#include "data/sets/memory_dataset.h"
#include "data/sets/table.h"
#include "data/sets/table_features.h"
#include "data/sets/tensors.h"
#include "data/text/texts.h"
#include "inference/source_options.h"

namespace trainyard {
namespace {

/// A row, at this line.
struct FeatureRow {
  std::int64_t line = 0;
  std::string fault = {};            // why it has no features, a message; "": it has them
  std::vector<float> features = {};  // [TableForm::features()]
};

/// Throws Error{data} for a row that training leaves out.
void require_values(const NamedRows& rows, const SeparatedRow& row,
                    const std::vector<PlacedColumn>& columns) {
  for (const PlacedColumn& column : columns) {
    if (!lacks_value(row, column)) continue;
    rows.bad_cell(row, column.place,
                  "has no value, and the run's 'missing: drop' leaves such rows out; correct it, "
                  "or predict with --set data.train.missing=mean");
  }
}

/// The features of each row of a file that has the columns of `form`, in any order and among
/// others. A row whose cells `rules` refuse, or would drop, has a fault. Throws Error{data} for a
/// column that is missing.
std::vector<FeatureRow> table_rows(const TableForm& form, const CellRules& rules,
                                   const NamedRows& rows) {
  std::vector<PlacedColumn> columns;
  for (const FeatureColumn& column : form.columns) {
    columns.push_back({rows.column(column.name, "the run's features are made of it"), column});
  }
  const bool drops = rules.missing.rule == MissingRule::drop && !rules.missing.value;
  std::vector<FeatureRow> all;
  for (std::int64_t i = 0; i < std::ssize(rows.rows); ++i) {
    const SeparatedRow& row = rows.rows[static_cast<std::size_t>(i)];
    FeatureRow made{.line = row.line};
    made.fault = fault_in([&] {
      rows.require_cells(row);
      if (drops) require_values(rows, row, columns);
      made.features = features_of(rows, columns, std::span(&i, 1), rules);
    });
    all.push_back(std::move(made));
  }
  return all;
}

/// How another file is written than the one of these options: as that, but a file named .tsv with
/// tabs, and one named .csv without; with ragged rows.
RowsOptions rows_like(RowsOptions options, const fs::path& file) {
  options.ragged = true;
  const bool tabs = file.extension() == ".tsv", had_tabs = options.separator == Separator::tab;
  if (tabs == had_tabs || (!tabs && file.extension() != ".csv")) return options;
  options.separator = tabs ? Separator::tab : Separator::comma;
  options.quotes = {};
  return options;
}

std::string in_file(const std::string& path, std::int64_t line) {
  return path + ":" + std::to_string(line);
}

/// Throws Error{command_line} unless there are inputs, all of them files with one of these endings.
void require_files(const NamedInputs& named, const std::string& source,
                   const std::vector<std::string>& endings) {
  const auto refuse = [&](const std::string& what) {
    refuse_command(what + "the run's source '" + source + "' reads files that end in " +
                   joined(endings));
  };
  if (!named.texts.empty()) refuse("--text: the model of this run reads no texts: ");
  if (named.paths.empty()) refuse("there is nothing to predict: ");
  for (const std::string& path : named.paths) {
    std::error_code ignored;
    if (path != "-" && !fs::exists(path, ignored)) {
      refuse_command("no file '" + path + "' to predict" + config::near_file(path));
    }
    const bool known =
        std::ranges::find(endings, fs::path(path).extension().string()) != endings.end();
    if (!known || fs::is_directory(path, ignored)) refuse("'" + path + "' cannot be predicted: ");
  }
}

/// The only input.
const std::string& one_file(const NamedInputs& named) {
  if (named.paths.size() == 1) return named.paths[0];
  refuse_command("arrays are predicted a file at a time, but there are " +
                 std::to_string(named.paths.size()) + ": '" + named.paths[0] + "', '" +
                 named.paths[1] + "'...; call predict for each");
}

PredictionRows table_inputs(const StoredModel& stored, const SamplesRecord& samples,
                            const NamedInputs& named) {
  const auto options = source_options<TableOptions>(stored.config);
  std::vector<std::string> endings{".csv", ".tsv"};
  const std::string own = options.file.path.extension().string();
  if (!own.empty() && !is_table_name(own)) endings.push_back(own);
  require_files(named, "table", endings);
  PredictionRows rows;
  MemorySamples made{.image = {samples.table->features(), 1, 1},
                     .classes = samples.classes,
                     .class_names = samples.class_names,
                     .table = std::make_shared<const TableForm>(*samples.table)};
  for (const std::string& path : named.paths) {
    const NamedRows file = read_rows(path, rows_like(options, path));
    for (FeatureRow& row : table_rows(*samples.table, options, file)) {
      if (!row.fault.empty()) {
        rows.faults.push_back(std::move(row.fault));
        continue;
      }
      rows.inputs.push_back({in_file(path, row.line), ""});
      made.floats.insert(made.floats.end(), row.features.begin(), row.features.end());
      made.labels.push_back(0);
    }
  }
  if (!rows.inputs.empty()) rows.set = std::make_unique<MemoryDataset>(std::move(made));
  return rows;
}

/// An .npz file has the arrays under the run's names, a .npy file is x.
DatasetPtr arrays_in(const StoredModel& stored, const SamplesRecord& samples,
                     const NamedInputs& named) {
  require_files(named, "arrays", {".npz", ".npy"});
  const std::string& path = one_file(named);
  auto options = source_options<ArraysOptions>(stored.config);
  const bool archive = fs::path(path).extension() == ".npz", files = options.file.empty();
  if (!archive && !options.lengths.empty()) {
    throw data_error("'" + path +
                     "' has no lengths, which the run's samples have; save both in an .npz file, "
                     "as 'x' and 'lengths'");
  }
  if (!archive || files) options.x = std::string(archive ? "x" : path);
  if (archive && files && !options.lengths.empty()) options.lengths = std::string("lengths");
  options.file = std::string(archive ? path : "");
  options.labelled = false;
  options.classes = samples.classes;
  return open_arrays(options);
}

DatasetPtr tensors_in(const StoredModel& stored, const SamplesRecord& samples,
                      const NamedInputs& named) {
  require_files(named, "tensors", {".safetensors"});
  auto options = source_options<TensorsOptions>(stored.config);
  options.file = one_file(named);
  options.labelled = false;
  options.fields.clear();
  options.classes = samples.classes;
  return open_tensors(options);
}

/// Throws Error{data} for samples of another shape or kind than the run's.
void require_like(const Dataset& set, const SamplesRecord& samples, const std::string& path) {
  if (set.image_shape() == samples.image && set.eight_bit() == samples.eight_bit) return;
  const auto bits = [](bool eight) { return eight ? " of 8 bits" : ""; };
  bad_file(path, "has samples " + sample_text(set) + bits(set.eight_bit()) +
                     ", but the run's are " + samples.image.text() + bits(samples.eight_bit));
}

}  // namespace

bool is_table_name(const fs::path& path) {
  const std::string name = path.string();
  return name.ends_with(".csv") || name.ends_with(".tsv");
}

bool reads_rows(const StoredModel& stored, const SamplesRecord& samples, const NamedInputs& named) {
  const std::string source = source_name(stored.config);
  if (source != "tensors") return source == "table" || source == "arrays";
  return !samples.eight_bit || std::ranges::any_of(named.paths, [](const std::string& path) {
    return path.ends_with(".safetensors");
  });
}

PredictionRows open_rows(const StoredModel& stored, const SamplesRecord& samples,
                         const NamedInputs& named) {
  const std::string source = source_name(stored.config);
  if (source == "table") return table_inputs(stored, samples, named);
  PredictionRows rows;
  rows.set =
      source == "arrays" ? arrays_in(stored, samples, named) : tensors_in(stored, samples, named);
  require_like(*rows.set, samples, named.paths[0]);
  for (std::int64_t i = 0; i < rows.set->size(); ++i) {
    rows.inputs.push_back({named.paths[0] + "[" + std::to_string(i) + "]", ""});
  }
  return rows;
}

InferenceData data_of_rows(const StoredModel& stored, const SamplesRecord& samples,
                           DatasetPtr set) {
  InferenceData data{
      .set = std::move(set), .pipeline = nullptr, .faults = std::make_shared<Faults>()};
  data.pipeline = pipeline_for(stored, samples, *data.set);
  return data;
}

std::optional<ColumnRows> column_rows(const StoredModel& stored) {
  const std::string source = source_name(stored.config);
  if (source == "texts") {
    const auto options = source_options<TextsOptions>(stored.config);
    return ColumnRows{.options = options, .column = options.columns.text};
  }
  if (source != "image_list") return std::nullopt;
  const auto options = source_options<ImageListOptions>(stored.config);
  ColumnRows rows{.options = options, .column = options.path};
  if (!options.header) rows.columns = options.columns.order;
  return rows;
}

std::vector<PredictionInput> rows_of_column(const std::string& path, const ColumnRows& rows) {
  const NamedRows file = read_rows(path, rows_like(rows.options, path), rows.columns);
  const std::size_t column = file.column(rows.column, "what the run predicts is in it");
  std::vector<PredictionInput> inputs;
  for (const SeparatedRow& row : file.rows) {
    PredictionInput input{in_file(path, row.line), ""};
    input.fault = fault_in([&] {
      file.require_cells(row);
      input.text = row.cells[column];
      if (trimmed(input.text).empty()) file.bad_cell(row, column, "is empty; correct it");
    });
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace trainyard
