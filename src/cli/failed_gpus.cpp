#include "cli/failed_gpus.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include "base/error.h"
#include "base/handle.h"
#include "run/gpu_failure.h"

namespace trainyard::cli {

namespace fs = std::filesystem;

FailedGpus::FailedGpus(const fs::path& folder) {
  std::string name = (fs::absolute(folder) / ".train_failed_gpus_XXXXXX").string();
  const int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0) {
    throw Error(ErrorKind::disk, folder.string() + ": cannot create a file there: " +
                                     std::generic_category().message(errno));
  }
  const Descriptor closed_later({file});
  path_ = name;
}

FailedGpus::~FailedGpus() {
  std::error_code gone;
  fs::remove(path_, gone);
}

std::string FailedGpus::take() {
  std::string first;
  std::ifstream file(path_);
  std::getline(file, first);
  std::error_code gone;
  fs::resize_file(path_, 0, gone);
  return first;
}

void add_failed_gpu(std::string_view text) {
  const char* const path = std::getenv(kFailedGpusVariable);
  const std::string gpu = gpu_in(text);
  if (path == nullptr || gpu.empty()) return;
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  const Descriptor closed_later({file});
  const std::string line = gpu + "\n";
  // In one call, so that the lines of several ranks do not mix. A failure here hides no error.
  static_cast<void>(!::write(file, line.data(), line.size()));
}

}  // namespace trainyard::cli
