// Results that are not numbers, with the reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// Collects the values of one or more splits; those with one reason share a line.
class NanValues {
 public:
  /// `counted` samples or positions count in `value`; `fault`: why it is not a number, if that is
  /// known. A number is not collected.
  void add(std::string_view name, double value, std::int64_t counted, const std::string& fault);
  /// "val_loss, val_accuracy: no sample counts, ...".
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  struct Line {
    std::string names, reason;
  };
  std::vector<Line> lines_;
};

}  // namespace trainyard
