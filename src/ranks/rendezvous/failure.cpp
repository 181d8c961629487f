#include "ranks/rendezvous/failure.h"

#include "base/error.h"
#include "ranks/rendezvous/wire.h"

namespace trainyard {
namespace {

std::string cut(std::string_view text, std::size_t bytes) {
  return std::string(text.substr(0, bytes));
}

int small_number(std::uint64_t value) {
  if (value > 1'000'000) throw device_error("a failure's numbers are out of range");
  return static_cast<int>(value);
}

}  // namespace

std::string name_of_rank(int rank, const std::string& host) {
  const std::string name = "rank " + std::to_string(rank);
  return host.empty() ? name : name + " (" + host + ")";
}

std::string message_of(const Failure& failure) {
  std::string place = name_of_rank(failure.rank, failure.host);
  place += ", step " + std::to_string(failure.step);
  if (!failure.operation.empty()) place += ", " + failure.operation;
  return place + ": " + failure.text;
}

std::string encode(const Failure& failure) {
  std::string bytes;
  put_number(bytes, static_cast<std::uint64_t>(failure.rank));
  put_number(bytes, static_cast<std::uint64_t>(failure.step));
  put_number(bytes, static_cast<std::uint64_t>(failure.exit_code));
  put_number(bytes, failure.consequence ? 1 : 0);
  put_text(bytes, cut(failure.host, kMaxKeyBytes));
  put_text(bytes, cut(failure.operation, kMaxKeyBytes));
  put_text(bytes, cut(failure.text, kMaxFailureText));
  return bytes;
}

Failure decode_failure(std::string_view bytes) {
  FieldReader reader(bytes);
  Failure failure;
  failure.rank = small_number(reader.number());
  failure.step = static_cast<std::int64_t>(reader.number());
  failure.exit_code = small_number(reader.number());
  const int consequence = small_number(reader.number());
  failure.consequence = consequence == 1;
  failure.host = reader.text();
  failure.operation = reader.text();
  failure.text = reader.text();
  reader.finish();
  const bool fits = failure.host.size() <= kMaxKeyBytes &&
                    failure.operation.size() <= kMaxKeyBytes &&
                    failure.text.size() <= kMaxFailureText && consequence <= 1;
  if (!fits) throw device_error("a failure's fields are out of range");
  return failure;
}

}  // namespace trainyard
