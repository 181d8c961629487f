// Notes on memory: who wrote and who read last, for every few bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

namespace trainyard::emulated {

/// Addresses from `begin` on.
struct Range {
  std::uintptr_t begin = 0, bytes = 0;
  [[nodiscard]] bool contains(std::uintptr_t address) const { return address - begin < bytes; }
};

/// The last access of a block to some bytes.
struct Trace {
  std::uint64_t block : 24 = 0, phase : 17 = 0;
  std::uint64_t thread : 11 = 0;   // from 1; 0 is no access
  std::uint64_t another : 11 = 0;  // another one in the same phase, likewise
  std::uint64_t atomic : 1 = 0;

  [[nodiscard]] explicit operator bool() const { return thread != 0; }
};

/// The last access of each kind to some bytes. If blocks other than the reader's have read them:
/// the last of these.
struct Cell {
  Trace writer, reader, other_reader;

  void add_reader(const Trace& now) {
    if (reader && reader.block != now.block) {
      other_reader = reader;
      reader = now;
    } else if (!reader || reader.phase != now.phase) {
      reader = now;
    } else if (reader.thread != now.thread) {
      reader.another = now.thread;
    }
  }
};

/// The cells of all memory, made where they are used. They have the size of the smallest access to
/// their page, up to four bytes.
class Shadow {
 public:
  /// Every cell is without accesses.
  void clear();

  /// Calls f(cell, place) for the cells of a range, whose bytes are those of `place`.
  template <class F>
  void each(Range range, const F& f) {
    const std::uintptr_t end = range.begin + range.bytes;
    for (std::uintptr_t address = range.begin; address < end;) {
      Page& page = page_of(address);
      const std::uintptr_t page_end = (address / kPageBytes + 1) * kPageBytes;
      const std::uintptr_t stop = end < page_end ? end : page_end;
      if (((address | stop) & (page.cell_bytes() - 1)) != 0) split(page, address | stop);
      Cell* cell = &page.cells[address % kPageBytes >> page.shift];
      for (; address < stop; address += page.cell_bytes()) {
        f(*cell++, Range{address, page.cell_bytes()});
      }
    }
  }
  /// Calls f(place) for each cell with an access since the last clear().
  template <class F>
  void each_used(const F& f) const {
    for (const auto number : used_) {
      const Page& page = *pages_.at(number);
      for (std::size_t i = 0; i < page.cells.size(); ++i) {
        if (!page.cells[i].writer && !page.cells[i].reader) continue;
        f(Range{number * kPageBytes + i * page.cell_bytes(), page.cell_bytes()});
      }
    }
  }

 private:
  static constexpr std::uintptr_t kPageBytes = 1024;
  static constexpr std::size_t kRecent = 4096;

  struct Page {
    std::uint64_t epoch = 0;
    unsigned shift = 2;  // log2 of the bytes of a cell
    std::vector<Cell> cells{kPageBytes >> shift};

    [[nodiscard]] std::uintptr_t cell_bytes() const { return std::uintptr_t{1} << shift; }
  };
  struct Recent {
    std::uintptr_t number = ~std::uintptr_t{0};
    Page* page = nullptr;
  };

  /// The page of an address, cleared if it is of an older epoch.
  Page& page_of(std::uintptr_t address) {
    const std::uintptr_t number = address / kPageBytes;
    Recent& recent = recent_[number % kRecent];
    if (recent.number != number || recent.page->epoch != epoch_) recent = {number, &use(number)};
    return *recent.page;
  }
  Page& use(std::uintptr_t number);
  /// Makes cells so small that an access can begin or end at `edges`.
  static void split(Page& page, std::uintptr_t edges);

  std::uint64_t epoch_ = 1;
  std::unordered_map<std::uintptr_t, std::unique_ptr<Page>> pages_;
  std::vector<std::uintptr_t> used_;  // numbers of pages, since the last clear()
  std::array<Recent, kRecent> recent_;
};

}  // namespace trainyard::emulated
