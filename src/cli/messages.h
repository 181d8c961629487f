// What the program says beside its results: warnings, errors, the bar.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "formats/json.h"

namespace trainyard::cli {

/// Text on stderr, in one pipe in order with what stands on stdout; with --log json each message is
/// an event on stdout too, a line each. May be called from any thread.
class Messages {
 public:
  explicit Messages(bool events) : events_(events) {}
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  /// From now on text alone: of several ranks the first one tells the events.
  void leave_events_to_first_rank();
  /// The folder of the run that an error would end.
  void set_run(const std::string& folder);

  /// "train: warning: TEXT"; the event "warning".
  void warn(const std::string& text);
  /// "train: error: TEXT", without these words where the text begins with a place in a file; the
  /// event "error" with the exit code, and how to go on where the run has saved something.
  void fail(const std::string& text, int exit_code);
  /// The text alone, a line on stderr.
  void note(const std::string& text);
  /// `event` where events are wanted, and `text` otherwise, on stdout.
  void say(const std::string& text, const Json& event);

  /// The bar in the last row of the terminal that stderr is, until the next message or clear_bar().
  void show_bar(const std::string& line);
  void clear_bar();

 private:
  void print(const Json& event);
  void print_error(const std::string& line);
  void erase_bar();
  [[nodiscard]] Json failure(const std::string& text, int exit_code) const;

  std::mutex mutex_;
  bool events_;
  std::string run_;
  bool bar_ = false;  // stands in the terminal
};

/// Whether the arguments ask for --log json; also of a command line that has mistakes.
[[nodiscard]] bool asks_for_events(const std::vector<std::string>& arguments);

}  // namespace trainyard::cli
