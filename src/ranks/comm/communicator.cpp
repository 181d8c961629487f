#include "ranks/comm/communicator.h"

#include <algorithm>

#include "base/text.h"

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

class StagedCommunicator final : public ForwardingCommunicator {
 public:
  StagedCommunicator(Device& device, Communicator& hosts)
      : ForwardingCommunicator(hosts), device_(device) {}

  [[nodiscard]] bool recordable() const override { return false; }

  void all_reduce_sums(Queue& queue, std::span<const SumPart> parts) override {
    for (const SumPart& part : parts) {
      const std::size_t bytes = static_cast<std::size_t>(part.count) * size_of(part.type);
      std::byte* const host = take(queue, part.data, bytes, 0);
      inner().all_reduce_sum(*host_queue_, host, part.count, part.type);
      give(queue, part.data, host, bytes);
    }
  }
  void broadcast(Queue& queue, void* data, std::size_t bytes, int root) override {
    std::byte* const host = take(queue, data, bytes, 0);
    inner().broadcast(*host_queue_, host, bytes, root);
    give(queue, data, host, bytes);
  }
  void all_gather(Queue& queue, const void* mine, std::size_t bytes, void* out) override {
    const std::size_t all = bytes * static_cast<std::size_t>(size());
    std::byte* const host = take(queue, mine, bytes, all);
    inner().all_gather(*host_queue_, host, bytes, host + bytes);
    give(queue, out, host + bytes, all);
  }
  void all_to_all(Queue& queue, const void* mine, std::size_t bytes, void* out) override {
    const std::size_t all = bytes * static_cast<std::size_t>(size());
    std::byte* const host = take(queue, mine, all, all);
    inner().all_to_all(*host_queue_, host, bytes, host + all);
    give(queue, out, host + all, all);
  }

 private:
  /// Copies the device's bytes to the host, with space for `more` after them.
  std::byte* take(Queue& queue, const void* from, std::size_t bytes, std::size_t more) {
    reserve(bytes + more);
    auto* const host = static_cast<std::byte*>(memory_->data());
    given_->wait_on(queue);  // the memory still holds the last result
    if (bytes > 0) queue.copy_to_host(host, from, bytes);
    queue.wait();
    return host;
  }
  void give(Queue& queue, void* to, const std::byte* host, std::size_t bytes) {
    if (bytes > 0) queue.copy_from_host(to, host, bytes);
    given_->record(queue);
  }
  void reserve(std::size_t bytes) {
    if (memory_ != nullptr && memory_->bytes() >= bytes) return;
    given_->wait();
    memory_ = device_.allocate_host(bytes);
  }

  Device& device_;
  std::unique_ptr<Queue> host_queue_ = make_cpu_device()->make_queue();
  std::unique_ptr<Event> given_ = device_.make_event();
  std::unique_ptr<DeviceBuffer> memory_;
};

std::string_view unit_of(DType type) {
  TY_CHECK(type != DType::u8, "bytes are not all-reduced");
  constexpr std::string_view kUnits[] = {"f32 elements", "f64 elements", "f16 elements",
                                         "bf16 elements", "i32 elements"};  // by DType
  return kUnits[static_cast<std::size_t>(type)];
}

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

std::unique_ptr<Communicator> make_staged_communicator(Device& device, Communicator& hosts) {
  return std::make_unique<StagedCommunicator>(device, hosts);
}

Communicator& TimedAllReduce::around(Communicator& ranks) {
  forward_to(ranks);
  return *this;
}

void TimedAllReduce::clear_noted() {
  for (const Call& call : noted_) {
    for (const SumPart& part : call.parts) {
      const std::size_t bytes = static_cast<std::size_t>(part.count) * size_of(part.type);
      call.queue->fill(part.data, std::byte{0}, bytes);
    }
  }
}

void TimedAllReduce::make_noted() {
  for (std::size_t call = 0; call < noted_.size(); ++call) make_noted(call);
}

void TimedAllReduce::make_noted(std::size_t call) {
  inner().all_reduce_sums(*noted_[call].queue, noted_[call].parts);
}

void TimedAllReduce::wait() {
  for (const Call& call : noted_) call.queue->wait();
}

void TimedAllReduce::all_reduce_sums(Queue& queue, std::span<const SumPart> parts) {
  if (mode_ == Mode::leave_out) return;
  if (mode_ == Mode::note) noted_.push_back({&queue, {parts.begin(), parts.end()}});
  inner().all_reduce_sums(queue, parts);
}

CollectiveCall sum_call(std::int64_t count, DType type) {
  return {.operation = "all_reduce_sum", .count = count, .unit = unit_of(type)};
}

std::string amount_of(const CollectiveCall& call) {
  return std::to_string(call.count) + " " + std::string(call.unit);
}

std::string text_of(const CollectiveCall& call) {
  return std::string(call.operation) + " of " + amount_of(call);
}

std::string gone_text(const std::string& name, const std::string& reason) {
  return name + " is gone (" + reason + "); see its output";
}

std::string late_text(const std::string& name, Milliseconds limit, const std::string& reason) {
  const double seconds = std::chrono::duration<double>(limit).count();
  return name + " did not take part within " + number_text(seconds) + " s (" + reason +
         "); see its output";
}

Error failed_call(const std::string& call, const std::string& name, int ranks,
                  const std::string& reason) {
  return {ErrorKind::device,
          name + ": " + call + " over " + std::to_string(ranks) + " ranks failed: " + reason};
}

}  // namespace trainyard
