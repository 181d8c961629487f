#include "ranks/comm/communicator.h"

#include <algorithm>

#include "base/error.h"

namespace trainyard {
namespace {

class SingleCommunicator final : public Communicator {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  [[nodiscard]] bool recordable() const override { return true; }
  [[nodiscard]] bool sums_in_tree() const override { return true; }
  void all_reduce_sums(Queue&, std::span<const SumPart> parts) override {
    for (const SumPart& part : parts) TY_CHECK(part.type != DType::u8, "bytes are not all-reduced");
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

class CommunicatorSum final : public StatisticsSum {
 public:
  CommunicatorSum(Communicator& communicator, Queue& queue)
      : communicator_(communicator), queue_(queue) {}
  [[nodiscard]] int replicas() const override { return communicator_.size(); }
  void sum(double* values, std::int64_t count) override {
    communicator_.all_reduce_sum(queue_, values, count, DType::f64);
  }

 private:
  Communicator& communicator_;
  Queue& queue_;
};

}  // namespace

std::unique_ptr<Communicator> make_single_communicator() {
  return std::make_unique<SingleCommunicator>();
}

std::unique_ptr<StatisticsSum> make_statistics_sum(Communicator& communicator, Queue& queue) {
  if (communicator.size() == 1) return nullptr;
  return std::make_unique<CommunicatorSum>(communicator, queue);
}

std::vector<std::string> gather_texts(Communicator& ranks, Queue& queue, std::string_view mine) {
  const auto sizes = gather_values(ranks, queue, static_cast<std::uint64_t>(mine.size()));
  const std::size_t slot = *std::ranges::max_element(sizes);
  std::string padded(mine);
  padded.resize(slot);
  std::string all(slot * sizes.size(), '\0');
  ranks.all_gather(queue, padded.data(), slot, all.data());
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < sizes.size(); ++i) texts.push_back(all.substr(i * slot, sizes[i]));
  return texts;
}

double largest(Communicator& ranks, Queue& queue, double mine) {
  const auto all = gather_values(ranks, queue, mine);
  return *std::ranges::max_element(all);
}

std::string broadcast_text(Communicator& ranks, Queue& queue, std::string_view text, int root) {
  std::uint64_t size = text.size();
  ranks.broadcast(queue, &size, sizeof size, root);
  std::string all(size, '\0');
  if (ranks.rank() == root) all = text;
  ranks.broadcast(queue, all.data(), all.size(), root);
  return all;
}

}  // namespace trainyard
