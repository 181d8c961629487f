// Libraries opened at run time: shared ones, and those of functions that the program calls but is
// not linked with, which are checked for their version, and left open.
#pragma once

#include <initializer_list>
#include <string>

#include "base/filesystem.h"
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
  explicit SharedLibrary(const fs::path& path);
  /// The library in its own link namespace, with copies of all its dependencies, to query it.
  /// Libraries that it opens itself and leaves open cannot be mistaken for those of another copy.
  [[nodiscard]] static SharedLibrary apart(const fs::path& path);

  [[nodiscard]] bool is_open() const { return static_cast<bool>(library_); }
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// The file that was opened; empty if unknown.
  [[nodiscard]] fs::path file() const;

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

/// A function of a library: its name, and the pointer to be set to it.
struct LibraryFunction {
  template <class Function>
  LibraryFunction(const char* symbol, Function*& function)
      : name(symbol), pointer(&function), set(set_to<Function>) {}

  const char* name;
  void* pointer;
  /// Sets the pointer to the library's function, or to null and returns false if it has none.
  bool (*set)(void* to, const SharedLibrary& library, const char* symbol);

 private:
  template <class Function>
  static bool set_to(void* to, const SharedLibrary& library, const char* symbol) {
    auto*& function = *static_cast<Function**>(to);
    function = library.function<Function>(symbol);
    return function != nullptr;
  }
};

/// Sets each pointer to the library's function, or to null if it has none. Returns the name of the
/// first that is missing, or null.
const char* find_functions(const SharedLibrary& library,
                           std::initializer_list<LibraryFunction> functions);

/// What the program must know of a library to open it. Versions are major * 10000 + minor * 100 +
/// patch.
struct RequiredLibrary {
  std::string name;  // "cuDNN"
  int least_version = 0;
  bool newer_major = false;  // a newer major version has the same functions and types
  /// The version of an open library, or 0 if it does not report one.
  int (*version)(const SharedLibrary&) = nullptr;
  std::string purpose = {};  // "which is needed for several GPUs", if it cannot be opened
  std::string advice = {};   // what to do if it cannot be opened
};

/// Opens the library at `path` (or of that name, if the loader finds it), sets the pointers to its
/// functions, and leaves it open until the program ends. Throws Error{device} if it cannot be
/// opened, lacks a function, or has an unsuitable version.
void open_library(const RequiredLibrary& library, const fs::path& path,
                  std::initializer_list<LibraryFunction> functions);

/// "9.19.0" for 91900, the version numbering of cuDNN, cuBLASLt and NCCL.
[[nodiscard]] std::string version_text(int number);
/// What is wrong with version `found` of the library; "" if nothing: at least as new, and with the
/// same major version unless a newer one will do.
[[nodiscard]] std::string version_problem(const RequiredLibrary& library, int found);

}  // namespace trainyard
