// Results on standard output.
#pragma once

#include <string_view>

namespace trainyard::cli {

/// Text for people: names in it come from data and files, so that control characters are written as
/// escapes (printable()).
void print(std::string_view text);
/// Text for programs: as it is, but on a terminal as print().
void print_data(std::string_view text);
/// One of the two.
void print(std::string_view text, bool data);

}  // namespace trainyard::cli
