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
/// An open file, closed with the object; none of them is inherited by programs that are started.
using Descriptor = Handle<FileNumber, CloseFile>;

}  // namespace trainyard
