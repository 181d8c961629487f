// Failures on request, for every stand-in library.
//
// STANDIN_FAULTS is a list of CALL[@DEVICE][:N[+]]=FAILURE, separated by semicolons: the N-th call
// of CALL in a process (only on DEVICE) fails, with + all later ones too; without N every call.
//   cudaMalloc:3=cudaErrorMemoryAllocation    a function of the library
//   launch:7=cudaErrorNoKernelImageForDevice  any launch; `each:7` those of one name
//   execute@2:50=cudaErrorECCUncorrectable    the 50th piece of work on device 2 breaks the device
//   context=cudaErrorDevicesUnavailable       when a process begins to use a device
//   cudaEventSynchronize@1:3=SIGKILL          kills the process there, SIGSTOP stops it
//   cudnnGetVersion=90700                     older version; or cublasLtGetVersion, ncclGetVersion
// With STANDIN_ONCE=FILE only the process that creates FILE fails, not the one restarted after it.
#pragma once

#include <charconv>
#include <string_view>

namespace standin {

/// The failure requested for this call, which it counts: the word after '=', which lives forever;
/// "" if there is none, and after a signal, which it has raised. Thread-safe.
[[nodiscard]] std::string_view requested_failure(std::string_view call, int device);

/// The number requested as the result of a library call, or `usual`.
template <class Number>
[[nodiscard]] Number requested_number(std::string_view call, Number usual) {
  const std::string_view given = requested_failure(call, -1);
  std::from_chars(given.data(), given.data() + given.size(), usual);
  return usual;
}

}  // namespace standin
