// Rates that other programs measured, to stand beside ours.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace trainyard {

/// A rate of another program, or of an earlier run of this one.
struct PeerRate {
  std::string name;  // "torch 1.13.0a0, fp32"
  double images_per_second = 0;
};

/// The rates for `net` at `batch` in a file of JSON lines, as `train bench --json` and the peers'
/// scripts write them: {"peer" or "program", "mode", "net", "batch", "images_per_s"}. Lines without
/// a rate (a heading, an error) are passed over. Throws Error{data} for a file that cannot be read,
/// a line that is no JSON object (with its number), or where no line is for this net and batch.
[[nodiscard]] std::vector<PeerRate> read_peer_rates(const std::filesystem::path& path,
                                                    const std::string& net, std::int64_t batch);

}  // namespace trainyard
