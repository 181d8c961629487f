// What would be enqueued on a GPU, in order.
//
// The folder counted holds a GPU that counts: its device, executors and launches enqueue what those
// of a GPU do, as entries of a log, and compute nothing. So a model and its training step run on it
// as on a GPU, and what a step launches follows from the code that launches it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainyard::counted {

/// One node of a recorded step.
struct Launch {
  /// What it is for: "convolution" and "product" are calls of libraries, "copy" and "fill" the
  /// queue's own; else the type of an op, or "batch", "packing", "bias", "update" ...
  std::string kind;
  std::string functor;   // its name; "" unless it is a launch of ours
  bool library = false;  // a call of cuDNN or cuBLASLt
  /// Read and written, each tensor as often as this launch reads or writes it, padding included; of
  /// a library's call once. Empty until the step that it belongs to has ended.
  std::optional<std::size_t> bytes;
  double flop = 0;  // work of a product: two per multiply-add
  bool on_side_queue = false;
};

class LaunchLog {
 public:
  /// What the following launches are for.
  void set_kind(std::string_view kind) { kind_ = kind; }
  void add(std::string functor, std::optional<std::size_t> bytes, std::string_view kind = {}) {
    launches_.push_back({.kind = kind.empty() ? kind_ : std::string(kind),
                         .functor = std::move(functor),
                         .bytes = bytes});
  }
  /// Adds the call of a library, or of a functor that does what libraries do.
  void add_call(std::string_view kind, std::size_t bytes, double flop, std::string functor = {}) {
    const bool library = functor.empty();
    launches_.push_back({.kind = std::string(kind),
                         .functor = std::move(functor),
                         .library = library,
                         .bytes = bytes,
                         .flop = flop});
  }
  /// A copy or a fill.
  void add_transfer(std::string_view kind, std::size_t bytes) {
    launches_.push_back({.kind = std::string(kind), .functor = {}, .bytes = bytes});
  }
  [[nodiscard]] std::size_t size() const { return launches_.size(); }
  /// Ends a step that began at launch `first`: of its launches whose bytes are unknown the first
  /// moves those of the step.
  void end_step(std::size_t first, std::size_t step_bytes, bool on_side_queue) {
    for (std::size_t i = first; i < launches_.size(); ++i) {
      launches_[i].on_side_queue = on_side_queue;
      if (launches_[i].bytes) continue;
      launches_[i].bytes = step_bytes;
      step_bytes = 0;
    }
    kind_ = kUpdate;
  }
  /// The launches so far, which the log forgets.
  [[nodiscard]] std::vector<Launch> take() { return std::exchange(launches_, {}); }

 private:
  static constexpr std::string_view kUpdate = "update";  // work in no step of the plan

  std::string kind_{kUpdate};
  std::vector<Launch> launches_;
};

}  // namespace trainyard::counted
