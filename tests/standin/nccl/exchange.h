// Sends and receives of one group of calls, which run together.
#pragma once

#include "operation.h"

namespace standin::nccl {

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
