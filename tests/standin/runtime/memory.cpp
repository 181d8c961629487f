#include "memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <functional>

namespace standin {
namespace {

// Blocks of whole pages, so that freed ones can be returned. CUDA's are aligned to 512 bytes.
constexpr std::size_t kPage = 4096;
constexpr int kUndefined = 0xff;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

std::byte* mapped(std::size_t bytes, int protection) {
  void* memory =
      mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

bool lies_in(const std::byte* block, std::size_t block_bytes, const void* memory,
             std::size_t bytes) {
  const auto begin = reinterpret_cast<std::size_t>(block);
  const auto at = reinterpret_cast<std::size_t>(memory);
  return at >= begin && bytes <= block_bytes && at - begin <= block_bytes - bytes;
}

}  // namespace

void DeviceMemory::reserve() {
  if (base_ == nullptr) base_ = mapped(whole_pages(total_), PROT_NONE);
}

void DeviceMemory::protect(std::size_t begin, std::size_t end, bool accessible) {
  if (begin == end) return;
  if (mprotect(base_ + begin, end - begin, accessible ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) {
    std::abort();
  }
}

std::size_t DeviceMemory::place_for(std::size_t bytes) const {
  std::size_t at = 0;
  for (const auto& [begin, held] : blocks_) {
    if (begin - at >= bytes) break;
    at = begin + whole_pages(held);
  }
  return at;
}

void* DeviceMemory::allocate(std::size_t bytes) {
  if (bytes > total_ - used_) return nullptr;
  const std::size_t whole = whole_pages(bytes);
  const std::size_t at = place_for(whole);
  reserve();
  if (base_ == nullptr || at + whole > total_) return nullptr;
  blocks_[at] = bytes;
  used_ += whole;
  // As accessible as the rest: the device may be working.
  protect(at, at + whole, true);
  std::memset(base_ + at, kUndefined, whole);
  if (at + whole > top_) top_ = at + whole;
  if (!open_) protect(at, at + whole, false);
  return base_ + at;
}

bool DeviceMemory::free(void* memory) {
  if (base_ == nullptr || !lies_in(base_, total_, memory, 1)) return false;
  const auto block =
      blocks_.find(static_cast<std::size_t>(static_cast<std::byte*>(memory) - base_));
  if (block == blocks_.end()) return false;
  const std::size_t whole = whole_pages(block->second);
  madvise(base_ + block->first, whole, MADV_DONTNEED);
  used_ -= whole;
  blocks_.erase(block);
  return true;
}

bool DeviceMemory::holds(const void* memory, std::size_t bytes) const {
  if (base_ == nullptr || !lies_in(base_, total_, memory, bytes)) return false;
  const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(memory) - base_);
  auto behind = blocks_.upper_bound(at);
  if (behind == blocks_.begin()) return false;
  --behind;
  return lies_in(base_ + behind->first, behind->second, memory, bytes);
}

void DeviceMemory::open(bool whether) {
  if (open_ == whether) return;
  open_ = whether;
  protect(0, top_, whether);
}

void* PinnedMemory::allocate(std::size_t bytes) {
  const std::size_t whole = whole_pages(bytes);
  std::byte* const memory = mapped(whole, PROT_READ | PROT_WRITE);
  if (memory == nullptr) return nullptr;
  std::memset(memory, kUndefined, whole);
  blocks_[memory] = whole;
  return memory;
}

bool PinnedMemory::free(void* memory) {
  const auto block = blocks_.find(static_cast<const std::byte*>(memory));
  if (block == blocks_.end()) return false;
  munmap(memory, block->second);
  blocks_.erase(block);
  return true;
}

bool PinnedMemory::holds(const void* memory, std::size_t bytes) const {
  auto behind = blocks_.upper_bound(static_cast<const std::byte*>(memory));
  if (behind == blocks_.begin()) return false;
  --behind;
  return lies_in(behind->first, behind->second, memory, bytes);
}

}  // namespace standin
