#include "faults.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "control.h"

namespace standin {
namespace {

struct Request {
  std::string call, failure;
  int device = -1;  // any
  long first = 1, last = std::numeric_limits<long>::max();
  long calls = 0;
};

[[noreturn]] void misused_faults(const std::string& text) {
  std::fprintf(stderr,
               "stand-in of CUDA: STANDIN_FAULTS contains '%s', expected "
               "CALL[@DEVICE][:N[+]]=FAILURE\n",
               text.c_str());
  std::abort();
}

/// Cuts the text after the last `mark` off `text`; "" if it has none.
std::string cut_behind(std::string& text, char mark) {
  const std::size_t at = text.rfind(mark);
  if (at == std::string::npos) return "";
  std::string behind = text.substr(at + 1);
  text.resize(at);
  return behind;
}

long number_of(const std::string& text, const std::string& whole) {
  long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) misused_faults(whole);
  return number;
}

Request request_of(const std::string& whole) {
  Request request{.call = whole, .failure = {}};
  request.failure = cut_behind(request.call, '=');
  std::string count = cut_behind(request.call, ':');
  const std::string device = cut_behind(request.call, '@');
  if (request.call.empty() || request.failure.empty()) misused_faults(whole);
  if (!device.empty()) request.device = static_cast<int>(number_of(device, whole));
  if (count.empty()) return request;
  const bool later = count.ends_with('+');
  if (later) count.pop_back();
  request.first = number_of(count, whole);
  if (!later) request.last = request.first;
  return request;
}

/// The requests of the environment, and how often each was matched.
class Requests {
 public:
  void read(std::string_view text) {
    const std::lock_guard lock(mutex_);
    std::istringstream in{std::string(text)};
    requests_.clear();
    for (std::string one; std::getline(in, one, ';');) {
      // Failures that were returned live forever.
      if (!one.empty()) requests_.push_back(std::make_shared<Request>(request_of(one)));
    }
    kept_.insert(kept_.end(), requests_.begin(), requests_.end());
    any_ = !requests_.empty();
  }
  std::string_view met_by(std::string_view call, int device) {
    if (!any_) return "";
    const std::lock_guard lock(mutex_);
    for (const auto& one : requests_) {
      Request& request = *one;
      if (request.call != call || (request.device >= 0 && request.device != device)) continue;
      ++request.calls;
      const bool due = request.calls >= request.first && request.calls <= request.last;
      if (due && may_fail()) return answer_of(request.failure);
    }
    return "";
  }

 private:
  static std::string_view answer_of(std::string_view failure) {
    const int signal = failure == "SIGKILL" ? SIGKILL : failure == "SIGSTOP" ? SIGSTOP : 0;
    if (signal == 0) return failure;
    std::raise(signal);
    return "";
  }
  /// Whether this process is the one that fails.
  bool may_fail() {
    const char* file = std::getenv("STANDIN_ONCE");
    if (file == nullptr || chosen_) return true;
    const int made = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (made < 0) return false;
    close(made);
    chosen_ = true;
    return true;
  }

  std::vector<std::shared_ptr<Request>> requests_, kept_;
  std::atomic<bool> any_ = false;
  std::mutex mutex_;
  bool chosen_ = false;
};

Requests* requests_of_environment() {
  const char* text = std::getenv("STANDIN_FAULTS");
  auto requests = std::make_unique<Requests>();
  requests->read(text == nullptr ? "" : text);
  return requests.release();  // other threads may query it while the program ends
}

Requests& requests() {
  static Requests& all = *requests_of_environment();
  return all;
}

}  // namespace

std::string_view requested_failure(std::string_view call, int device) {
  return requests().met_by(call, device);
}

void request_failures(std::string_view text) { requests().read(text); }

}  // namespace standin
