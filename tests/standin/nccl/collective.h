// Collectives: every rank publishes its data, a piece at a time, and computes the result from what
// all have published.
#pragma once

#include <memory>
#include <vector>

#include "operation.h"

namespace standin::nccl {

class Collective final : public Operation {
 public:
  /// `share` outlives it.
  Collective(Share& share, const Call& call, const void* from, void* to);

  [[nodiscard]] std::vector<Region> regions() const override;
  /// Waits forever for ranks that call something else: NCCL's kernels would hang too, or worse.
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
  std::uint64_t now_ = 0;   // number of the piece that this rank has published; 0: none
};

/// The collectives of one group of calls on one stream: NCCL plans them together and launches one
/// kernel (enqueue.cc, ncclLaunchPrepare), in which they are done in the order of the calls.
class Collectives final : public Operation {
 public:
  explicit Collectives(std::vector<std::unique_ptr<Operation>> all) : all_(std::move(all)) {}

  [[nodiscard]] std::vector<Region> regions() const override;
  [[nodiscard]] bool advance() override;

 private:
  std::vector<std::unique_ptr<Operation>> all_;
  std::size_t next_ = 0;
};

struct Message {
  bool sent = false;  // by this rank
  int peer = 0;
  std::byte* memory = nullptr;
  std::uint64_t bytes = 0;
};

class Exchange final : public Operation {
 public:
  /// `share` outlives it.
  Exchange(Share& share, bool captured, std::vector<Message> messages);

  [[nodiscard]] std::vector<Region> regions() const override;
  /// A message whose two ends differ in size, or of which one is captured, is never delivered. A
  /// message is sent once it has been received: NCCL buffers small ones, but callers may not rely
  /// on that.
  [[nodiscard]] bool advance() override;

 private:
  struct Way {
    Message message;
    Mailbox* box;
    std::uint64_t letters;
    std::uint64_t posted = 0, taken = 0;

    [[nodiscard]] bool done() const { return taken == letters; }
  };
  [[nodiscard]] bool waits_for_another(std::size_t index) const;
  [[nodiscard]] bool move(Way& way) const;
  [[nodiscard]] bool post(Way& way) const;
  [[nodiscard]] bool take(Way& way) const;

  std::uint64_t captured_;
  std::vector<Way> ways_;
};

}  // namespace standin::nccl
