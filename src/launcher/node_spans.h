// When launches run, in builds that time nodes (the CMake option TRAINYARD_NODE_TIMES): kernels
// note it on the device. Other builds have no code of it.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace trainyard {

#ifdef TRAINYARD_NODE_TIMES
inline constexpr bool kTimesNodes = true;
#else
inline constexpr bool kTimesNodes = false;
#endif

/// Nanoseconds of the GPU's timer: when the first block began and the last one ended.
struct NodeSpan {
  unsigned long long begin, end;
};
/// Before a launch, which lowers the begin and raises the end.
inline constexpr NodeSpan kNoSpan{~0ULL, 0};

/// Gives each launch that is made while it exists a span of its own, in the order of launches. One
/// at a time, used by one thread. It is global because launchers are made in many places, which a
/// measurement should not change.
class NodeSpans {
 public:
  struct Launch {
    std::string functor;
    const void* stream;
  };
  /// `spans`, on the device, has room for `most` launches.
  NodeSpans(NodeSpan* spans, std::size_t most) : spans_(spans), most_(most) { current = this; }
  ~NodeSpans() { current = nullptr; }
  NodeSpans(const NodeSpans&) = delete;
  NodeSpans& operator=(const NodeSpans&) = delete;

  [[nodiscard]] std::vector<Launch> take() { return std::exchange(launches_, {}); }

  /// The span of a launch that is about to be made; null: it has none.
  [[nodiscard]] static NodeSpan* of_launch(const std::string& functor, const void* stream) {
    if (current == nullptr || current->launches_.size() == current->most_) return nullptr;
    current->launches_.push_back({functor, stream});
    return current->spans_ + (current->launches_.size() - 1);
  }

 private:
  inline static NodeSpans* current = nullptr;

  NodeSpan* spans_;
  std::size_t most_;
  std::vector<Launch> launches_;
};

/// A functor with the span of its launch, which may be null.
template <class F>
struct Timed : F {
  NodeSpan* span;
};
/// What a launcher gives a kernel.
template <class F>
using Launched = std::conditional_t<kTimesNodes, Timed<F>, F>;

}  // namespace trainyard
