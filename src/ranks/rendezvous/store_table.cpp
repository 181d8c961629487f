#include "ranks/rendezvous/store_table.h"

#include "base/error.h"
#include "base/text.h"
#include "ranks/rendezvous/wire.h"

namespace trainyard {
namespace {

[[noreturn]] void refuse_key(std::string_view key, const std::string& reason) {
  throw Error(ErrorKind::device, "the ranks' store refused the key '" +
                                     std::string(key.substr(0, kMaxKeyBytes)) + "': " + reason);
}

void check_size(std::string_view key, std::string_view what, std::size_t bytes,
                std::size_t allowed) {
  if (bytes <= allowed) return;
  refuse_key(key, std::string(what) + " has " + std::to_string(bytes) + " bytes; at most " +
                      std::to_string(allowed) + " are allowed");
}

}  // namespace

const std::string* StoreTable::find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

void StoreTable::set(std::string_view key, std::string_view value) {
  check_size(key, "it", key.size(), kMaxKeyBytes);
  check_size(key, "its value", value.size(), kMaxValueBytes);
  const std::string* const old = find(key);
  const std::size_t before = old != nullptr ? key.size() + old->size() : 0;
  const std::size_t after = bytes_ - before + key.size() + value.size();
  if (old == nullptr && values_.size() >= limits_.keys) {
    refuse_key(key, "it holds " + std::to_string(limits_.keys) + " keys, and no more are allowed");
  }
  if (after > limits_.bytes) {
    refuse_key(key, "it would hold " + std::to_string(after) + " bytes; at most " +
                        std::to_string(limits_.bytes) + " are allowed");
  }
  values_.insert_or_assign(std::string(key), std::string(value));
  bytes_ = after;
}

std::int64_t StoreTable::add(std::string_view key, std::int64_t amount) {
  const std::string* const old = find(key);
  const auto before = old != nullptr ? parse_integer(*old) : 0;
  if (!before) refuse_key(key, "its value is not a number, so nothing can be added to it");
  std::int64_t sum = 0;
  if (__builtin_add_overflow(*before, amount, &sum)) refuse_key(key, "the sum exceeds 64 bits");
  set(key, std::to_string(sum));
  return sum;
}

void key_is_late(std::string_view key, Milliseconds limit) {
  const double seconds = std::chrono::duration<double>(limit).count();
  throw Error(ErrorKind::device, "no rank set '" + std::string(key) + "' within " +
                                     number_text(seconds) + " s; are all ranks running?");
}

}  // namespace trainyard
