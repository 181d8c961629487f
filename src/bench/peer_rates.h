// Throughputs measured by other programs, for comparison with ours.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace trainyard {

/// The throughput of another program, or of an earlier run of this one.
struct PeerRate {
  std::string name;  // "torch 1.13.0a0, fp32"
  double images_per_second = 0;
};

/// The throughputs for `net` at `batch` in a file of JSON lines, as `train bench --json` and the
/// peers' scripts write them: {"peer" or "program", "mode", "net", "batch", "images_per_s"}. Lines
/// without a throughput (a heading, an error) are skipped. Throws Error{data} for a file that
/// cannot be read, a line that is not a JSON object (with its number), or no line for this net and
/// batch.
[[nodiscard]] std::vector<PeerRate> read_peer_rates(const std::filesystem::path& path,
                                                    const std::string& net, std::int64_t batch);

}  // namespace trainyard
