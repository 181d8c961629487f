// How ranks tell the launcher that restarts them which GPU failed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace trainyard::cli {

/// Tells ranks the path of the launcher's file.
inline constexpr const char* kFailedGpusVariable = "TRAINYARD_FAILED_GPUS";

/// The launcher's file, to which each rank appends the GPU that failed, one per line. Removed with
/// the object.
class FailedGpus {
 public:
  /// In a folder that the ranks see. Throws Error{disk} if the file cannot be created.
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

/// Appends the GPU that an error's text names, if any, to the launcher's file, if the launcher has
/// set one. A rank that does not see the file, on another machine, adds nothing.
void add_failed_gpu(std::string_view text);

}  // namespace trainyard::cli
