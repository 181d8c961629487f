#include "ranks/comm/collective_call.h"

#include "base/text.h"

namespace trainyard {
namespace {

std::string_view unit_of(DType type) {
  switch (type) {
    case DType::f64:
      return "f64 elements";
    case DType::f32:
      return "f32 elements";
    case DType::f16:
      return "f16 elements";
    case DType::bf16:
      return "bf16 elements";
    case DType::i32:
      return "i32 elements";
    case DType::u8:
      break;
  }
  TY_CHECK(false, "bytes are not all-reduced");
  return {};
}

}  // namespace

CollectiveCall sum_call(std::int64_t count, DType type) {
  return {.operation = "all_reduce_sum", .count = count, .unit = unit_of(type)};
}

std::string amount_of(const CollectiveCall& call) {
  return std::to_string(call.count) + " " + std::string(call.unit);
}

std::string text_of(const CollectiveCall& call) {
  return std::string(call.operation) + " of " + amount_of(call);
}

std::string gone_text(const std::string& name, const std::string& reason) {
  return name + " is gone (" + reason + "); see its output";
}

std::string late_text(const std::string& name, Milliseconds limit, const std::string& reason) {
  const double seconds = std::chrono::duration<double>(limit).count();
  return name + " did not take part within " + number_text(seconds) + " s (" + reason +
         "); see its output";
}

Error failed_call(const std::string& call, const std::string& name, int ranks,
                  const std::string& reason) {
  return {ErrorKind::device,
          name + ": " + call + " over " + std::to_string(ranks) + " ranks failed: " + reason};
}

}  // namespace trainyard
