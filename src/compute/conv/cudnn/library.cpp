#include "compute/conv/cudnn/library.h"

#include <fmt/format.h>

#include <array>

namespace trainyard::cudnn {

Library::Library(const std::filesystem::path& path) {
  Functions& all = functions_;
  open_library(required(), path,
               {{"cudnnGetVersion", all.version},
                {"cudnnGetErrorString", all.error_string},
                {"cudnnGetLastErrorString", all.last_error_string},
                {"cudnnCreate", all.create},
                {"cudnnDestroy", all.destroy},
                {"cudnnSetStream", all.set_stream},
                {"cudnnBackendCreateDescriptor", all.create_descriptor},
                {"cudnnBackendDestroyDescriptor", all.destroy_descriptor},
                {"cudnnBackendFinalize", all.finalize},
                {"cudnnBackendSetAttribute", all.set_attribute},
                {"cudnnBackendGetAttribute", all.get_attribute},
                {"cudnnBackendExecute", all.execute}});
}

std::string Library::version() const {
  return version_text(static_cast<int>(functions_.version()));
}

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
