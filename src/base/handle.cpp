#include "base/handle.h"

#include <unistd.h>

namespace trainyard {

void CloseFile::operator()(FileNumber file) const noexcept { ::close(file.value); }

}  // namespace trainyard
