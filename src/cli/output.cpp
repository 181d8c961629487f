#include "cli/output.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/filesystem.h"
#include "base/text.h"
#include "checkpoint/checkpoint_files.h"
#include "report/epoch_line.h"

namespace trainyard::cli {
namespace {

/// True for "path:line:column: text".
bool begins_with_position(const std::string& message) {
  const std::string place = message.substr(0, message.find(": "));
  const std::vector<std::string> parts = split(place, ':');
  return parts.size() >= 3 && parse_integer(parts[parts.size() - 1]).has_value() &&
         parse_integer(parts[parts.size() - 2]).has_value();
}

}  // namespace

void print(std::string_view text) {
  const std::string shown = printable(text);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

void print_data(std::string_view text) {
  if (isatty(STDOUT_FILENO) == 1) return print(text);
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print(std::string_view text, bool data) { data ? print_data(text) : print(text); }

void Messages::leave_events_to_first_rank() {
  const std::lock_guard lock(mutex_);
  events_ = false;
}

void Messages::set_run(const std::string& folder) {
  const std::lock_guard lock(mutex_);
  run_ = folder;
}

void Messages::warn(const std::string& whole) {
  const std::string text = readable(whole);
  const std::lock_guard lock(mutex_);
  print({{"event", "warning"}, {"message", text}});
  print_error("train: warning: " + text);
}

void Messages::fail(const std::string& whole, int exit_code) {
  const std::string text = readable(whole);
  const std::lock_guard lock(mutex_);
  print(failure(text, exit_code));
  print_error((begins_with_position(text) ? "" : "train: error: ") + text);
}

void Messages::note(const std::string& text) {
  const std::lock_guard lock(mutex_);
  print_error(text);
}

void Messages::say(const std::string& text, const Json& event) {
  const std::lock_guard lock(mutex_);
  if (events_) return print(event);
  cli::print(text + "\n");
}

void Messages::print(const Json& event) {
  if (!events_) return;
  std::fputs(json_line(event).c_str(), stdout);
  std::fflush(stdout);
}

void Messages::print_error(const std::string& line) {
  erase_bar();
  std::fflush(stdout);
  std::fputs((printable(line) + "\n").c_str(), stderr);
}

void Messages::show_bar(const std::string& line) {
  const std::lock_guard lock(mutex_);
  std::fputs(repainted(line).c_str(), stderr);
  std::fflush(stderr);
  bar_ = true;
}

void Messages::clear_bar() {
  const std::lock_guard lock(mutex_);
  erase_bar();
}

void Messages::erase_bar() {
  if (!std::exchange(bar_, false)) return;
  std::fputs(repainted("").c_str(), stderr);
  std::fflush(stderr);
}

Json Messages::failure(const std::string& text, int exit_code) const {
  const bool saved =
      !run_.empty() && !checkpoint_pointer(fs::path(run_) / "checkpoints", "last").empty();
  return {{"event", "error"},
          {"exit_code", exit_code},
          {"message", text},
          {"run", run_.empty() ? Json() : Json(run_)},
          {"resume", saved ? Json(resume_command(run_)) : Json()}};
}

bool asks_for_events(const std::vector<std::string>& arguments) {
  constexpr std::string_view kFlag = "--log";
  std::string last;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == kFlag && i + 1 < arguments.size()) last = arguments[i + 1];
    if (arguments[i].starts_with("--log=")) last = arguments[i].substr(kFlag.size() + 1);
  }
  return last == "json";
}

}  // namespace trainyard::cli
