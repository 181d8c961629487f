// The GPU whose failure ended ranks, from them to the launcher that starts them again.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace trainyard::cli {

/// Says to ranks where the launcher's file is.
inline constexpr const char* kFailedGpusVariable = "TRAINYARD_FAILED_GPUS";

/// The launcher's file, to which ranks add the GPU that failed, a line each. It goes with the
/// object.
class FailedGpus {
 public:
  /// In a folder that the ranks see. Throws Error{disk} if none can be made there.
  explicit FailedGpus(const std::filesystem::path& folder);
  ~FailedGpus();
  FailedGpus(const FailedGpus&) = delete;
  FailedGpus& operator=(const FailedGpus&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// The first that was added since the last call: "cuda:0 (NVIDIA H200, 0000:17:00.0) of node1";
  /// "" if none was.
  [[nodiscard]] std::string take();

 private:
  std::filesystem::path path_;
};

/// Adds the GPU that an error's text names, if there is one, to the file of the launcher of this
/// rank, if that wants to know. A rank that does not see the file, on another machine, adds
/// nothing.
void add_failed_gpu(std::string_view text);

}  // namespace trainyard::cli
