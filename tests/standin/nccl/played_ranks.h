// Ranks of a group in one process, each on its own simulated GPU.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "played_streams.h"

namespace standin::played {

/// Starts to join without blocking, as the program does; returns the call's result.
ncclResult_t begin_joining(ncclComm_t& rank, const ncclUniqueId& id, int number, int ranks,
                           int device);
/// The state once it is no longer ncclInProgress.
ncclResult_t settled(ncclComm_t rank);
[[nodiscard]] ncclResult_t state_of(ncclComm_t rank);
/// Whether `holds` is true for so long that another thread has had many chances to change it.
[[nodiscard]] bool keeps(const std::function<bool()>& holds);

/// Joined, each with a stream. Remaining ranks are aborted at the end; the machine is reset at the
/// start.
class Ranks {
 public:
  explicit Ranks(int ranks);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  [[nodiscard]] int size() const { return static_cast<int>(all_.size()); }
  [[nodiscard]] ncclComm_t operator[](int rank) const { return all_[rank]; }
  [[nodiscard]] Stream& stream(int rank) const { return *streams_[rank]; }
  /// An all-reduce in place of floats, on the rank's stream or another, accepted by NCCL.
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

/// Declares the vector's memory to be GPU memory.
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
