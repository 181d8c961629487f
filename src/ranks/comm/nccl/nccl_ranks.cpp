#include "ranks/comm/nccl_ranks.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "device/cuda/cuda_device.h"
#include "ranks/comm/nccl/nccl_group.h"
#include "ranks/comm/nccl/nccl_library.h"

namespace trainyard {
namespace {

/// "5 f32, 3 f64".
std::string text_of(std::span<const SumPart> parts) {
  std::vector<std::string> words;
  for (const SumPart& part : parts)
    words.push_back(fmt::format("{} {}", part.count, name_of(part.type)));
  return joined(words);
}

/// Rank 0 makes the id and sends it to the others.
ncclUniqueId shared_id(const nccl::Library& library, const NcclSettings& settings) {
  ncclUniqueId id{};
  if (settings.rank == 0) id = library.make_unique_id();
  settings.share(std::as_writable_bytes(std::span(&id, 1)));
  return id;
}

class NcclRanks final : public Communicator {
 public:
  explicit NcclRanks(const NcclSettings& settings)
      : library_(settings.library),
        queue_(settings.device->make_queue()),
        done_(settings.device->make_event()),
        token_(settings.device->allocate(sizeof(std::int32_t))),
        group_(library_, *settings.clock,
               {.rank = settings.rank, .ranks = settings.ranks, .host = settings.host},
               shared_id(library_, settings), settings.limit) {
    queue_->fill(token_->data(), std::byte{0}, token_->bytes());
  }

  [[nodiscard]] int rank() const override { return group_.identity().rank; }
  [[nodiscard]] int size() const override { return group_.identity().ranks; }
  [[nodiscard]] bool recordable() const override { return true; }
  [[nodiscard]] bool sums_in_tree() const override { return false; }

  void all_reduce_sums(Queue& queue, std::span<const SumPart> parts) override {
    group_.call("all_reduce_sum of " + text_of(parts),
                [&](const nccl::Functions& nccl, ncclComm_t group) {
                  return nccl::sum_all(nccl, group, parts, cuda::stream_of(queue));
                });
  }
  void broadcast(Queue& queue, void* data, std::size_t bytes, int root) override {
    group_.call(fmt::format("broadcast of {} bytes from rank {}", bytes, root),
                [&](const nccl::Functions& nccl, ncclComm_t group) {
                  return nccl.broadcast(data, data, bytes, ncclUint8, root, group,
                                        cuda::stream_of(queue));
                });
  }
  void all_gather(Queue& queue, const void* mine, std::size_t bytes, void* out) override {
    group_.call(fmt::format("all_gather of {} bytes", bytes), [&](const nccl::Functions& nccl,
                                                                  ncclComm_t group) {
      return nccl.all_gather(mine, out, bytes, ncclUint8, group, cuda::stream_of(queue));
    });
  }
  void all_to_all(Queue& queue, const void* mine, std::size_t bytes, void* out) override {
    group_.call(fmt::format("all_to_all of {} bytes to each rank", bytes),
                [&](const nccl::Functions& nccl, ncclComm_t group) {
                  return nccl::exchange(nccl, group,
                                        {.mine = static_cast<const std::byte*>(mine),
                                         .out = static_cast<std::byte*>(out),
                                         .bytes = bytes,
                                         .ranks = size()},
                                        cuda::stream_of(queue));
                });
  }
  void barrier() override {
    all_reduce_sum(*queue_, token_->data(), 1, DType::i32);
    done_->record(*queue_);
    group_.wait_for("barrier", [&] { return done_->done(); });
  }
  void give_up() noexcept override { group_.give_up(); }

 private:
  nccl::Library library_;
  std::unique_ptr<Queue> queue_;  // for barriers
  std::unique_ptr<Event> done_;
  std::unique_ptr<DeviceBuffer> token_;  // summed by barriers
  nccl::Group group_;                    // left before the memory it uses is freed
};

}  // namespace

std::unique_ptr<Communicator> make_nccl_ranks(const NcclSettings& settings) {
  TY_CHECK(settings.device != nullptr && settings.clock != nullptr && settings.share != nullptr,
           "a group of GPUs needs a device, a clock and an exchange of ids");
  return std::make_unique<NcclRanks>(settings);
}

}  // namespace trainyard
