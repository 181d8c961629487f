#include "base/bad_file.h"

#include "base/error.h"

namespace trainyard {

void bad_file(const std::filesystem::path& file, const std::string& what) {
  throw Error(ErrorKind::data, "'" + file.string() + "' " + what);
}

}  // namespace trainyard
