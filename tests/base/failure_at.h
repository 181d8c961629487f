// Failure plans that make the n-th system call of a kind fail.
#pragma once

#include <memory>

#include "base/atomic_file.h"

namespace trainyard::testing {

/// Counts the calls of one kind and fails the n-th (from 1), and all later ones if `lasting`, like
/// a disk that stays full. n = 0 only counts.
struct FailureAt {
  DiskCall call = DiskCall::write;
  int n = 0;
  int error_number = 0;
  bool lasting = false;
  std::shared_ptr<int> seen = std::make_shared<int>(0);

  int operator()(DiskCall made) const {
    if (made != call) return 0;
    ++*seen;
    const bool fails = lasting ? *seen >= n : *seen == n;
    return n > 0 && fails ? error_number : 0;
  }
};

}  // namespace trainyard::testing
