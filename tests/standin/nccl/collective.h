// Collectives: every rank shows what it has, a piece at a time, and makes the result of what all
// show.
#pragma once

#include "operation.h"

namespace standin::nccl {

class Collective final : public Operation {
 public:
  /// `share` outlives it.
  Collective(Share& share, const Call& call, const void* from, void* to);

  [[nodiscard]] std::vector<Region> regions() const override;
  /// Ranks that call something else are waited for, for ever: NCCL's kernels would hang too, or
  /// worse.
  [[nodiscard]] bool advance() override;

 private:
  [[nodiscard]] bool shows() const;
  void show();
  [[nodiscard]] bool all_show_alike();
  void take();
  [[nodiscard]] const std::byte* slot_of(int rank);

  Share& share_;
  Call call_;
  const std::byte* from_;
  std::byte* to_;
  std::uint64_t size_;      // bytes of an element
  std::uint64_t done_ = 0;  // elements
  std::uint64_t now_ = 0;   // of the piece that this rank shows; 0: none
};

}  // namespace standin::nccl
