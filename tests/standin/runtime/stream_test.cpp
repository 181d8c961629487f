// Streams, events and copies of the stand-in runtime.
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "control.h"
#include "test_streams.h"

namespace standin::test {

Patient::Patient() { set_idle(std::chrono::hours(1)); }
Patient::~Patient() { set_idle(std::chrono::milliseconds(1)); }

namespace {

TEST_CASE("a stream is done as far as the host waits for it, and no other is") {
  const Patient patient;
  Log log;
  const TestStream one, two;
  CHECK(log.put(two, "other") == cudaSuccess);
  CHECK(log.put(one, "a") == cudaSuccess);
  CHECK(log.put(one, "b") == cudaSuccess);
  const TestEvent event;
  CHECK(event.record(one) == cudaSuccess);
  CHECK(log.put(one, "late") == cudaSuccess);
  CHECK(cudaEventSynchronize(event.handle) == cudaSuccess);
  CHECK(log.text() == "a b");
  CHECK(one.wait() == cudaSuccess);
  CHECK(log.text() == "a b late");
  CHECK(two.wait() == cudaSuccess);
  CHECK(log.text() == "a b late other");
}

TEST_CASE("a stream has the priority that it is made with, moved into the device's range") {
  int least = 1, greatest = 1;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
  CHECK(least == 0);
  CHECK(greatest == -5);
  CHECK(cudaDeviceGetStreamPriorityRange(nullptr, nullptr) == cudaSuccess);
  const auto priority_of = [](int requested) {
    cudaStream_t stream = nullptr;
    CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, requested) == cudaSuccess);
    int priority = 1;
    CHECK(cudaStreamGetPriority(stream, &priority) == cudaSuccess);
    CHECK(cudaStreamDestroy(stream) == cudaSuccess);
    return priority;
  };
  CHECK(priority_of(0) == 0);
  CHECK(priority_of(-3) == -3);
  CHECK(priority_of(-9) == greatest);
  CHECK(priority_of(4) == least);
  int usual = 1;
  CHECK(cudaStreamGetPriority(TestStream().handle, &usual) == cudaSuccess);
  CHECK(usual == 0);
  CHECK(cudaStreamGetPriority(nullptr, &usual) == cudaSuccess);
  CHECK(cudaStreamGetPriority(TestStream().handle, nullptr) == cudaErrorInvalidValue);
  CHECK(cudaStreamCreateWithPriority(nullptr, cudaStreamNonBlocking, 0) == cudaErrorInvalidValue);
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreateWithPriority(&stream, 2, 0) == cudaErrorInvalidValue);
  while (cudaGetLastError() != cudaSuccess) {
  }
}

TEST_CASE("a stream that waits for an event lets the other reach it, and no further") {
  const Patient patient;
  Log log;
  const TestStream one, two;
  const TestEvent event;
  CHECK(log.put(one, "before") == cudaSuccess);
  CHECK(event.record(one) == cudaSuccess);
  CHECK(log.put(one, "behind") == cudaSuccess);
  CHECK(event.hold(two) == cudaSuccess);
  CHECK(log.put(two, "two") == cudaSuccess);
  CHECK(two.wait() == cudaSuccess);
  CHECK(log.text() == "before two");
  CHECK(one.wait() == cudaSuccess);
}

TEST_CASE("an event that is recorded again holds those that wait from then on") {
  const Patient patient;
  Log log;
  const TestStream one, two;
  const TestEvent event;
  CHECK(event.record(one) == cudaSuccess);
  CHECK(event.hold(two) == cudaSuccess);
  CHECK(log.put(one, "one") == cudaSuccess);
  CHECK(event.record(one) == cudaSuccess);
  CHECK(log.put(two, "two") == cudaSuccess);
  CHECK(two.wait() == cudaSuccess);
  CHECK(log.text() == "two");
  CHECK(one.wait() == cudaSuccess);
}

TEST_CASE("work without a waiter is done when the host enqueues no more") {
  const TestStream stream;
  std::mutex mutex;
  std::condition_variable done;
  bool is_done = false;
  const cudaError_t status = enqueue(stream.handle, "tell", [&] {
    const std::lock_guard lock(mutex);
    is_done = true;
    done.notify_one();
    return true;
  });
  CHECK(status == cudaSuccess);
  std::unique_lock lock(mutex);
  done.wait(lock, [&] { return is_done; });
  lock.unlock();
  CHECK(stream.wait() == cudaSuccess);
}

