#include "run/session/device_precision.h"

namespace trainyard {
namespace {

std::string refused_by_cpu(Precision precision, const Processor& processor) {
  if (precision == Precision::fp32 || (precision == Precision::bf16 && processor.bf16)) return "";
  if (precision == Precision::bf16) {
    return "needs a processor with AVX512-BF16, which " +
           (processor.name.empty() ? "this one" : "this one (" + processor.name + ")") +
           " lacks, a GPU or --device reference; set 'precision: fp32'";
  }
  const std::string wanted = precision == Precision::fp64   ? "needs --device reference"
                             : precision == Precision::tf32 ? "needs a GPU"
                                                            : "needs a GPU or --device reference";
  return wanted + "; the CPU computes in fp32" +
         (processor.bf16 ? " and bf16" : ": set 'precision: fp32'");
}

/// "" if the device computes in this precision.
std::string refusal(DeviceChoice::Kind kind, Precision precision, const Processor& processor) {
  using Kind = DeviceChoice::Kind;
  if (kind == Kind::cpu) return refused_by_cpu(precision, processor);
  if (kind == Kind::reference && precision == Precision::tf32) {
    return "needs a GPU; the reference device computes in fp64, fp32, bf16 and fp16";
  }
  if (kind == Kind::gpu && precision == Precision::fp64) {
    return "needs --device reference; a GPU computes in fp32, tf32, bf16 and fp16";
  }
  return "";
}

}  // namespace

void require_precision(DeviceChoice::Kind kind, Precision precision, const Position& where,
                       const Processor& processor) {
  const std::string wanted = refusal(kind, precision, processor);
  if (wanted.empty()) return;
  throw Error(ErrorKind::device, (where.known() ? where.text() + ": " : "") + "'precision: " +
                                     std::string(name_of(precision)) + "' " + wanted);
}

}  // namespace trainyard
