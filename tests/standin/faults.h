// Failures on request, of every stand-in library.
//
// STANDIN_FAULTS is a list of CALL[@DEVICE][:N[+]]=FAILURE, separated by semicolons: the N-th call
// of CALL in a process (on DEVICE alone) fails, with + all later ones too; without N every call.
//   cudaMalloc:3=cudaErrorMemoryAllocation    a function of the library
//   launch:7=cudaErrorNoKernelImageForDevice  any launch; `each:7` those of one name
//   execute@2:50=cudaErrorECCUncorrectable    the 50th piece of work on device 2 breaks the device
//   context=cudaErrorDevicesUnavailable       where a process begins to use a device
//   cudaEventSynchronize@1:3=SIGKILL          kills the process there, SIGSTOP stops it
//   cudnnGetVersion=90700                     an older library, or cublasLtGetVersion, ncclGetVersion
// With STANDIN_ONCE=FILE only that process fails which creates FILE: not the one restarted after
// it.
#pragma once

#include <charconv>
#include <string_view>

namespace standin {

/// The failure that is requested of this call, which it counts: the word behind '=', which lives
/// for ever; "" for none, and behind a signal, which it has raised. Any thread may call it.
[[nodiscard]] std::string_view requested_failure(std::string_view call, int device);

/// The number that is requested as the answer of a call of the library, `usual` for none.
template <class Number>
[[nodiscard]] Number requested_number(std::string_view call, Number usual) {
  const std::string_view wanted = requested_failure(call, -1);
  std::from_chars(wanted.data(), wanted.data() + wanted.size(), usual);
  return usual;
}

}  // namespace standin
