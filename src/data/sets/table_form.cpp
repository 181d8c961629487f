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

}  // namespace trainyard
