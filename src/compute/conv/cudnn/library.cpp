#include "compute/conv/cudnn/library.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace trainyard::cudnn {

Library::Library(const fs::path& path) {
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

Descriptor::Descriptor(const Library& library, cudnnBackendDescriptorType_t type, std::string what)
    : library_(library), what_(std::move(what)) {
  library_.check(library_.call().create_descriptor(type, &raw_), what_);
}

Descriptor::~Descriptor() { library_.call().destroy_descriptor(raw_); }

void Descriptor::set(cudnnBackendAttributeName_t name, const DescriptorPtr& value) {
  set_list(name, std::span(&value, 1));
}

void Descriptor::set_list(cudnnBackendAttributeName_t name, std::span<const DescriptorPtr> values) {
  std::vector<cudnnBackendDescriptor_t> list;
  for (const DescriptorPtr& value : values) list.push_back(value->raw());
  set_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(list.size()), list.data());
  held_.insert(held_.end(), values.begin(), values.end());
}

void Descriptor::set_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                         std::int64_t count, const void* values) {
  library_.check(library_.call().set_attribute(raw_, name, type, count, values), what_);
}

void Descriptor::finalize() { library_.check(library_.call().finalize(raw_), what_); }

std::string Descriptor::try_finalize() { return library_.problem(library_.call().finalize(raw_)); }

std::int64_t Descriptor::get_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                                 std::int64_t most, void* values) const {
  std::int64_t found = 0;
  library_.check(library_.call().get_attribute(raw_, name, type, most, &found, values), what_);
  return found < most ? found : most;
}

void Descriptor::get(cudnnBackendAttributeName_t name, Descriptor& value) const {
  get_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.raw_);
}

std::vector<std::shared_ptr<Descriptor>> Descriptor::get_descriptors(
    cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type,
    const std::string& what_they_are, std::int64_t most) const {
  std::vector<std::shared_ptr<Descriptor>> list;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (std::int64_t i = 0; i < most; ++i) {
    list.push_back(std::make_shared<Descriptor>(library_, type, what_they_are));
    raw.push_back(list.back()->raw());
  }
  const std::int64_t found = get_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, raw.data());
  list.resize(static_cast<std::size_t>(found));
  return list;
}

std::int64_t Descriptor::count(cudnnBackendAttributeName_t name,
                               cudnnBackendAttributeType_t type) const {
  std::int64_t found = 0;
  library_.check(library_.call().get_attribute(raw_, name, type, 0, &found, nullptr), what_);
  return found;
}

}  // namespace trainyard::cudnn
