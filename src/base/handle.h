// Owners of C library handles.
#pragma once

#include <utility>

namespace trainyard {

/// Owns one handle and destroys it with `Destroy{}(handle)`, which must not throw. A handle that
/// equals T{} owns nothing. Move-only.
template <class T, class Destroy>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T handle) : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, T{})) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (handle_ != T{}) Destroy{}(handle_);
  }

  [[nodiscard]] T get() const { return handle_; }
  /// Gives up ownership: the caller destroys the handle or leaks it.
  T release() { return std::exchange(handle_, T{}); }
  [[nodiscard]] explicit operator bool() const { return handle_ != T{}; }

 private:
  T handle_{};
};

// File descriptors with an owner.

/// A file descriptor; -1 is none.
struct FileNumber {
  int value = -1;
  bool operator==(const FileNumber&) const = default;
};
struct CloseFile {
  void operator()(FileNumber file) const noexcept;
};
/// An open file, closed with the object; not inherited by child processes.
using Descriptor = Handle<FileNumber, CloseFile>;

}  // namespace trainyard
