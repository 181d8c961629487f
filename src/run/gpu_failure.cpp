#include "run/gpu_failure.h"

namespace trainyard {
namespace {

constexpr std::string_view kOn = ", on ", kGpu = "cuda:";

}  // namespace

Error with_gpu(const GpuError& error, const GpuFinding* gpu, std::string_view host) {
  if (gpu == nullptr) return error;
  std::string text = error.what();
  text += std::string(kOn) + std::string(kGpu) + std::to_string(gpu->ordinal) + " (" + gpu->name +
          ", " + gpu->bus + ")";
  if (!host.empty()) text += " of " + std::string(host);
  return {error.kind(), text};
}

std::string gpu_in(std::string_view text) {
  const std::size_t at = text.rfind(std::string(kOn) + std::string(kGpu));
  return at == std::string_view::npos ? "" : std::string(text.substr(at + kOn.size()));
}

}  // namespace trainyard
