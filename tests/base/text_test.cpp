#include "base/text.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace trainyard;

TEST_CASE("numbers are written with the shortest digits that read back") {
  CHECK(number_text(5e-3) == "0.005");
  CHECK(number_text(1e-4) == "1e-04");
  CHECK(number_text(1e22) == "1e+22");
  CHECK(number_text(1.0) == "1");
  CHECK(number_text(0.1F) == "0.1");
  CHECK(number_text(-std::numeric_limits<double>::quiet_NaN()) == "nan");
  CHECK(number_text(-std::numeric_limits<double>::infinity()) == "-inf");
  CHECK(number_text(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
}

TEST_CASE("1000 random bit patterns survive number_text and parse_real") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t bits = random();
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    REQUIRE(parse_real(number_text(value)).has_value());
    CHECK(*parse_real(number_text(value)) == value);
  }
}

TEST_CASE("fixed_text rounds to the given number of decimals") {
  CHECK(fixed_text(0.47868, 4) == "0.4787");
  CHECK(fixed_text(-1.5, 0) == "-2");
  CHECK(fixed_text(std::numeric_limits<double>::infinity(), 2) == "inf");
  CHECK(fixed_text(1e300, 2).size() == 304);
}

TEST_CASE("separators are placed between groups of three digits") {
  CHECK(with_separators(0) == "0");
  CHECK(with_separators(999) == "999");
  CHECK(with_separators(1000) == "1,000");
  CHECK(with_separators(-999) == "-999");
  CHECK(with_separators(1652826) == "1,652,826");
  CHECK(with_separators(-1234567) == "-1,234,567");
}

TEST_CASE("memory is given in whole MiB, and below 1 MiB in bytes") {
  CHECK(memory_text(0) == "0 bytes");
  CHECK(memory_text((std::size_t{1} << 20) - 1) == "1048575 bytes");
  CHECK(memory_text(std::size_t{3} << 19) == "1 MiB");
  CHECK(memory_text(std::size_t{80} << 30) == "81920 MiB");
}

TEST_CASE("only whole decimal texts are parsed as numbers") {
  CHECK(parse_integer("-12") == -12);
  CHECK_FALSE(parse_integer("12 "));
  CHECK_FALSE(parse_integer("+1"));
  CHECK_FALSE(parse_integer("0x10"));
  CHECK_FALSE(parse_integer("9223372036854775808"));
  CHECK(parse_real("1e-4") == 1e-4);
  CHECK_FALSE(parse_real("1e400"));
  CHECK_FALSE(parse_real("inf"));
  CHECK_FALSE(parse_real(""));
}

TEST_CASE("a shell reads a quoted word as the original word") {
  CHECK(shell_quoted("runs/a-b/0001") == "runs/a-b/0001");
  CHECK(shell_quoted("") == "''");
  CHECK(shell_quoted("a b") == "'a b'");
  CHECK(shell_quoted("it's") == "'it'\\''s'");
  CHECK(shell_quoted("$HOME") == "'$HOME'");
}

TEST_CASE("JSON strings escape quotes, backslashes and control characters") {
  CHECK(csv_quoted("a b") == "a b");
  CHECK(csv_quoted("a,b") == "\"a,b\"");
  CHECK(csv_quoted("a\"b\n") == "\"a\"\"b\n\"");
  CHECK(json_quoted("a\"b\\c\nd\te") == "\"a\\\"b\\\\c\\nd\\u0009e\"");
}

TEST_CASE("split and joined are inverses") {
  const std::vector<std::string> words = {"a", "", "b"};
  CHECK(split("a,,b", ',') == words);
  CHECK(joined(words, ",") == "a,,b");
  CHECK(split("", ',') == std::vector<std::string>{""});
}

TEST_CASE("trimmed and lower_case keep the rest unchanged") {
  CHECK(trimmed(" \ta b\r\n") == "a b");
  CHECK(trimmed(" \n").empty());
  CHECK(lower_case("LR_Max9") == "lr_max9");
}

TEST_CASE("a replaced, missing, doubled or swapped letter is one edit") {
  CHECK(edit_distance("stride", "stride") == 0);
  CHECK(edit_distance("stride", "stripe") == 1);
  CHECK(edit_distance("stride", "strde") == 1);
  CHECK(edit_distance("stride", "strride") == 1);
  CHECK(edit_distance("stride", "srtide") == 1);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("edit_distance stops counting at its limit") {
  CHECK(edit_distance("aaaaaaaa", "bbbbbbbb", 2) == 3);
  CHECK(edit_distance(std::string(100000, 'a'), "b", 2) == 3);
  CHECK(edit_distance("abcdef", "badcfe", 3) == 3);
}

TEST_CASE("what could change a terminal is shown as an escape, other letters stay") {
  CHECK(printable("a\tb\nä \u20ac") == "a\tb\nä \u20ac");
  CHECK(printable("\x1b[31mred\x7f\r") == "\\x1b[31mred\\x7f\\x0d");
  CHECK(printable("\xc2\x9b"
                  "2J \x9b \xff") == "\\xc2\\x9b2J \\x9b \\xff");
}

TEST_CASE("long messages show the beginnings and ends of lines") {
  CHECK(readable("a\nb\n") == "a\nb\n");
  const std::string line = readable("path '" + std::string(1'000'000, 'a') + "': not there");
  CHECK(line.size() < 2000);
  CHECK(line.starts_with("path 'aaa"));
  CHECK(line.ends_with("aaa': not there"));
  std::string euros;
  for (int i = 0; i < 1000; ++i) euros += "\u20ac";
  CHECK(printable(readable(euros)).find('\\') == std::string::npos);
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "x\n";
  CHECK(readable(lines).ends_with("x\n(and more)"));
}
