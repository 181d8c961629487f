// cuDNN as a table of its functions, opened by path at run time: the program, with this part,
// starts without it. And its backend descriptors: created, filled, finalized, read, destroyed.
#pragma once

#include <cudnn_graph.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/filesystem.h"
#include "base/shared_library.h"
#include "device/cuda/check.h"

namespace trainyard::cudnn {

/// The functions of cuDNN that are called. None of them is deprecated.
struct Functions {
  decltype(&cudnnGetVersion) version;
  decltype(&cudnnGetErrorString) error_string;
  decltype(&cudnnGetLastErrorString) last_error_string;
  decltype(&cudnnCreate) create;
  decltype(&cudnnDestroy) destroy;
  decltype(&cudnnSetStream) set_stream;
  decltype(&cudnnBackendCreateDescriptor) create_descriptor;
  decltype(&cudnnBackendDestroyDescriptor) destroy_descriptor;
  decltype(&cudnnBackendFinalize) finalize;
  decltype(&cudnnBackendSetAttribute) set_attribute;
  decltype(&cudnnBackendGetAttribute) get_attribute;
  decltype(&cudnnBackendExecute) execute;
  cudaError_t (*device_fault)() = cuda::device_fault;  // queried when one of them fails
};

/// An open cuDNN. It stays open until the program ends, so it needs no owner.
class Library {
 public:
  /// 9.8.0, the first that lists engines by the properties of a device.
  static constexpr int kLeastVersion = 90800;

  /// cuDNN as the GPU part opens it. Inline, because the list of libraries is linked without
  /// executors.
  [[nodiscard]] static RequiredLibrary required() {
    return {.name = "cuDNN", .least_version = kLeastVersion, .version = version_of};
  }

  /// Opens the library at `path` (or of that name, found by the loader). Throws Error{device} if it
  /// cannot be opened, lacks a function, or is older than kLeastVersion.
  explicit Library(const fs::path& path);
  explicit Library(const Functions& functions) : functions_(functions) {}

  [[nodiscard]] const Functions& call() const { return functions_; }
  /// "9.19.0".
  [[nodiscard]] std::string version() const;
  /// "CUDNN_STATUS_BAD_PARAM (cuDNN's own reason)", queried right after the call; "" for success.
  [[nodiscard]] std::string problem(cudnnStatus_t status) const;
  /// Throws Error{device} with what was being done, cuDNN's status and its own reason, unless
  /// `status` is success; a GpuError if the GPU has failed.
  void check(cudnnStatus_t status, std::string_view doing) const;

 private:
  static int version_of(const SharedLibrary& library) {
    auto* ask = library.function<decltype(cudnnGetVersion)>("cudnnGetVersion");
    return ask == nullptr ? 0 : static_cast<int>(ask());
  }

  Functions functions_{};
};

/// A cuDNN handle of the current device, on a stream.
class LibraryHandle {
 public:
  LibraryHandle(const Library& library, cudaStream_t stream);
  ~LibraryHandle();
  LibraryHandle(const LibraryHandle&) = delete;
  LibraryHandle& operator=(const LibraryHandle&) = delete;
  [[nodiscard]] cudnnHandle_t get() const { return handle_; }

