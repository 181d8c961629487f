#include "cli/print.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/text.h"

namespace trainyard::cli {

void print(std::string_view text) {
  const std::string shown = printable(text);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

void print_data(std::string_view text) {
  if (isatty(STDOUT_FILENO) == 1) return print(text);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print(std::string_view text, bool data) { data ? print_data(text) : print(text); }

}  // namespace trainyard::cli
