// Entry points for libFuzzer (https://llvm.org/docs/LibFuzzer.html). The first argument names the
// target.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "targets.h"

namespace {

// The only state shared by libFuzzer's calls.
const trainyard::fuzz::Target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  char** const words = *arguments;
  if (*count > 1) chosen = trainyard::fuzz::find_target(words[1]);
  if (chosen == nullptr) {
    std::fprintf(stderr, "the first argument is not a target of tests/fuzz/targets.cpp\n");
    std::exit(2);
  }
  // libFuzzer expects only its own arguments after the program's name.
  for (int i = 1; i < *count; ++i) words[i] = words[i + 1];
  --*count;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static_cast<void>(
      trainyard::fuzz::outcome_of(*chosen, {reinterpret_cast<const char*>(data), size}));
  return 0;
}
