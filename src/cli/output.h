// Output of the program: results on standard output, and warnings, errors and the bar besides.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"

namespace trainyard::cli {

/// Text for people: names in it come from data and files, so that control characters are written as
/// escapes (printable()).
void print(std::string_view text);
/// Text for programs: as it is, but on a terminal as print().
void print_data(std::string_view text);
/// One of the two.
void print(std::string_view text, bool data);

/// Text on stderr, in order with stdout if both go to one pipe; with --log json each message is
/// also an event on stdout, one per line. May be called from any thread.
class Messages {
 public:
  explicit Messages(bool events) : events_(events) {}
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  /// From now on only text: of several ranks only the first prints events.
  void leave_events_to_first_rank();
  /// The folder of the current run, named in error events.
  void set_run(const std::string& folder);

  /// "train: warning: TEXT"; the event "warning".
  void warn(const std::string& text);
  /// "train: error: TEXT", without the prefix if the text begins with a position in a file; the
  /// event "error" with the exit code, and how to resume if the run has saved a checkpoint.
  void fail(const std::string& text, int exit_code);
  /// The text alone, as a line on stderr.
  void note(const std::string& text);
  /// `event` with --log json, otherwise `text`, on stdout.
  void say(const std::string& text, const Json& event);

  /// Shows the bar in the last row of the terminal on stderr, until the next message or
  /// clear_bar().
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
  bool bar_ = false;  // is shown in the terminal
};

/// Whether the arguments ask for --log json, also in a command line with mistakes.
[[nodiscard]] bool asks_for_events(const std::vector<std::string>& arguments);

}  // namespace trainyard::cli
