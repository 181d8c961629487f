// Shared libraries that are opened at run time.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

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
  /// The library in a name space of its own, with copies of all that it needs: to ask it something.
  /// Libraries that it opens itself, and leaves open, cannot be taken for those of another copy.
  [[nodiscard]] static SharedLibrary apart(const std::filesystem::path& path);

  [[nodiscard]] bool is_open() const { return static_cast<bool>(library_); }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// The file that was opened; empty if it is not known.
  [[nodiscard]] std::filesystem::path file() const;

  /// The function `name`, or null.
  template <class Function>
  [[nodiscard]] Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }
  /// Sets `to` to the function `name`. Throws Error{device} that names the file, the function and
  /// what was `expected` ("cuDNN 9.19.0 or newer") if there is none.
  template <class Function>
  void require(const char* name, Function*& to, std::string_view expected) const {
    to = function<Function>(name);
    if (to == nullptr) lacks(name, expected);
  }
  /// The variable `name`, or null.
  template <class T>
  [[nodiscard]] T* variable(const char* name) const {
    return static_cast<T*>(symbol(name));
  }
  /// Leaves the library open to the end of the program.
  void keep() { library_.release(); }

 private:
  explicit SharedLibrary(void* library);
  [[nodiscard]] void* symbol(const char* name) const;
  [[noreturn]] void lacks(const char* name, std::string_view expected) const;

  Handle<void*, CloseLibrary> library_;
  std::string problem_;
};

/// "9.19.0" of 91900, as cuDNN and NCCL number their versions.
[[nodiscard]] std::string version_text(std::size_t number);
/// What is wrong with a `library` ("cuDNN") of version `found` for a program that needs `least`; ""
/// if nothing: it is as new, of the same first number.
[[nodiscard]] std::string version_problem(std::string_view library, std::size_t found,
                                          std::size_t least);

}  // namespace trainyard
