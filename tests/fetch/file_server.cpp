#include "file_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace trainyard::testing {

FileServer::FileServer(std::map<std::string, std::string> files, ServerFaults faults)
    : files_(std::move(files)), faults_(faults) {
  listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listening_, plain, size) != 0 || ::listen(listening_, 8) != 0 ||
      ::getsockname(listening_, plain, &size) != 0) {
    throw std::runtime_error("no port for the test's server");
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

FileServer::~FileServer() {
  ::shutdown(listening_, SHUT_RDWR);  // ends accept()
  thread_.join();
  ::close(listening_);
}

std::string FileServer::url(const std::string& name) const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/" + name;
}

std::vector<std::size_t> FileServer::requested() const {
  const std::scoped_lock lock(mutex_);
  return requested_;
}

void FileServer::serve() {
  for (;;) {
    const int connection = ::accept(listening_, nullptr, nullptr);
    if (connection < 0) return;
    answer(connection);
    ::shutdown(connection, SHUT_RDWR);
    ::close(connection);
  }
}

void FileServer::answer(int connection) {
  std::string request;
  char piece[1024];
  while (request.find("\r\n\r\n") == std::string::npos) {
    const ssize_t got = ::recv(connection, piece, sizeof piece, 0);
    if (got <= 0) return;
    request.append(piece, static_cast<std::size_t>(got));
  }
  const std::size_t slash = request.find('/');
  const auto file = files_.find(request.substr(slash + 1, request.find(' ', slash) - slash - 1));
  const std::size_t range = request.find("bytes=");
  const std::size_t first = range == std::string::npos ? 0 : std::stoul(request.substr(range + 6));
  {
    const std::scoped_lock lock(mutex_);
    requested_.push_back(first);
  }
  std::string head = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n";
  std::string body;
  if (file != files_.end() && first > file->second.size()) {
    head = "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\n";
  } else if (file != files_.end()) {
    const std::string all = std::to_string(file->second.size());
    const bool part = first > 0 && !faults_.no_ranges;
    body = file->second.substr(part ? first : 0);
    head = part ? "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + std::to_string(first) +
                      "-" + std::to_string(file->second.size() - 1) + "/" + all + "\r\n"
                : "HTTP/1.1 200 OK\r\n";
    head += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    if (faults_.cut_after > 0) body.resize(std::min(body.size(), faults_.cut_after));
  }
  if (faults_.redirects) {
    head = "HTTP/1.1 302 Found\r\nLocation: /" + file->first + "\r\nContent-Length: 0\r\n";
    body.clear();
  }
  if (faults_.stalls) body.resize(1);
  // A client that meant to use the connection again would lose its next request.
  const std::string whole = head + "Connection: close\r\n\r\n" + body;
  for (std::size_t sent = 0; sent < whole.size();) {
    const ssize_t now = ::send(connection, whole.data() + sent, whole.size() - sent, MSG_NOSIGNAL);
    if (now <= 0) return;
    sent += static_cast<std::size_t>(now);
  }
  while (faults_.stalls && ::recv(connection, piece, sizeof piece, 0) > 0) continue;
}

}  // namespace trainyard::testing
