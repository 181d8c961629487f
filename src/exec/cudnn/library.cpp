#include "exec/cudnn/library.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "base/shared_library.h"

namespace trainyard::cudnn {
namespace {

Functions functions_of(const SharedLibrary& library) {
  Functions all{};
  const auto find = [&, expected = "cuDNN " + version_text(Library::kLeastVersion) + " or newer"](
                        const char* name, auto& to) { library.require(name, to, expected); };
  find("cudnnGetVersion", all.version);
  find("cudnnGetErrorString", all.error_string);
  find("cudnnGetLastErrorString", all.last_error_string);
  find("cudnnCreate", all.create);
  find("cudnnDestroy", all.destroy);
  find("cudnnSetStream", all.set_stream);
  find("cudnnBackendCreateDescriptor", all.create_descriptor);
  find("cudnnBackendDestroyDescriptor", all.destroy_descriptor);
  find("cudnnBackendFinalize", all.finalize);
  find("cudnnBackendSetAttribute", all.set_attribute);
  find("cudnnBackendGetAttribute", all.get_attribute);
  find("cudnnBackendExecute", all.execute);
  return all;
}

}  // namespace

Library::Library(const std::filesystem::path& path) {
  SharedLibrary library(path);
  if (!library.is_open()) {
    throw Error(ErrorKind::device, "cuDNN cannot be opened: " + library.problem());
  }
  functions_ = functions_of(library);
  const std::string problem = version_problem("cuDNN", functions_.version(), kLeastVersion);
  if (!problem.empty()) {
    throw Error(ErrorKind::device, fmt::format("{}: {}", library.file().string(), problem));
  }
  library.keep();
}

std::string Library::version() const { return version_text(functions_.version()); }

std::string Library::problem(cudnnStatus_t status) const {
  if (status == CUDNN_STATUS_SUCCESS) return "";
  std::array<char, 1024> text{};
  functions_.last_error_string(text.data(), text.size());
  std::string reason(text.data());
  while (!reason.empty() && (reason.back() == '\n' || reason.back() == ' ')) reason.pop_back();
  return functions_.error_string(status) + (reason.empty() ? "" : " (" + reason + ")");
}

void Library::check(cudnnStatus_t status, std::string_view doing) const {
  if (status == CUDNN_STATUS_SUCCESS) return;
  cuda::throw_library_error(fmt::format("cuDNN: {}: {}", doing, problem(status)),
                            functions_.device_fault());
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
