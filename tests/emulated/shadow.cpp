#include "shadow.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace trainyard::emulated {

void Shadow::clear() {
  ++epoch_;
  used_.clear();
}

Shadow::Page& Shadow::use(std::uintptr_t number) {
  std::unique_ptr<Page>& page = pages_[number];
  if (!page) page = std::make_unique<Page>();
  if (page->epoch != epoch_) {
    page->epoch = epoch_;
    std::ranges::fill(page->cells, Cell{});
    used_.push_back(number);
  }
  return *page;
}

void Shadow::split(Page& page, std::uintptr_t edges) {
  const auto shift = static_cast<unsigned>(std::countr_zero(edges));
  std::vector<Cell> cells;
  for (const Cell& cell : page.cells) {
    cells.insert(cells.end(), std::size_t{1} << (page.shift - shift), cell);
  }
  page.cells = std::move(cells);
  page.shift = shift;
}

}  // namespace trainyard::emulated
