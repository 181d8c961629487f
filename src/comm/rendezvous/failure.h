// Why a job of several ranks ends: one failure, told to all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

/// "rank 1 (host)"; without a host "rank 1".
[[nodiscard]] std::string name_of_rank(int rank, const std::string& host);

/// What happened to one rank.
struct Failure {
  int rank = 0;
  std::string host;       // name of its machine
  std::int64_t step = 0;  // the last one it told of
  std::string operation;  // likewise
  std::string text;       // what happened, the rank not repeated
  int exit_code = 0;      // every rank ends with it
  bool consequence =
      false;  // it met what another rank may have caused: a collective that went wrong

  bool operator==(const Failure&) const = default;
};

/// "rank 2 (node1), step 12, all_reduce: ..."; without the host or the operation where empty.
[[nodiscard]] std::string message_of(const Failure& failure);

constexpr std::size_t kMaxFailureText = 65536;
/// For a message; text beyond kMaxFailureText bytes is cut.
[[nodiscard]] std::string encode(const Failure& failure);
/// Throws Error{device} for bytes that encode() does not make.
[[nodiscard]] Failure decode_failure(std::string_view bytes);

}  // namespace trainyard
