// Shared libraries that are opened at run time.
#pragma once

#include <filesystem>
#include <string>

#include "base/handle.h"

namespace trainyard {

struct CloseLibrary {
  void operator()(void* library) const;
};

/// An open library, closed with the object. Its symbols serve those alone who ask for them by name.
class SharedLibrary {
 public:
  /// A path, or a name that the loader looks for; all that it lacks itself is bound at once. If it
  /// cannot be opened, is_open() is false and problem() is the loader's text.
  explicit SharedLibrary(const std::filesystem::path& path);

  [[nodiscard]] bool is_open() const { return static_cast<bool>(library_); }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// The file that was opened; empty if it is not known.
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
  /// Leaves the library open to the end of the program.
  void keep() { library_.release(); }

 private:
  [[nodiscard]] void* symbol(const char* name) const;

  Handle<void*, CloseLibrary> library_;
  std::string problem_;
};

}  // namespace trainyard
