// Files over HTTP, through libcurl, which is opened when the first file is fetched: no other verb
// needs it, and its certificates and settings are the system's.
//
// The folder fetch gets published data sets: their addresses, sizes and hashes, downloads that
// continue, archives. Only its own sources include libcurl's header.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "base/filesystem.h"

namespace trainyard {

/// A file that someone publishes.
struct RemoteFile {
  std::string url;
  std::uint64_t bytes = 0;
  std::string sha256;  // 64 hexadecimal digits

  /// The last part of the address: "train-images-idx3-ubyte.gz".
  [[nodiscard]] std::string name() const { return url.substr(url.rfind('/') + 1); }
};

/// Called while bytes arrive, with how many there are by now.
using FetchProgress = std::function<void(const RemoteFile& file, std::uint64_t bytes)>;

/// What ends a transfer that gets nowhere, and a fetch whose transfers do.
struct FetchLimits {
  long slow_bytes_per_second = 1000;      // a transfer that is slower
  long slow_seconds = 60;                 // for so long counts as lost
  int attempts = 5;                       // in a row that bring less than a MiB
  std::chrono::milliseconds pause{1000};  // before the second of them, then twice as long each time
};

/// Fetches `file` to `path`, whose folder exists. Bytes go to PATH.part, with which the next call
/// continues after a lost connection or a kill, if the server can (else from the beginning); a
/// connection that is lost after some bytes is tried again, within `limits`. The file gets its name
/// when its size and hash are right. Throws Error{device} if libcurl or the connection is missing,
/// Error{data} if the server has no such file or another one (what came is then removed), and
/// Error{disk}.
void fetch_file(const RemoteFile& file, const fs::path& path, const FetchProgress& progress,
                const FetchLimits& limits = {});

}  // namespace trainyard
