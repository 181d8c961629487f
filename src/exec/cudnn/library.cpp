#include "exec/cudnn/library.h"

#include <fmt/format.h>

#include <array>
#include <type_traits>

#include "base/error.h"
#include "base/shared_library.h"

namespace trainyard::cudnn {
namespace {

template <class Function>
void find(const SharedLibrary& library, const char* name, Function& function) {
  function = library.function<std::remove_pointer_t<Function>>(name);
  if (function != nullptr) return;
  throw Error(ErrorKind::device,
              fmt::format("{} has no function {}; expected cuDNN {} or newer",
                          library.file().string(), name, version_text(CUDNN_VERSION)));
}

Functions functions_of(const SharedLibrary& library) {
  Functions all{};
  find(library, "cudnnGetVersion", all.version);
  find(library, "cudnnGetErrorString", all.error_string);
  find(library, "cudnnGetLastErrorString", all.last_error_string);
  find(library, "cudnnCreate", all.create);
  find(library, "cudnnDestroy", all.destroy);
  find(library, "cudnnSetStream", all.set_stream);
  find(library, "cudnnBackendCreateDescriptor", all.create_descriptor);
  find(library, "cudnnBackendDestroyDescriptor", all.destroy_descriptor);
  find(library, "cudnnBackendFinalize", all.finalize);
  find(library, "cudnnBackendSetAttribute", all.set_attribute);
  find(library, "cudnnBackendGetAttribute", all.get_attribute);
  find(library, "cudnnBackendExecute", all.execute);
  return all;
}

}  // namespace

std::string version_text(std::size_t number) {
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

std::string version_problem(std::size_t found, std::size_t built) {
  if (found >= built && found / 10000 == built / 10000) return "";
  return fmt::format("cuDNN {} was found, expected {} or a newer {}.x", version_text(found),
                     version_text(built), built / 10000);
}

Library::Library(const std::filesystem::path& path) {
  SharedLibrary library(path);
  if (!library.is_open()) {
    throw Error(ErrorKind::device, "cuDNN cannot be opened: " + library.problem());
  }
  functions_ = functions_of(library);
  const std::string problem = version_problem(functions_.version(), CUDNN_VERSION);
  if (!problem.empty()) {
    throw Error(ErrorKind::device, fmt::format("{}: {}", library.file().string(), problem));
  }
  library.keep();
}

std::string Library::version() const { return version_text(functions_.version()); }

void Library::check(cudnnStatus_t status, std::string_view doing) const {
  if (status == CUDNN_STATUS_SUCCESS) return;
  std::array<char, 1024> text{};
  functions_.last_error_string(text.data(), text.size());
  std::string reason(text.data());
  while (!reason.empty() && (reason.back() == '\n' || reason.back() == ' ')) reason.pop_back();
  throw Error(ErrorKind::device,
              fmt::format("cuDNN: {}: {}{}", doing, functions_.error_string(status),
                          reason.empty() ? "" : " (" + reason + ")"));
}

LibraryHandle::LibraryHandle(const Library& library, cudaStream_t stream) : library_(library) {
  library.check(library.call().create(&handle_), "making a handle");
  const cudnnStatus_t status = library.call().set_stream(handle_, stream);
  if (status == CUDNN_STATUS_SUCCESS) return;
  library.call().destroy(handle_);
  library.check(status, "giving the handle its stream");
}

LibraryHandle::~LibraryHandle() { library_.call().destroy(handle_); }

}  // namespace trainyard::cudnn
