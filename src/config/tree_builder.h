// Builds the tree of a YAML file from yaml-cpp's events, under limits.
#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "config/diagnostics.h"
#include "config/load.h"
#include "config/node.h"

namespace trainyard::config {

/// Receives the events of one document. Errors that end the parse (limits, a second document) are
/// thrown as Error{config}; duplicate keys, `<<`, tags and misread numbers go to the diagnostics.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view source, std::string name, const FileLimits& limits,
              Diagnostics& diagnostics);

  /// The finished tree; null for an empty file.
  [[nodiscard]] Node take();
  [[nodiscard]] Position position(const YAML::Mark& mark) const;

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override { close(); }

 private:
  // Size of a subtree, so that an alias is charged before it is copied.
  struct Cost {
    std::size_t nodes = 0;
    std::size_t bytes = 0;
    std::size_t depth = 0;  // levels of the subtree below its root
  };
  struct Frame {
    Node node;
    YAML::anchor_t anchor = 0;
    Cost before;                                    // spent when the collection began
    std::size_t deepest = 0;                        // deepest level seen below
    std::unordered_map<std::string, int> key_line;  // keys so far
    bool block = false;                             // block style, not {flow}
    bool has_key = false;
    bool dropped = false;  // the pending key is rejected; its value is parsed and discarded
    std::string key;
    Position key_where;
  };
  struct Anchored {
    Node node;
    Cost cost;
  };

  [[noreturn]] void stop(const Position& where, const std::string& text) const;
  void open(Node::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YAML::EmitterStyle::value style);
  void require_colon(const YAML::Mark& mark) const;
  void require_indentation(const Position& where) const;
  void close();
  void add(Node node, YAML::anchor_t anchor, const Cost& cost);
  void add_key(const Node& key);
  void charge(const Position& where, const Cost& cost);
  void refuse_tag(const YAML::Mark& mark, const std::string& tag);
  void require_closed_quote(const YAML::Mark& mark) const;
  [[nodiscard]] bool expects_key() const;
  [[nodiscard]] bool null_is_written(const YAML::Mark& mark) const;
  [[nodiscard]] Position null_position(const YAML::Mark& mark) const;
  [[nodiscard]] std::string_view rest_of_file(const YAML::Mark& mark) const;
  [[nodiscard]] std::string_view rest_of_line(const YAML::Mark& mark) const;

  std::string_view source_;
  std::string name_;
  FileLimits limits_;
  Diagnostics& diagnostics_;
  std::vector<Frame> open_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  Node root_;
  Cost spent_;
  int documents_ = 0;
};

}  // namespace trainyard::config
