#include "ranks/comm/gloo_communicator.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include "base/error.h"
#include "ranks/comm/gloo_mesh.h"
#include "ranks/comm/tree_sum.h"

namespace trainyard {
namespace {

// Phases of a call: those of a gathering follow those of at most 64 parts of slices.
constexpr unsigned kFirstGatherPhase = 128;

std::size_t bytes_of(const SumPart& part) {
  return static_cast<std::size_t>(part.count) * size_of(part.type);
}

/// Whether each rank gets all ranks' values and sums them itself: with few bytes it sends hardly
/// more than for slices, to a few ranks instead of all.
bool is_small(const SumPart& part, int ranks) {
  constexpr std::size_t kFewBytes = 4096;
  return ranks > 2 && bytes_of(part) <= kFewBytes;
}

/// Bytes of a small part among the others of its call.
std::size_t room_of(const SumPart& part) {
  constexpr std::size_t kAlignment = 8;  // alignment of the largest element
  return (bytes_of(part) + kAlignment - 1) / kAlignment * kAlignment;
}

/// Whether each rank sums the whole of a large part itself: of two ranks it sends no more bytes
/// than for slices, and the sums need not be distributed.
bool summed_by_each(int ranks) { return ranks == 2; }

/// The slice of a large part that rank `rank` of `ranks` sums.
Slice slice_of(const SumPart& part, int rank, int ranks) {
  if (summed_by_each(ranks)) return {0, bytes_of(part)};
  return trainyard::slice_of(part.count, part.type, rank, ranks);
}

std::vector<int> all_but(int rank, int ranks) {
  std::vector<int> others;
  for (int other = 0; other < ranks; ++other) {
    if (other != rank) others.push_back(other);
  }
  return others;
}

class GlooCommunicator final : public Communicator {
 public:
  GlooCommunicator(int rank, int ranks, Store& store, const GlooOptions& options)
      : mesh_(rank, ranks, store, options, neighbours_of(rank, ranks)),
        others_(all_but(rank, ranks)),
        few_(neighbours_of(rank, ranks) == others_),
        inputs_(static_cast<std::size_t>(ranks)) {}

  [[nodiscard]] int rank() const override { return mesh_.rank(); }
  [[nodiscard]] int size() const override { return mesh_.size(); }
  [[nodiscard]] bool recordable() const override { return true; }
  [[nodiscard]] bool sums_in_tree() const override { return true; }
  void all_reduce_sums(Queue& queue, std::span<const SumPart> parts) override {
    const SigpipeGuard guard;
    queue.wait();
    std::int64_t count = 0;
    for (const SumPart& part : parts) {
      TY_CHECK(part.count >= 0, "a sum has 0 or more elements");
      count += part.count;
    }
    TY_CHECK(2 * parts.size() <= kFirstGatherPhase, "a call has at most 64 parts");
    mesh_.begin(sum_call(count, parts.front().type));
    if (size() == 1) return;
    if (staging_.size() < parts.size()) staging_.resize(parts.size());
    const auto each_large = [&](auto&& visit) {
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (!is_small(parts[i], size())) visit(i, parts[i]);
      }
    };
    each_large([&](std::size_t, const SumPart&) { mesh_.connect(others_); });
    // While one part waits for data, the others are worked on.
    each_large([&](std::size_t i, const SumPart& part) { exchange_slices(i, part); });
    sum_small(parts);
    each_large([&](std::size_t i, const SumPart& part) {
      sum_own_slice(i, part);
      hand_round(i, part);
    });
    each_large([&](std::size_t, const SumPart& part) {
      mesh_.await_received(window_of(part));
      mesh_.await_sent(window_of(part));
    });
  }
  void broadcast(Queue& queue, void* data, std::size_t bytes, int root) override {
    TY_CHECK(root >= 0 && root < size(), "the root of a broadcast is a rank of the group");
    const SigpipeGuard guard;
    queue.wait();
    mesh_.begin({.operation = "broadcast",
                 .count = static_cast<std::int64_t>(bytes),
                 .unit = "bytes",
                 .root = root});
    if (bytes == 0 || size() == 1) return;
    Window& window = mesh_.window(data, bytes);
    // A binomial tree: counted from the root, rank r receives from r without its highest bit.
    const auto position = static_cast<unsigned>((rank() - root + size()) % size());
    const auto rank_at = [&](unsigned at) { return (static_cast<int>(at) + root) % size(); };
    unsigned bit = 1;
    while (bit <= position) bit *= 2;
    if (position != 0) {
      mesh_.receive(window, rank_at(position - bit / 2), 0, 0, bytes);
      mesh_.await_received(window);
    }
    for (; position + bit < static_cast<unsigned>(size()); bit *= 2) {
      mesh_.send(window, rank_at(position + bit), 0, 0, bytes);
    }
    mesh_.await_sent(window);
  }
  void all_gather(Queue& queue, const void* mine, std::size_t bytes, void* out) override {
    const SigpipeGuard guard;
    queue.wait();
    mesh_.begin({.operation = "all_gather",
                 .count = static_cast<std::int64_t>(bytes),
                 .unit = "bytes per rank"});
    if (bytes == 0) return;
    auto* const slots = static_cast<std::byte*>(out);
    std::memmove(slots + static_cast<std::size_t>(rank()) * bytes, mine, bytes);
    gather_slots(slots, bytes);
  }
  void all_to_all(Queue& queue, const void* mine, std::size_t bytes, void* out) override {
    const SigpipeGuard guard;
    queue.wait();
    mesh_.begin({.operation = "all_to_all",
                 .count = static_cast<std::int64_t>(bytes),
                 .unit = "bytes to each rank"});
    if (bytes == 0) return;
    const std::size_t own = static_cast<std::size_t>(rank()) * bytes;
    std::memcpy(static_cast<std::byte*>(out) + own, static_cast<const std::byte*>(mine) + own,
                bytes);
    if (size() == 1) return;
    const std::size_t all = static_cast<std::size_t>(size()) * bytes;
    Window& sent = mesh_.window(const_cast<void*>(mine), all);  // nothing is received into it
    Window& received = mesh_.window(out, all);
    mesh_.connect(others_);
    each_other([&](int other) {
      const std::size_t theirs = static_cast<std::size_t>(other) * bytes;
      mesh_.receive(received, other, 0, theirs, bytes);
      mesh_.send(sent, other, 0, theirs, bytes);
    });
    mesh_.await_received(received);
    mesh_.await_sent(sent);
  }
  void barrier() override {
    const SigpipeGuard guard;
    mesh_.begin({.operation = "barrier", .count = 1, .unit = "byte per rank"});
    present_.resize(static_cast<std::size_t>(size()));
    gather_slots(present_.data(), 1);
  }

