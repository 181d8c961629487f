// Shared libraries opened at run time.
#pragma once

#include <filesystem>
#include <string>

#include "base/handle.h"

namespace trainyard {

struct CloseLibrary {
  void operator()(void* library) const;
};

/// An open library, closed with the object. Its symbols are found only by name lookup in it.
class SharedLibrary {
 public:
  /// A path, or a name that the loader searches for; undefined symbols are bound at once. If it
  /// cannot be opened, is_open() is false and problem() is the loader's text.
  explicit SharedLibrary(const std::filesystem::path& path);
  /// The library in its own link namespace, with copies of all its dependencies, to query it.
  /// Libraries that it opens itself and leaves open cannot be mistaken for those of another copy.
  [[nodiscard]] static SharedLibrary apart(const std::filesystem::path& path);

  [[nodiscard]] bool is_open() const { return static_cast<bool>(library_); }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// The file that was opened; empty if unknown.
  [[nodiscard]] std::filesystem::path file() const;

  /// The function `name`, or null.
  template <class Function>
  [[nodiscard]] Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }
  /// The variable `name`, or null.
  template <class T>
  [[nodiscard]] T* variable(const char* name) const {
    return static_cast<T*>(symbol(name));
  }
  /// Leaves the library open until the program ends.
  void keep() { library_.release(); }

 private:
  explicit SharedLibrary(void* library);
  [[nodiscard]] void* symbol(const char* name) const;

  Handle<void*, CloseLibrary> library_;
  std::string problem_;
};

}  // namespace trainyard
