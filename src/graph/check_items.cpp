#include <algorithm>
#include <set>
#include <vector>

#include "graph/expand.h"
#include "graph/item.h"

namespace trainyard {
namespace {

using Kind = config::Node::Kind;

/// A call of a block and its position.
struct Call {
  std::string block;
  Position where;
};

/// Checks a list of layers and the lists inside it; collects the blocks it calls.
void check_list(const config::Node& list, const NetworkFile& file, config::Diagnostics& diagnostics,
                std::vector<Call>& calls) {
  for (const config::Node& node : list.items) {
    const Item item = read_item(node, file, diagnostics);
    if (item.kind == Item::Kind::block) calls.push_back({item.name, item.where});
    const bool named = item.kind == Item::Kind::act && item.value != nullptr;
    if (named && file.blocks.count(item.value->text) != 0) {
      calls.push_back({item.value->text, item.where});
    }
    for (const config::Node* inner : inner_lists(item, diagnostics)) {
      if (inner != nullptr) check_list(*inner, file, diagnostics, calls);
    }
  }
}

/// Checks the blocks of these calls and those that they call. Errors in them name the outermost
/// call: `outer`, or of a network's own layers the call itself.
void check_called(const std::vector<Call>& from, const Position& outer, const NetworkFile& file,
                  config::Diagnostics& diagnostics,
                  std::map<std::string, std::vector<Call>>& calls) {
  for (const Call& call : from) {
    if (calls.count(call.block) != 0) continue;
    const Position& where = outer.known() ? outer : call.where;
    const config::Diagnostics::CallScope in_call(diagnostics, where);
    std::vector<Call>& inner = calls[call.block];
    check_list(file.blocks.at(call.block).layers, file, diagnostics, inner);
    check_called(inner, where, file, diagnostics, calls);
  }
}

/// Depth-first search for a cycle of calls; three-coloured by `open` and `done`.
class CircleSearch {
 public:
  CircleSearch(const std::map<std::string, std::vector<Call>>& calls,
               config::Diagnostics& diagnostics)
      : calls_(calls), diagnostics_(diagnostics) {}

  /// True if no cycle is reachable from `block`.
  bool visit(const std::string& block) {
    if (done_.count(block) != 0) return true;
    open_.push_back(block);
    bool clean = true;
    for (const Call& call : calls_.at(block)) {
      const auto begin = std::find(open_.begin(), open_.end(), call.block);
      if (begin != open_.end()) {
        report(call, begin);
        clean = false;
      } else {
        clean = visit(call.block) && clean;
      }
    }
    open_.pop_back();
    done_.insert(block);
    return clean;
  }

 private:
  void report(const Call& call, std::vector<std::string>::const_iterator begin) {
    std::string circle;
    for (auto block = begin; block != open_.cend(); ++block) circle += *block + " -> ";
    diagnostics_.error(call.where, "block '" + call.block + "' calls itself (" + circle +
                                       call.block + "); use repeat: or for: instead");
  }

  const std::map<std::string, std::vector<Call>>& calls_;
  config::Diagnostics& diagnostics_;
  std::vector<std::string> open_;
  std::set<std::string> done_;
};

}  // namespace

bool check_items(const NetworkFile& file, config::Diagnostics& diagnostics) {
  std::map<std::string, std::vector<Call>> calls;
  std::vector<Call> top;
  check_list(file.layers, file, diagnostics, top);
  check_called(top, {}, file, diagnostics, calls);
  for (const auto& [name, block] : file.blocks) {
    if (calls.count(name) == 0) check_list(block.layers, file, diagnostics, calls[name]);
  }
  CircleSearch search(calls, diagnostics);
  bool clean = true;
  for (const auto& [name, block] : file.blocks) clean = search.visit(name) && clean;
  return clean;
}

}  // namespace trainyard
