#include "ranks/comm/staged_communicator.h"

#include <span>

namespace trainyard {
namespace {

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

}  // namespace

std::unique_ptr<Communicator> make_staged_communicator(Device& device, Communicator& hosts) {
  return std::make_unique<StagedCommunicator>(device, hosts);
}

}  // namespace trainyard
