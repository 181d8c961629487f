// The record of a complete run as it was, so that an attempt to extend the run which fails before
// its first step can be undone.
#pragma once

#include <map>
#include <string>

#include "run/run_folder.h"

namespace trainyard {

class FormerFiles {
 public:
  /// Reads the files of the folder itself, but for its tables of steps and train.log, which is to
  /// tell of the attempt.
  explicit FormerFiles(const RunFolder& folder);
  /// Puts them back, and removes the others that `folder` has now. Throws Error{disk}.
  void restore(const RunFolder& folder) const;

 private:
  std::map<std::string, std::string> texts_;  // by name
};

}  // namespace trainyard
