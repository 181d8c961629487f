#include "ranks/comm/statistics_over_ranks.h"

namespace trainyard {
namespace {

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

std::unique_ptr<StatisticsSum> make_statistics_sum(Communicator& communicator, Queue& queue) {
  if (communicator.size() == 1) return nullptr;
  return std::make_unique<CommunicatorSum>(communicator, queue);
}

}  // namespace trainyard
