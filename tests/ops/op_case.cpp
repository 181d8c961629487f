#include "op_case.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>

#include "config/fields.h"
#include "config/load.h"
#include "ops/bn.h"
#include "ops/joins.h"
#include "ops/loss.h"
#include "ops/metric.h"

namespace trainyard::op_tests {
namespace {

using config::Node;

/// A case as written, before its grid is expanded.
struct WrittenCase {
  Node op, inputs, grid, golden;
  InputValues values = InputValues::normal;
  config::Profile profile = config::Profile::keras2;
  bool fused_relu = false;
  bool fused_residual = false;
  bool fixed_statistics = false;
  bool mixed = false;
  std::optional<std::int64_t> valid;
  double conditioning = 1;
};

}  // namespace

constexpr config::Words<InputValues> words(InputValues) {
  return {"normal", "near_zero", "positive", "spread"};
}

namespace {

WrittenCase read_case(const Node& node, config::Diagnostics& diagnostics) {
  WrittenCase written;
  config::Fields fields(node, nullptr, "case", config::Profile::keras2, diagnostics);
  fields.required("op", written.op, "the op");
  fields.required("inputs", written.inputs, "shapes");
  fields.field("grid", written.grid, "lists of attributes");
  fields.field("values", written.values, "what the inputs hold");
  fields.field("profile", written.profile, "whose defaults");
  fields.field("fused_relu", written.fused_relu, "with the ReLU behind it");
  fields.field("fused_residual", written.fused_residual, "with the sum and the ReLU behind it");
  fields.field("fixed_statistics", written.fixed_statistics, "with fixed statistics");
  fields.field("mixed", written.mixed, "with mixed targets");
  fields.field("valid", written.valid, "true samples");
  fields.field("conditioning", written.conditioning, "factor on the float tolerance");
  fields.field("golden", written.golden, "results of another library");
  fields.finish();
  diagnostics.raise();
  return written;
}

/// The op's node for one combination: a map with the grid's attributes added.
std::vector<Node> expand(const Node& op, const Node& grid) {
  std::vector<Node> nodes{op};
  for (const config::Entry& axis : grid.entries) {
    std::vector<Node> longer;
    for (const Node& node : nodes) {
      for (const Node& value : axis.value.items) {
        Node with = node;
        if (with.kind != Node::Kind::map) {  // a bare name
          with.entries = {{.key = node.text, .where = node.where, .value = {}}};
          with.kind = Node::Kind::map;
        }
        with.entries[0].value.kind = Node::Kind::map;
        with.entries[0].value.entries.push_back({axis.key, axis.where, value});
        longer.push_back(with);
      }
    }
    nodes = std::move(longer);
  }
  return nodes;
}

std::shared_ptr<const Op> with_residual(const Op& op) {
  BnAttributes attributes = dynamic_cast<const BnOp&>(op).values();
  attributes.relu = attributes.residual = true;
  return std::make_shared<BnOp>(attributes);
}

std::shared_ptr<const Op> with_relu(const Op& op) {
  if (const auto* bn = dynamic_cast<const BnOp*>(&op)) {
    BnAttributes attributes = bn->values();
    attributes.relu = true;
    return std::make_shared<BnOp>(attributes);
  }
  AddAttributes attributes = dynamic_cast<const AddOp&>(op).values();
  attributes.relu = true;
  return std::make_shared<AddOp>(attributes);
}

enum class Family { op, loss, metric };

/// The metric mae, whose name in run files is that of a loss too.
constexpr std::string_view kMaeMetric = "mean_absolute_error";

Family family_of(const Node& op) {
  const std::string& name = op.kind == Node::Kind::map ? op.entries.at(0).key : op.text;
  if (name == kMaeMetric) return Family::metric;
  for (const auto& kind : loss_kinds()) {
    if (kind.name == name) return Family::loss;
  }
  for (const auto& kind : metric_kinds()) {
    if (kind.name == name) return Family::metric;
  }
  return Family::op;
}

/// The member `op` of a family: {op: NAME} or {op: {NAME: ...}}.
template <class Base>
std::unique_ptr<Op> read_member(config::Fields& fields, std::span<const config::Kind<Base>> kinds) {
  std::unique_ptr<Base> member;
  fields.required_one_of("op", member, "the op", kinds);
  return member;
}

std::unique_ptr<Op> read_of_family(config::Fields& fields, Family family) {
  if (family == Family::metric) return read_member(fields, metric_kinds());
  if (family == Family::loss) return read_member(fields, loss_kinds());
  return read_member(fields, op_kinds());
}

std::unique_ptr<Op> read_op(const Node& op, const WrittenCase& written,
                            config::Diagnostics& diagnostics) {
  Node body;
  body.kind = Node::Kind::map;
  body.where = op.where;
  body.entries = {{"op", op.where, op}};
  if (op.text == kMaeMetric) body.entries[0].value.text = "mae";
  config::Fields fields(body, nullptr, "case", written.profile, diagnostics);
  std::unique_ptr<Op> result = read_of_family(fields, family_of(op));
  fields.finish();
  diagnostics.raise();
  return result;
}

Shape shape_of_node(const Node& node) {
  switch (node.items.size()) {
    case 1:
      return {node.items[0].integer};
    case 2:
      return {node.items[0].integer, node.items[1].integer};
    case 4:
      return {node.items[0].integer, node.items[1].integer, node.items[2].integer,
              node.items[3].integer};
    default:
      throw Error(ErrorKind::config, node.where.text() + ": a shape has 1, 2 or 4 extents");
  }
}

OpCase make_case(const Node& op, const WrittenCase& written, const std::string& file,
                 config::Diagnostics& diagnostics) {
  OpCase made;
  made.op = read_op(op, written, diagnostics);
  made.reads_running = written.fixed_statistics;
  if (made.reads_running) made.op = dynamic_cast<const BnOp&>(*made.op).with_fixed_statistics();
  if (written.fused_relu) made.op = with_relu(*made.op);
  if (written.fused_residual) made.op = with_residual(*made.op);
  for (const Node& shape : written.inputs.items) {
    made.inputs.push_back(shape_of_node(shape));
    made.types.push_back(DType::f32);
  }
  const Family family = family_of(op);
  const bool reads_tokens = made.op->contract().vocabulary > 0;
  if (reads_tokens) made.types[0] = DType::i32;
  if (made.op->contract().masked) made.types.back() = DType::i32;
  made.is_loss = family == Family::loss;
  if (family != Family::op) {
    const Shape& values = made.inputs[0];
    made.inputs.push_back(values.rank() == 4 ? Shape{values.n(), values.w()} : Shape{values.n()});
    made.types.push_back(DType::i32);
  }
  made.mixed = written.mixed;
  if (made.mixed) {
    made.inputs.push_back({made.inputs[0].n(), 2});
    made.types.push_back(DType::f32);
  }
  made.signature = made.op->infer(made.inputs);
  const bool constant = reads_tokens && made.signature.parameters.empty();
  made.has_backward = family != Family::metric && !constant;
  made.values = written.values;
  made.valid = written.valid.value_or(made.inputs[0].n());
  made.conditioning = written.conditioning;
  made.golden = written.golden;
  made.name = file + ":" + std::to_string(op.where.line) + " " + std::string(made.op->type()) +
              " " + made.op->attributes();
  for (const Shape& shape : made.inputs) made.name += " " + shape.text();
  return made;
}

}  // namespace

std::vector<OpCase> load_cases(const std::string& file) {
  const Node list = config::load_yaml(std::string(TY_SOURCE_DIR "/tests/") + file);
  std::vector<OpCase> cases;
  config::Diagnostics diagnostics;
  for (const Node& item : list.items) {
    if (item.find("network") != nullptr) continue;  // op_networks.h
    const WrittenCase written = read_case(item, diagnostics);
    for (const Node& op : expand(written.op, written.grid)) {
      cases.push_back(make_case(op, written, file, diagnostics));
    }
  }
  return cases;
}

std::vector<OpCase> load_all_cases() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(TY_SOURCE_DIR "/tests/ops")) {
    if (entry.path().extension() == ".yaml") files.push_back(entry.path().filename());
  }
  std::ranges::sort(files);
  std::vector<OpCase> all;
  for (const std::string& file : files) {
    for (OpCase& one : load_cases("ops/" + file)) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace trainyard::op_tests
