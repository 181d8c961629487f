#include "data/sets/field_json.h"

namespace trainyard {

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
