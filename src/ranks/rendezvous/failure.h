// When a rank counts as stuck, and why a job of several ranks ends: one failure, sent to all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

/// How long ranks may take before they count as stuck, in seconds.
struct RankLimits {
  double first_step = 300;  // limit to appear, and from then to the end of the first step
  double step = 60;         // without progress later, or 20 median steps if that is longer
  double silence = 30;      // without a heartbeat
};

/// "rank 1 (host)"; without a host "rank 1".
[[nodiscard]] std::string name_of_rank(int rank, const std::string& host);

/// What happened to one rank.
struct Failure {
  int rank = 0;
  std::string host;          // name of its machine
  std::int64_t step = 0;     // the last one it reported
  std::string operation;     // the last one it reported
  std::string text;          // what happened, without the rank
  int exit_code = 0;         // exit code of every rank
  bool consequence = false;  // another rank may have caused it: a collective failed

  bool operator==(const Failure&) const = default;
};

/// "rank 2 (node1), step 12, all_reduce: ..."; without the host or the operation if empty.
[[nodiscard]] std::string message_of(const Failure& failure);

constexpr std::size_t kMaxFailureText = 65536;
/// For sending; text beyond kMaxFailureText bytes is cut off.
[[nodiscard]] std::string encode(const Failure& failure);
/// Throws Error{device} for bytes not made by encode().
[[nodiscard]] Failure decode_failure(std::string_view bytes);

}  // namespace trainyard
