// The table of what computes each op has no holes, and the documents have it.
#include "compute/table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/read_file.h"
#include "ops/loss.h"
#include "ops/metric.h"

namespace trainyard {
namespace {

using Names = std::vector<std::string>;

const std::string kSource = TY_SOURCE_DIR;

Names sorted(Names names) {
  std::ranges::sort(names);
  return names;
}

TEST_CASE("every layer, loss and metric is computed in one row of the table, and nothing else is") {
  Names known{"loss_sum"};  // several losses' op; it has no name in YAML
  for (const auto& kind : op_kinds()) known.emplace_back(kind.name);
  for (const auto& kind : loss_kinds()) known.emplace_back(kind.name);
  for (const auto& kind : metric_kinds()) {
    config::Fields fields(config::Profile::keras2);
    const auto metric = kind.read(fields);
    if (!metric->of_split()) known.emplace_back(metric->type());  // else computed on the host
  }
  Names listed;
  for (const TableRow& row : compute_table()) {
    listed.insert(listed.end(), row.ops.begin(), row.ops.end());
  }
  CHECK(sorted(listed) == sorted(known));
}

TEST_CASE("an op that is in no row is a bug that names the table") {
  CHECK(computation_of("conv_transpose") == Computation::convolution);
  CHECK_THROWS_WITH(static_cast<void>(computation_of("convolve")),
                    doctest::Contains("convolve is in no row of compute/table.cpp"));
}

TEST_CASE("the files of the table exist on every device") {
  for (const TableRow& row : compute_table()) {
    for (std::string_view cell : {row.cpu, row.reference, row.cuda}) {
      while (!cell.empty()) {
        const std::string name(cell.substr(0, cell.find(',')));
        CAPTURE(name);
        CHECK(std::filesystem::exists(kSource + "/src/compute/" + name));
        cell.remove_prefix(std::min(cell.size(), name.size() + 2));
      }
    }
  }
}

TEST_CASE("docs/extending.md has the table") {
  const std::string text = table_text();
  CAPTURE(text);  // to be copied there
  const std::string page = kSource + "/docs/extending.md";
  CHECK(read_text(page, ErrorKind::data, 1 << 20).find(text) != std::string::npos);
}

}  // namespace
}  // namespace trainyard
