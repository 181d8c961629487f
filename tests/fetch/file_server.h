// An HTTP server of the test's own: a few files on a port of 127.0.0.1.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace trainyard::testing {

/// What a server does wrong.
struct ServerFaults {
  bool no_ranges = false;  // it sends all of a file whatever part is asked for
  /// It closes each connection after this many bytes of a file; 0: never.
  std::size_t cut_after = 0;
  bool stalls = false;     // it sends one byte and then none, without closing
  bool redirects = false;  // it names the same address as the one where the file is
};

/// Serves files from memory, one connection per request, until it is destroyed.
class FileServer {
 public:
  explicit FileServer(std::map<std::string, std::string> files, ServerFaults faults = {});
  ~FileServer();
  FileServer(const FileServer&) = delete;
  FileServer& operator=(const FileServer&) = delete;

  /// "http://127.0.0.1:PORT/NAME".
  [[nodiscard]] std::string url(const std::string& name = "") const;
  /// The first byte that each request asked for.
  [[nodiscard]] std::vector<std::size_t> requested() const;

 private:
  void serve();
  void answer(int connection);

  std::map<std::string, std::string> files_;  // by name, without the slash
  ServerFaults faults_;
  int listening_ = -1;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::size_t> requested_;
  std::thread thread_;  // last
};

}  // namespace trainyard::testing
