// File descriptors with an owner.
#pragma once

#include "base/handle.h"

namespace trainyard {

/// A file descriptor; -1 is none.
struct FileNumber {
  int value = -1;
  bool operator==(const FileNumber&) const = default;
};
struct CloseFile {
  void operator()(FileNumber file) const noexcept;
};
/// An open file, closed with the object; not inherited by child processes.
using Descriptor = Handle<FileNumber, CloseFile>;

}  // namespace trainyard
