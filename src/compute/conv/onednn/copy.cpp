// Copies between layouts.
#include "compute/conv/onednn/dnnl.h"
#include "compute/conv/onednn/executors.h"

namespace trainyard::onednn {

std::unique_ptr<Executor> make_copy(const LibraryPtr& library, const Layout& from, const Layout& to,
                                    DType type, int threads) {
  auto list = std::make_unique<PrimitiveList>(library, threads);
  list->add_reorder(list->tensor(Source::input, 0, desc_of(from, type)),
                    list->tensor(Source::output, 0, desc_of(to, type)));
  list->finish();
  return list;
}

}  // namespace trainyard::onednn
