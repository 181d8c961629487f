#include "base/plural.h"

namespace trainyard {

std::string plural(std::int64_t count, std::string_view noun) {
  if (count == 1) return std::string(noun);
  const bool hisses =
      noun.ends_with('s') || noun.ends_with('x') || noun.ends_with("tch") || noun.ends_with("nch");
  return std::string(noun) + (hisses ? "es" : "s");
}

std::string count_text(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + " " + plural(count, noun);
}

}  // namespace trainyard
