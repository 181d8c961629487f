#include "data/sets/table_form.h"

#include <utility>

namespace trainyard {

std::int64_t TableForm::features() const {
  std::int64_t sum = 0;
  for (const FeatureColumn& column : columns) sum += column.features();
  return sum;
}

Json json_of(const TableForm& form) {
  Json columns = Json::array();
  for (const FeatureColumn& column : form.columns) {
    Json json{{"name", column.name}};
    if (column.categorical) {
      json["categories"] = column.categories;
    } else {
      json["mean"] = column.mean;
      json["deviation"] = column.deviation;
    }
    columns.push_back(std::move(json));
  }
  return {{"columns", std::move(columns)}};
}

TableForm table_form_of(const Json& json) {
  TableForm form;
  for (const Json& of : json.at("columns")) {
    FeatureColumn column{.name = of.at("name").get<std::string>(),
                         .categorical = of.contains("categories"),
                         .categories = {}};
    if (column.categorical) {
      column.categories = of.at("categories").get<std::vector<std::string>>();
    } else {
      column.mean = of.at("mean").get<double>();
      column.deviation = of.at("deviation").get<double>();
    }
    form.columns.push_back(std::move(column));
  }
  return form;
}

Json json_of(const SampleField& field) {
  std::vector<std::int64_t> shape;
  for (int axis = 0; axis < field.shape.rank(); ++axis) shape.push_back(field.shape[axis]);
  Json json{{"name", field.name},
            {"shape", shape},
            {"floats", field.type == DType::f32},
            {"front", field.padding == PaddingSide::front}};
  if (!field.mean.empty()) json["mean"] = field.mean;
  if (!field.deviation.empty()) json["deviation"] = field.deviation;
  if (!field.words.empty()) json["words"] = field.words;
  return json;
}

SampleField sample_field_of(const Json& json) {
  const auto shape = json.at("shape").get<std::vector<std::int64_t>>();
  return {.name = json.at("name").get<std::string>(),
          .shape = shape.empty() ? Shape{} : Shape{shape[0]},
          .type = json.at("floats").get<bool>() ? DType::f32 : DType::i32,
          .padding = json.at("front").get<bool>() ? PaddingSide::front : PaddingSide::end,
          .mean = json.value("mean", std::vector<double>{}),
          .deviation = json.value("deviation", std::vector<double>{}),
          .words = json.value("words", std::vector<std::string>{})};
}

}  // namespace trainyard
