// What `train predict` predicts of files with many samples each: tables, arrays and tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/sets/separated_rows.h"
#include "inference/prediction_inputs.h"

namespace trainyard {

/// The rows of files: FILE:LINE of a table, FILE[INDEX] of arrays.
struct PredictionRows {
  std::vector<PredictionInput> inputs = {};  // inputs that can be predicted
  std::vector<std::string> faults = {};      // faults of the others
  DatasetPtr set = nullptr;                  // inputs with labels of 0; null: there are none
};

/// Whether these inputs are such files: of a run of source table or arrays, and of one of source
/// tensors unless it has images of 8 bits, which image files can be too, and no input is named
/// .safetensors.
[[nodiscard]] bool reads_rows(const StoredModel& stored, const SamplesRecord& samples,
                              const NamedInputs& named);

/// Reads the files as the run's source reads its own, without labels: any number of tables, or one
/// file of arrays or tensors. Throws Error{command_line} for a path that does not exist, a file of
/// another kind, several arrays, texts, and if there is nothing; Error{data} for a file without
/// what the run reads, or of other samples than the run's.
[[nodiscard]] PredictionRows open_rows(const StoredModel& stored, const SamplesRecord& samples,
                                       const NamedInputs& named);
/// The samples of `set` for the model.
[[nodiscard]] InferenceData data_of_rows(const StoredModel& stored, const SamplesRecord& samples,
                                         DatasetPtr set);

/// The column of rows that has a run's texts, or the paths of its images.
struct ColumnRows {
  RowsOptions options;
  std::string column;
  std::vector<std::string> columns = {};  // columns of rows without a header
};
/// The columns of a run of source texts or image_list.
[[nodiscard]] std::optional<ColumnRows> column_rows(const StoredModel& stored);
/// True for .csv and .tsv.
[[nodiscard]] bool is_table_name(const fs::path& path);
/// A cell of the column for each row, named FILE:LINE; a row without one has a fault. Throws
/// Error{data} as read_rows(), and for a column that is missing.
[[nodiscard]] std::vector<PredictionInput> rows_of_column(const std::string& path,
                                                          const ColumnRows& rows);

}  // namespace trainyard
