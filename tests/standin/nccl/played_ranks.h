// Ranks of a group in one process, each on a played GPU of its own.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "played_streams.h"

namespace standin::played {

/// Begins to join without blocking, as the program does; the answer of the call.
ncclResult_t begin_joining(ncclComm_t& rank, const ncclUniqueId& id, int number, int ranks,
                           int device);
/// The state once it is no longer ncclInProgress.
ncclResult_t settled(ncclComm_t rank);
[[nodiscard]] ncclResult_t state_of(ncclComm_t rank);
/// Whether `holds` does so often that another thread has had many chances to change it.
[[nodiscard]] bool keeps(const std::function<bool()>& holds);

/// Joined, each with a stream. What is left of them is aborted at the end; the machine is reset at
/// the begin.
class Ranks {
 public:
  explicit Ranks(int ranks);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  [[nodiscard]] int size() const { return static_cast<int>(all_.size()); }
  [[nodiscard]] ncclComm_t operator[](int rank) const { return all_[rank]; }
  [[nodiscard]] Stream& stream(int rank) const { return *streams_[rank]; }
  /// An all-reduce in place of floats, on the rank's stream or another, taken by NCCL.
  ncclResult_t sum(int rank, std::vector<float>& data, Stream* stream = nullptr) const;
  /// Finalizes and destroys it, or aborts it; both may wait.
  void leave(int rank);
  void abort(int rank);
  /// It was destroyed, or aborted, by its handle.
  void gone(int rank) { all_[rank] = nullptr; }

 private:
  std::vector<ncclComm_t> all_;
  std::vector<Stream*> streams_;
};

/// Memory of a GPU: the vector's.
template <class T>
void on_gpu(const std::vector<T>& data) {
  Machine::get().add_memory(data.data(), data.size() * sizeof(T));
}

template <class T>
bool same_bits(std::span<const T> one, std::span<const T> other) {
  return one.size() == other.size() &&
         (one.empty() || std::memcmp(one.data(), other.data(), one.size_bytes()) == 0);
}

}  // namespace standin::played
