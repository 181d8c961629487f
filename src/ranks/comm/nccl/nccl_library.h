// NCCL as a function table, opened by path at run time: the program starts and the GPU part loads
// without it.
#pragma once

#include <nccl.h>

#include <string>
#include <string_view>

#include "base/filesystem.h"
#include "base/shared_library.h"

namespace trainyard::nccl {

/// The NCCL functions that are called.
struct Functions {
  decltype(&ncclGetVersion) version;
  decltype(&ncclGetErrorString) error_string;
  decltype(&ncclGetLastError) last_error;
  decltype(&ncclGetUniqueId) unique_id;
  decltype(&ncclCommInitRankConfig) join;
  decltype(&ncclCommGetAsyncError) asynchronous_error;
  decltype(&ncclCommFinalize) finalize;
  decltype(&ncclCommDestroy) destroy;
  decltype(&ncclCommAbort) give_up;
  decltype(&ncclAllReduce) all_reduce;
  decltype(&ncclBroadcast) broadcast;
  decltype(&ncclAllGather) all_gather;
  decltype(&ncclGroupStart) group_start;
  decltype(&ncclGroupEnd) group_end;
  decltype(&ncclSend) send;
  decltype(&ncclRecv) receive;
};

/// An open NCCL. It stays open until the program ends, so that it needs no owner.
class Library {
 public:
  /// 2.18.0, of CUDA 12.1. All functions called have existed since 2.14, which is also the first
  /// version to read no more of a newer header's ncclConfig_t than it knows.
  static constexpr int kLeastVersion = 21800;

  /// NCCL as the GPU part opens it. Inline, because lists of libraries are
  /// linked without communicators.
  [[nodiscard]] static RequiredLibrary required() {
    return {.name = "NCCL",
            .least_version = kLeastVersion,
            .version = version_of,
            .purpose = "which is needed for several GPUs",
            .advice = "install it, or set TRAINYARD_CUDA_PATH to its folder"};
  }

  /// Opens the library at `path` (or of that name, if the loader finds it). Throws Error{device} if
  /// it cannot be opened, lacks a function, or is older than kLeastVersion.
  explicit Library(const fs::path& path);
  /// One with these functions.
  explicit Library(const Functions& functions) : functions_(functions) {}

  [[nodiscard]] const Functions& call() const { return functions_; }
  /// "2.28.9".
  [[nodiscard]] std::string version() const;
  /// NCCL's text for a result, with its last own message if there is one, and advice if any is
  /// known.
  [[nodiscard]] std::string text_of(ncclResult_t result, ncclComm_t communicator) const;
  /// An id for a new group: made by one rank, distributed to all.
  [[nodiscard]] ncclUniqueId make_unique_id() const;

 private:
  static int version_of(const SharedLibrary& library) {
    auto* ask = library.function<decltype(ncclGetVersion)>("ncclGetVersion");
    int version = 0;
    return ask == nullptr || ask(&version) != ncclSuccess ? 0 : version;
  }

  Functions functions_{};
};

/// Settings of every communicator: calls return at once (blocking = 0), so that a dead rank cannot
/// block one forever; the rest is NCCL's default.
[[nodiscard]] ncclConfig_t config();

/// "; " and advice on a failure with this message of NCCL: the container option that gives it
/// memory, or the variable that turns off what does not work on this machine. "" if there is none.
[[nodiscard]] std::string advice_on(std::string_view message);

}  // namespace trainyard::nccl
