#include "fetch/http.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/atomic_file.h"
#include "base/error.h"
#include "base/handle.h"
#include "base/hash.h"
#include "base/shared_library.h"

namespace trainyard {
namespace {

constexpr const char* kLibrary = "libcurl.so.4";
constexpr long kConnectSeconds = 30;
constexpr long kMostRedirects = 10;
constexpr std::uint64_t kProgressBytes = 1u << 20;  // with which attempts are counted anew

/// libcurl's functions.
struct Curl {
  decltype(curl_global_init)* global_init = nullptr;
  decltype(curl_easy_init)* init = nullptr;
  decltype(curl_easy_setopt)* set = nullptr;
  decltype(curl_easy_perform)* perform = nullptr;
  decltype(curl_easy_getinfo)* info = nullptr;
  decltype(curl_easy_cleanup)* cleanup = nullptr;
  decltype(curl_easy_strerror)* error_text = nullptr;
};

int version_of(const SharedLibrary& library) {
  auto* const info = library.function<decltype(curl_version_info)>("curl_version_info");
  const unsigned number = info == nullptr ? 0 : info(CURLVERSION_NOW)->version_num;  // 0x075801
  return static_cast<int>((number >> 16) * 10000 + (number >> 8 & 255) * 100 + (number & 255));
}

Curl open_curl() {
  Curl curl;
  const RequiredLibrary library{
      .name = "libcurl",
      .least_version = 7'68'00,
      .newer_major = true,
      .version = version_of,
      .purpose = "which fetches data sets",
      .advice =
          "install it (Debian, Ubuntu: apt install libcurl4 ca-certificates; Fedora: dnf "
          "install libcurl)"};
  open_library(library, kLibrary,
               {{"curl_global_init", curl.global_init},
                {"curl_easy_init", curl.init},
                {"curl_easy_setopt", curl.set},
                {"curl_easy_perform", curl.perform},
                {"curl_easy_getinfo", curl.info},
                {"curl_easy_cleanup", curl.cleanup},
                {"curl_easy_strerror", curl.error_text}});
  if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    throw device_error("libcurl could not be initialised");
  }
  return curl;
}

[[noreturn]] void fail_to_write(const fs::path& path, int reason) {
  throw disk_error("cannot write '" + path.string() +
                   "': " + std::generic_category().message(reason) +
                   "; make room, or choose another folder with --to");
}

/// The file that grows, and what its transfer has come to.
struct Transfer {
  const RemoteFile* file;
  const FetchProgress* progress;
  const FetchLimits* limits;
  fs::path path;
  Descriptor out;
  std::uint64_t bytes = 0;
  int write_error = 0;
  bool too_long = false;
};

/// libcurl's callback: returns the bytes taken; fewer end the transfer.
std::size_t take_bytes(char* data, std::size_t, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  if (transfer.bytes + count > transfer.file->bytes) {
    transfer.too_long = true;
    return 0;
  }
  std::size_t done = 0;
  while (done < count) {
    const ssize_t written = ::write(transfer.out.get().value, data + done, count - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      transfer.write_error = errno;
      return 0;
    }
    done += static_cast<std::size_t>(written);
  }
  transfer.bytes += count;
  if (*transfer.progress) (*transfer.progress)(*transfer.file, transfer.bytes);
  return count;
}

struct CurlResult {
  CURLcode code = CURLE_OK;
  long status = 0;  // status code of HTTP; 0: none
};

/// One transfer of the bytes after those that are there.
CurlResult transfer_rest(const Curl& curl, Transfer& transfer) {
  const std::unique_ptr<CURL, decltype(curl.cleanup)> handle(curl.init(), curl.cleanup);
  CURL* const easy = handle.get();
  const auto from = static_cast<curl_off_t>(transfer.bytes);
  curl.set(easy, CURLOPT_URL, transfer.file->url.c_str());
  curl.set(easy, CURLOPT_FOLLOWLOCATION, 1L);
  curl.set(easy, CURLOPT_MAXREDIRS, kMostRedirects);
  curl.set(easy, CURLOPT_FAILONERROR, 1L);
  curl.set(easy, CURLOPT_NOSIGNAL, 1L);
  curl.set(easy, CURLOPT_USERAGENT, "trainyard");
  curl.set(easy, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  curl.set(easy, CURLOPT_LOW_SPEED_LIMIT, transfer.limits->slow_bytes_per_second);
  curl.set(easy, CURLOPT_LOW_SPEED_TIME, transfer.limits->slow_seconds);
  curl.set(easy, CURLOPT_RESUME_FROM_LARGE, from);
  curl.set(easy, CURLOPT_WRITEFUNCTION, &take_bytes);
  curl.set(easy, CURLOPT_WRITEDATA, &transfer);
  CurlResult result{.code = curl.perform(easy)};
  curl.info(easy, CURLINFO_RESPONSE_CODE, &result.status);
  return result;
}

void begin_anew(Transfer& transfer) {
  if (::ftruncate(transfer.out.get().value, 0) != 0) fail_to_write(transfer.path, errno);
  transfer.bytes = 0;
}

/// Whether the server cannot continue where the part ends.
bool refuses_rest(const CurlResult& result) {
  constexpr long kRangeNotSatisfiable = 416;
  return result.code == CURLE_RANGE_ERROR || result.code == CURLE_BAD_DOWNLOAD_RESUME ||
         result.status == kRangeNotSatisfiable;
}

[[noreturn]] void fail_to_fetch(const Curl& curl, const Transfer& transfer,
                                const CurlResult& result) {
  const std::string what = "cannot fetch " + transfer.file->url + ": ";
  if (transfer.write_error != 0) fail_to_write(transfer.path, transfer.write_error);
  if (result.code == CURLE_HTTP_RETURNED_ERROR) {
    throw data_error(what + "the server answers " + std::to_string(result.status) +
                     "; try later, or give another address with --from URL");
  }
  throw device_error(
      what + curl.error_text(result.code) + "; " + std::to_string(transfer.bytes) + " of " +
      std::to_string(transfer.file->bytes) +
      " bytes are here, the same command continues; --from URL names another server");
}

/// Counts attempts that bring little, and waits between them.
class Attempts {
 public:
  explicit Attempts(const FetchLimits& limits) : limits_(limits) {}

  /// Whether there may be another attempt after one that brought `bytes`; if so, it is time for it.
  bool another(std::uint64_t bytes) {
    brought_ += bytes;
    if (brought_ >= kProgressBytes) *this = Attempts(limits_);
    if (++made_ >= limits_.attempts) return false;
    std::this_thread::sleep_for(pause_);
    pause_ *= 2;
    return true;
  }

 private:
  FetchLimits limits_;
  std::chrono::milliseconds pause_ = limits_.pause;
  std::uint64_t brought_ = 0;
  int made_ = 0;
};

/// Fetches until the file has its size, as long as attempts bring further bytes.
void fetch_all(const Curl& curl, Transfer& transfer) {
  Attempts attempts(*transfer.limits);
  bool began_anew = false;
  while (transfer.bytes < transfer.file->bytes) {
    const std::uint64_t before = transfer.bytes;
    const CurlResult result = transfer_rest(curl, transfer);
    if (transfer.too_long) return;
    if (before > 0 && !began_anew && refuses_rest(result)) {
      begin_anew(transfer);
      began_anew = true;
      continue;
    }
    if (result.code == CURLE_OK) return;
    const bool lost = transfer.bytes > before && transfer.write_error == 0;
    if (!lost || !attempts.another(transfer.bytes - before)) {
      fail_to_fetch(curl, transfer, result);
    }
  }
}

/// Throws unless the part is the file that was published; what it was is then removed.
void require_published(const Transfer& transfer) {
  const RemoteFile& file = *transfer.file;
  std::string problem;
  if (transfer.too_long) {
    problem = "has more than " + std::to_string(file.bytes) + " bytes";
  } else if (transfer.bytes < file.bytes) {
    problem =
        "has " + std::to_string(transfer.bytes) + " bytes instead of " + std::to_string(file.bytes);
  } else if (const std::string hash = sha256_file_hex(transfer.path, ErrorKind::disk);
             hash != file.sha256) {
    problem = "has the SHA-256 " + hash + " instead of " + file.sha256;
  }
  if (problem.empty()) return;
  Disk().remove(transfer.path);
  throw data_error(file.url + " is not the file that was published: it " + problem +
                   "; it was removed; try again, or give another address with --from URL");
}

/// Never a link, and no wait for the reader of a pipe.
Descriptor open_part(const fs::path& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  Descriptor part({::open(path.c_str(), kFlags, 0666)});
  const int reason = errno;
  std::error_code ignored;
  if (part && fs::is_regular_file(fs::symlink_status(path, ignored))) return part;
  if (part || reason == ELOOP || reason == ENXIO) {
    throw disk_error("cannot write '" + path.string() +
                     "': it is not an ordinary file; remove it, then try again");
  }
  fail_to_write(path, reason);
}

/// libcurl would wait at a pipe for ever.
void require_file_at(const std::string& url) {
  constexpr std::string_view kLocal = "file://";
  std::error_code ignored;
  const fs::file_status status =
      url.starts_with(kLocal) ? fs::status(url.substr(kLocal.size()), ignored) : fs::file_status();
  if (!fs::exists(status) || fs::is_regular_file(status)) return;
  throw data_error("cannot fetch " + url + ": it is not an ordinary file");
}

}  // namespace

void fetch_file(const RemoteFile& file, const fs::path& path, const FetchProgress& progress,
                const FetchLimits& limits) {
  require_file_at(file.url);
  const Curl curl = open_curl();
  const fs::path part = path.string() + ".part";
  Transfer transfer{.file = &file,
                    .progress = &progress,
                    .limits = &limits,
                    .path = part,
                    .out = open_part(part)};
  if (::flock(transfer.out.get().value, LOCK_EX | LOCK_NB) != 0) {
    refuse_command("another process is fetching '" + path.string() + "'; wait until it ends");
  }
  transfer.bytes = static_cast<std::uint64_t>(fs::file_size(transfer.path));
  if (transfer.bytes > file.bytes) begin_anew(transfer);
  try {
    fetch_all(curl, transfer);
  } catch (const Error&) {
    if (transfer.bytes == 0) Disk().remove(transfer.path);
    throw;
  }
  require_published(transfer);
  if (::fsync(transfer.out.get().value) != 0) fail_to_write(transfer.path, errno);
  Disk().rename(transfer.path, path);
}

}  // namespace trainyard
