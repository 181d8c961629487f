#include "ranks/comm/communicator.h"

#include "base/error.h"

namespace trainyard {
namespace {

class SingleCommunicator final : public Communicator {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] bool recordable() const override { return true; }
  [[nodiscard]] bool sums_in_tree() const override { return true; }
  void all_reduce_sum(Queue&, void*, std::int64_t, DType type) override {
    TY_CHECK(type != DType::u8, "bytes are not all-reduced");
  }
  void broadcast(Queue&, void*, std::size_t, int root) override {
    TY_CHECK(root == 0, "a group of one has only rank 0");
  }
  void all_gather(Queue& queue, const void* mine, std::size_t bytes, void* out) override {
    if (bytes > 0) queue.copy(out, mine, bytes);
  }
  void all_to_all(Queue& queue, const void* mine, std::size_t bytes, void* out) override {
    all_gather(queue, mine, bytes, out);
  }
  void barrier() override {}
};

}  // namespace

std::unique_ptr<Communicator> make_single_communicator() {
  return std::make_unique<SingleCommunicator>();
}

}  // namespace trainyard
