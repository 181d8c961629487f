#include "fetch/tar.h"

#include <doctest/doctest.h>

#include "../base/error_of.h"
#include "../base/temporary_folder.h"
#include "tar_archive.h"

namespace trainyard {
namespace {

using namespace testing;

std::string refusal(const std::string& archive) {
  const TemporaryFolder folder;
  const auto path = folder.write("a.tar", archive);
  std::filesystem::create_directory(folder / "out");
  return error_of(ErrorKind::data,
                  [&] { unpack_tar(path, folder / "out", {.top = "top", .left_out = {}}); });
}

TEST_CASE("files and folders of an archive are written, what is left out and links are not") {
  const TemporaryFolder folder;
  const std::string large(1300, 'x');  // more than two blocks
  const auto path = folder.write("a.tar", tar_archive({{"top/", "", '5'},
                                                       {"top/empty", ""},
                                                       {"top/unsup/skipped", "no"},
                                                       {"top/sub/large", large},
                                                       {"top/link", "", '2'},
                                                       {"top/last", "end\n"}}));
  unpack_tar(path, folder.path(), {.top = "top", .left_out = {"top/unsup/"}});
  CHECK(text_of(folder / "top/sub/large") == large);
  CHECK(text_of(folder / "top/last") == "end\n");
  CHECK(std::filesystem::file_size(folder / "top/empty") == 0);
  CHECK_FALSE(std::filesystem::exists(folder / "top/unsup"));
  CHECK_FALSE(std::filesystem::exists(folder / "top/link"));
}

TEST_CASE("members outside of the archive's folder are refused") {
  CHECK(refusal(tar_archive({{"other/a", "x"}})).find("'other/a' is outside of 'top'") !=
        std::string::npos);
  CHECK(refusal(tar_archive({{"top/../../a", "x"}})).find("is outside of 'top'") !=
        std::string::npos);
  CHECK(refusal(tar_archive({{"/top/a", "x"}})).find("is outside of 'top'") != std::string::npos);
}

TEST_CASE("damaged archives are refused") {
  std::string archive = tar_archive({{"top/a", "x"}});
  std::string flipped = archive;
  flipped[3] ^= 1;
  CHECK(refusal(flipped).find("a member's header is damaged") != std::string::npos);
  CHECK(refusal(archive.substr(0, 700)).find("it ends within a block") != std::string::npos);
  CHECK(refusal(archive.substr(0, 512)).find("'top/a' is cut off") != std::string::npos);
}

}  // namespace
}  // namespace trainyard