 private:
  using Window = GlooMesh::Window;

  /// Sums the small ones of `parts`.
  void sum_small(std::span<const SumPart> parts) {
    std::size_t bytes = 0;
    for (const SumPart& part : parts) bytes += is_small(part, size()) ? room_of(part) : 0;
    if (bytes == 0) return;
    const std::size_t all = bytes * static_cast<std::size_t>(size());
    if (small_.size() < all) small_.resize(all);
    std::size_t begin = 0;
    const auto at = [&](int rank) {
      return small_.data() + static_cast<std::size_t>(rank) * bytes + begin;
    };
    for (const SumPart& part : parts) {
      if (!is_small(part, size()) || part.count == 0) continue;
      std::memcpy(at(rank()), part.data, bytes_of(part));
      begin += room_of(part);
    }
    gather_slots(small_.data(), bytes);
    begin = 0;
    for (const SumPart& part : parts) {
      if (!is_small(part, size())) continue;
      for (int other = 0; other < size(); ++other) {
        inputs_[static_cast<std::size_t>(other)] = at(other);
      }
      sum_.run(inputs_, part.data, part.count, part.type);
      begin += room_of(part);
    }
  }
  /// The exchanges of a large sum; the part's `index` separates its bytes from those of other
  /// parts.
  void exchange_slices(std::size_t index, const SumPart& part) {
    Window& received = slices_of(index, part);
    Window& window = window_of(part);
    const Slice mine = slice_of(part, rank(), size());
    const int phase = static_cast<int>(2 * index);
    each_other([&](int other) {
      const Slice theirs = slice_of(part, other, size());
      mesh_.receive(received, other, phase, static_cast<std::size_t>(other) * mine.bytes,
                    mine.bytes);
      mesh_.send(window, other, phase, theirs.begin, theirs.bytes);
    });
  }
  void sum_own_slice(std::size_t index, const SumPart& part) {
    mesh_.await_received(slices_of(index, part));
    mesh_.await_sent(window_of(part));
    const Slice mine = slice_of(part, rank(), size());
    for (int other = 0; other < size(); ++other) {
      const std::size_t offset = static_cast<std::size_t>(other) * mine.bytes;
      inputs_[static_cast<std::size_t>(other)] = staging_[index].data() + offset;
    }
    auto* const own = static_cast<std::byte*>(part.data) + mine.begin;
    inputs_[static_cast<std::size_t>(rank())] = own;
    sum_.run(inputs_, own, static_cast<std::int64_t>(mine.bytes / size_of(part.type)), part.type);
  }
  void hand_round(std::size_t index, const SumPart& part) {
    if (summed_by_each(size())) return;
    Window& window = window_of(part);
    const Slice mine = slice_of(part, rank(), size());
    const int phase = static_cast<int>(2 * index + 1);
    each_other([&](int other) {
      const Slice theirs = slice_of(part, other, size());
      mesh_.receive(window, other, phase, theirs.begin, theirs.bytes);
      mesh_.send(window, other, phase, mine.begin, mine.bytes);
    });
  }
  /// Every rank's slot of `out`, [size()][bytes], to every rank.
  void gather_slots(std::byte* out, std::size_t bytes) {
    if (size() == 1) return;
    Window& window = mesh_.window(out, static_cast<std::size_t>(size()) * bytes);
    // Each round wakes every rank up once more, and few ranks are connected anyway.
    few_ ? gather_directly(window, bytes) : gather_by_doubling(window, bytes);
  }
  /// The same in one round, from rank to rank, if all are neighbours.
  void gather_directly(Window& window, std::size_t bytes) {
    const int phase = static_cast<int>(kFirstGatherPhase);
    each_other([&](int other) {
      mesh_.receive(window, other, phase, static_cast<std::size_t>(other) * bytes, bytes);
      mesh_.send(window, other, phase, static_cast<std::size_t>(rank()) * bytes, bytes);
    });
    mesh_.await_received(window);
    mesh_.await_sent(window);
  }
  /// The same in log2(size()) rounds.
  void gather_by_doubling(Window& window, std::size_t bytes) {
    int phase = static_cast<int>(kFirstGatherPhase);
    // `count` slots from that of rank `first` on, around the circle: up to two ranges of memory.
    const auto each_range = [&](int first, int count, auto&& visit) {
      const int until_end = std::min(count, size() - first);
      visit(phase, static_cast<std::size_t>(first) * bytes,
            static_cast<std::size_t>(until_end) * bytes);
      visit(phase + 1, 0, static_cast<std::size_t>(count - until_end) * bytes);
    };
    // Before each round, rank r has the slots of the `known` ranks from r on.
    for (int known = 1; known < size(); known *= 2, phase += 2) {
      const int more = std::min(known, size() - known);
      const int before = (rank() + size() - known) % size();
      const int after = (rank() + known) % size();
      each_range(after, more, [&](int part, std::size_t offset, std::size_t length) {
        mesh_.receive(window, after, part, offset, length);
      });
      each_range(rank(), more, [&](int part, std::size_t offset, std::size_t length) {
        mesh_.send(window, before, part, offset, length);
      });
      mesh_.await_received(window);
    }
    mesh_.await_sent(window);
  }
  [[nodiscard]] Window& window_of(const SumPart& part) {
    return mesh_.window(part.data, bytes_of(part));
  }
  /// This rank's slice of each rank's part: [size()][slice], the same memory every time.
  [[nodiscard]] Window& slices_of(std::size_t index, const SumPart& part) {
    const Slice mine = slice_of(part, rank(), size());
    const std::size_t all = mine.bytes * static_cast<std::size_t>(size());
    std::vector<std::byte>& memory = staging_[index];
    if (memory.size() < all) memory.resize(all);
    return mesh_.window(memory.data(), all);
  }
  template <class Visit>
  void each_other(Visit&& visit) const {
    // Every rank begins with its successor, so that not all send to rank 0 first.
    for (int i = 1; i < size(); ++i) visit((rank() + i) % size());
  }

  GlooMesh mesh_;
  std::vector<int> others_;  // all ranks but this one
  bool few_;                 // all of them are neighbours
  TreeSum sum_;
  std::vector<std::byte> small_;                 // [size()][small parts]
  std::vector<std::vector<std::byte>> staging_;  // per part
  std::vector<const void*> inputs_;              // per rank
  std::vector<std::byte> present_;               // for barriers: a byte per rank
};

}  // namespace

std::unique_ptr<Communicator> make_gloo_communicator(int rank, int ranks, Store& store,
                                                     const GlooOptions& options) {
  TY_CHECK(ranks >= 1 && rank >= 0 && rank < ranks, "a rank is from 0 to ranks - 1");
  TY_CHECK(options.limit.count() > 0, "a time limit is positive");
  return std::make_unique<GlooCommunicator>(rank, ranks, store, options);
}

}  // namespace trainyard
