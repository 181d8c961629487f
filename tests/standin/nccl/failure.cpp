#include "failure.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include "faults.h"

namespace standin::nccl {
namespace {

ncclResult_t result_named(std::string_view name) {
  static constexpr std::pair<std::string_view, ncclResult_t> kNames[] = {
      {"ncclUnhandledCudaError", ncclUnhandledCudaError},
      {"ncclSystemError", ncclSystemError},
      {"ncclInternalError", ncclInternalError},
      {"ncclInvalidArgument", ncclInvalidArgument},
      {"ncclInvalidUsage", ncclInvalidUsage},
      {"ncclRemoteError", ncclRemoteError}};
  for (const auto& [word, result] : kNames) {
    if (name == word) return result;
  }
  std::fprintf(stderr, "STANDIN_FAULTS: '%s' is not a failure of NCCL\n",
               std::string(name).c_str());
  std::abort();
}

struct LastFailure {
  std::mutex mutex;
  std::array<char, 1024> text{};
};
LastFailure last;

}  // namespace

void require_cuda(cudaError_t status) {
  if (status == cudaSuccess) return;
  throw Failure(ncclUnhandledCudaError,
                std::string("Cuda failure '") + cudaGetErrorString(status) + "'");
}

void require_none_requested(const char* call, int device) {
  const std::string_view wanted = requested_failure(call, device);
  if (wanted.empty()) return;
  const std::size_t space = wanted.find(' ');
  const std::string_view text = space == std::string_view::npos ? "" : wanted.substr(space + 1);
  throw Failure(result_named(wanted.substr(0, space)), std::string(text));
}

void note_failure(const std::string& text) {
  const std::lock_guard lock(last.mutex);
  last.text[text.copy(last.text.data(), last.text.size() - 1)] = '\0';
}

const char* last_failure() { return last.text.data(); }

}  // namespace standin::nccl
