#include "logging_gpu.h"

#include <utility>

#include "base/gpu_error.h"
#include "data/feed/batch_launches.h"
#include "forwarding_ranks.h"
#include "optim/update_launches.h"

namespace trainyard::test {
namespace {

class LoggingBuffer final : public DeviceBuffer {
 public:
  LoggingBuffer(std::unique_ptr<DeviceBuffer> memory, GpuEvents& events)
      : memory_(std::move(memory)), events_(events) {}
  ~LoggingBuffer() override { events_.emplace_back("free"); }
  LoggingBuffer(const LoggingBuffer&) = delete;
  LoggingBuffer& operator=(const LoggingBuffer&) = delete;
  [[nodiscard]] void* data() const override { return memory_->data(); }
  [[nodiscard]] std::size_t bytes() const override { return memory_->bytes(); }

 private:
  std::unique_ptr<DeviceBuffer> memory_;
  GpuEvents& events_;
};

class LoggingDevice final : public Device {
 public:
  LoggingDevice(GpuEvents& events, GpuFault fault) : events_(events), fault_(std::move(fault)) {}
  [[nodiscard]] std::string name() const override { return "cuda:0"; }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes) override {
    return std::make_unique<LoggingBuffer>(host_->allocate(bytes), events_);
  }
  [[nodiscard]] std::unique_ptr<DeviceBuffer> allocate_host(std::size_t bytes) override {
    return allocate(bytes);
  }
  [[nodiscard]] std::unique_ptr<Queue> make_queue() override { return host_->make_queue(); }
  [[nodiscard]] std::unique_ptr<Queue> make_high_priority_queue() override {
    events_.emplace_back("high-priority queue");
    return make_queue();
  }
  [[nodiscard]] std::unique_ptr<Event> make_event() override { return host_->make_event(); }
  [[nodiscard]] std::unique_ptr<Recording> record(Queue& queue,
                                                  std::function<void()> work) override {
    fault_("record");
    return host_->record(queue, std::move(work));
  }
  [[nodiscard]] std::size_t free_bytes() const override { return host_->free_bytes(); }

 private:
  GpuEvents& events_;
  GpuFault fault_;
  std::unique_ptr<Device> host_ = make_cpu_device();
};

class LoggingRanks final : public testing::ForwardingRanks {
 public:
  LoggingRanks(Communicator& hosts, GpuEvents& events) : ForwardingRanks(hosts), events_(events) {}
  void give_up() noexcept override { events_.emplace_back("give up"); }

 private:
  GpuEvents& events_;
};

class LoggingBackend final : public Backend {
 public:
  LoggingBackend(RankGroup& hosts, GpuEvents& events, GpuFault fault)
      : hosts_(hosts), events_(events), fault_(std::move(fault)) {}
  [[nodiscard]] GpuSurvey survey() const override { return {}; }
  [[nodiscard]] std::vector<LibraryFinding> open_libraries(
      std::span<const std::filesystem::path>) override {
    return {};
  }
  [[nodiscard]] std::unique_ptr<Device> make_device(int, bool) const override {
    return std::make_unique<LoggingDevice>(events_, fault_);
  }
  [[nodiscard]] std::unique_ptr<ExecutorFactory> make_executors(
      CudaExecutorSettings settings) const override {
    settings.tick();  // an engine is tried
    fault_("make executors");
    return make_reference_executors();
  }
  [[nodiscard]] std::unique_ptr<UpdateLaunches> make_update_launches(const Queue&) const override {
    return make_cpu_update_launches(1);
  }
  [[nodiscard]] std::unique_ptr<BatchLaunches> make_batch_launches(const Queue&) const override {
    return make_cpu_batch_launches(1);
  }
  [[nodiscard]] std::unique_ptr<Communicator> make_nccl_ranks(const NcclSettings&) const override {
    return std::make_unique<LoggingRanks>(hosts_.communicator(), events_);
  }

 private:
  RankGroup& hosts_;
  GpuEvents& events_;
  GpuFault fault_;
};

}  // namespace

UsableGpus logging_gpu(RankGroup& hosts, GpuEvents& events, GpuFault fault) {
  return {.backend = std::make_unique<LoggingBackend>(hosts, events, std::move(fault)),
          .gpus = {{.name = "simulated GPU",
                    .total_bytes = std::size_t{8} << 30,
                    .bus = "ffff:ff:1f.7"}},
          .libraries = {{.name = "cuDNN", .path = "libcudnn.so.9"},
                        {.name = "cuBLASLt", .path = "libcublasLt.so.13"},
                        {.name = "NCCL", .path = "libnccl.so.2", .several_gpus = true}}};
}

GpuFault fails_to(const std::string& doing) {
  return [doing](std::string_view now) {
    if (now == doing) throw GpuError("CUDA: an illegal memory access");
  };
}

DeviceChoice choice_of(UsableGpus usable) {
  DeviceChoice choice{.kind = DeviceChoice::Kind::gpu, .threads = 1};
  choice.gpus = std::make_shared<UsableGpus>(std::move(usable));
  return choice;
}

}  // namespace trainyard::test