 private:
  const Library& library_;
  cudnnHandle_t handle_ = nullptr;
};

/// The attribute type of values, which cudnnBackendSetAttribute requires.
constexpr auto type_of(const std::int64_t*) { return CUDNN_TYPE_INT64; }
constexpr auto type_of(const std::int32_t*) { return CUDNN_TYPE_INT32; }
constexpr auto type_of(const bool*) { return CUDNN_TYPE_BOOLEAN; }
constexpr auto type_of(const char*) { return CUDNN_TYPE_CHAR; }
constexpr auto type_of(const float*) { return CUDNN_TYPE_FLOAT; }
constexpr auto type_of(void* const*) { return CUDNN_TYPE_VOID_PTR; }
constexpr auto type_of(const cudnnDataType_t*) { return CUDNN_TYPE_DATA_TYPE; }
constexpr auto type_of(const cudnnConvolutionMode_t*) { return CUDNN_TYPE_CONVOLUTION_MODE; }
constexpr auto type_of(const cudnnPointwiseMode_t*) { return CUDNN_TYPE_POINTWISE_MODE; }
constexpr auto type_of(const cudnnBackendHeurMode_t*) { return CUDNN_TYPE_HEUR_MODE; }
constexpr auto type_of(const cudnnBackendKnobType_t*) { return CUDNN_TYPE_KNOB_TYPE; }
constexpr auto type_of(const cudnnBackendNumericalNote_t*) { return CUDNN_TYPE_NUMERICAL_NOTE; }
constexpr auto type_of(const cudnnBackendBehaviorNote_t*) { return CUDNN_TYPE_BEHAVIOR_NOTE; }

class Descriptor;
/// Descriptors refer to one another and live as long as anything refers to them.
using DescriptorPtr = std::shared_ptr<const Descriptor>;

/// One descriptor. Set what it needs, finalize(), then only read. Every failure throws
/// Error{device} that names `what` and gives cuDNN's reason.
class Descriptor {
 public:
  /// `what` names the descriptor in errors: "convolution [64, 3, 32, 32] ...".
  Descriptor(const Library& library, cudnnBackendDescriptorType_t type, std::string what);
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  template <class T>
  void set(cudnnBackendAttributeName_t name, const T& value) {
    set_raw(name, type_of(&value), 1, &value);
  }
  template <class T>
  void set_list(cudnnBackendAttributeName_t name, std::span<const T> values) {
    set_raw(name, type_of(values.data()), static_cast<std::int64_t>(values.size()), values.data());
  }
  void set(cudnnBackendAttributeName_t name, const DescriptorPtr& value);
  void set_list(cudnnBackendAttributeName_t name, std::span<const DescriptorPtr> values);
  /// Accepts no more values. Here cuDNN checks the whole descriptor.
  void finalize();
  /// As finalize(), but returns cuDNN's status and reason on failure; "" on success.
  [[nodiscard]] std::string try_finalize();

  template <class T>
  [[nodiscard]] T get(cudnnBackendAttributeName_t name) const {
    T value{};
    get_raw(name, type_of(&value), 1, &value);
    return value;
  }
  /// At most `most` values.
  template <class T>
  [[nodiscard]] std::vector<T> get_list(cudnnBackendAttributeName_t name, std::int64_t most) const {
    std::vector<T> values(static_cast<std::size_t>(most));
    values.resize(
        static_cast<std::size_t>(get_raw(name, type_of(values.data()), most, values.data())));
    return values;
  }
  /// Fills `value`, which is created but not finalized.
  void get(cudnnBackendAttributeName_t name, Descriptor& value) const;
  /// Descriptors of `type` that cuDNN fills in: as many as it has, at most `most`.
  [[nodiscard]] std::vector<std::shared_ptr<Descriptor>> get_descriptors(
      cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type,
      const std::string& what_they_are, std::int64_t most) const;
  /// How many values the attribute has.
  [[nodiscard]] std::int64_t count(cudnnBackendAttributeName_t name,
                                   cudnnBackendAttributeType_t type) const;

  [[nodiscard]] cudnnBackendDescriptor_t raw() const { return raw_; }
  [[nodiscard]] const std::string& what() const { return what_; }
  [[nodiscard]] const Library& library() const { return library_; }

 private:
  void set_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
               std::int64_t count, const void* values);
  std::int64_t get_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                       std::int64_t most, void* values) const;

  const Library& library_;
  std::string what_;
  std::vector<DescriptorPtr> held_;
  cudnnBackendDescriptor_t raw_ = nullptr;
};

}  // namespace trainyard::cudnn