TEST_CASE("work that cannot continue blocks no other stream") {
  const Patient patient;
  Log log;
  const TestStream one, two;
  bool open = false;
  CHECK(enqueue(one.handle, "wait", [&] { return open; }) == cudaSuccess);
  CHECK(enqueue(two.handle, "open", [&] { return open = true; }) == cudaSuccess);
  const TestEvent event;
  CHECK(event.record(two) == cudaSuccess);
  std::thread waiting([&] { CHECK(one.wait() == cudaSuccess); });
  CHECK(cudaEventSynchronize(event.handle) == cudaSuccess);
  waiting.join();
}

TEST_CASE("an event that is not reached leaves an error behind, until it is read") {
  const Patient patient;
  const TestStream stream;
  const TestEvent event;
  CHECK(cudaEventQuery(event.handle) == cudaSuccess);
  CHECK(event.record(stream) == cudaSuccess);
  CHECK(cudaEventQuery(event.handle) == cudaErrorNotReady);
  CHECK(stream.wait() == cudaSuccess);
  CHECK(cudaEventQuery(event.handle) == cudaSuccess);
  CHECK(cudaGetLastError() == cudaErrorNotReady);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("two events give the time between them, if created for timing") {
  const TestStream stream;
  const TestEvent start(cudaEventDefault), end(cudaEventDefault), untimed;
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, start.handle, end.handle) ==
        cudaErrorInvalidResourceHandle);
  for (const TestEvent* event : {&start, &end, &untimed}) {
    CHECK(event->record(stream) == cudaSuccess);
  }
  CHECK(stream.wait() == cudaSuccess);
  CHECK(cudaEventElapsedTime(&milliseconds, start.handle, end.handle) == cudaSuccess);
  CHECK(milliseconds >= 0);
  CHECK(cudaEventElapsedTime(&milliseconds, start.handle, untimed.handle) ==
        cudaErrorInvalidResourceHandle);
  static_cast<void>(cudaGetLastError());
}

TEST_CASE("a copy from pinned memory reads it when executed, one from other memory before") {
  const Patient patient;
  const TestStream stream;
  const TestMemory memory(8);
  void* pinned = nullptr;
  CHECK(cudaMallocHost(&pinned, 4) == cudaSuccess);
  char pageable[4] = "old", received[8] = "";
  std::memcpy(pinned, "old", 4);
  char* const second = static_cast<char*>(memory.data) + 4;
  const auto send = [&](void* to, const void* from) {
    return cudaMemcpyAsync(to, from, 4, cudaMemcpyHostToDevice, stream.handle);
  };
  CHECK(send(memory.data, pinned) == cudaSuccess);
  CHECK(send(second, pageable) == cudaSuccess);
  std::memcpy(pinned, "new", 4);
  std::memcpy(pageable, "new", 4);
  // To memory that is not pinned: waits.
  CHECK(cudaMemcpyAsync(received, memory.data, 8, cudaMemcpyDeviceToHost, stream.handle) ==
        cudaSuccess);
  CHECK(std::string(received) == "new");
  CHECK(std::string(received + 4) == "old");
  CHECK(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("freeing memory waits for all streams of its device") {
  const Patient patient;
  Log log;
  const TestStream one, two;
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 64) == cudaSuccess);
  CHECK(log.put(one, "one") == cudaSuccess);
  CHECK(log.put(two, "two") == cudaSuccess);
  CHECK(cudaFree(memory) == cudaSuccess);
  CHECK(log.text() == "one two");
}

TEST_CASE("the legacy stream waits only for blocking streams, and they for it") {
  const Patient patient;
  Log log;
  const TestStream blocking(cudaStreamDefault), apart;
  const TestMemory memory(4);
  CHECK(log.put(blocking, "blocking") == cudaSuccess);
  CHECK(log.put(apart, "apart") == cudaSuccess);
  int value = 0;
  CHECK(cudaMemcpy(&value, memory.data, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(log.text() == "blocking");
  CHECK(value == -1);  // memory starts as NaN
  CHECK(apart.wait() == cudaSuccess);
}

TEST_CASE("work of a destroyed stream is still done") {
  Log log;
  {
    const TestStream stream;
    CHECK(log.put(stream, "done") == cudaSuccess);
  }
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 4) == cudaSuccess);
  CHECK(cudaFree(memory) == cudaSuccess);
  CHECK(log.text() == "done");
}

}  // namespace
}  // namespace standin::test
