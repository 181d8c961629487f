// The main program of every test program.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace {

// Above what the slowest case takes under a sanitizer, below the limits of CTest, which would end
// the program without a word on which case it was.
constexpr unsigned kSecondsOfACase = 600;

std::string hanging_case;  // what to say of the case under way

void on_alarm(int) {
  // Only calls that are safe in a handler.
  if (::write(STDERR_FILENO, hanging_case.data(), hanging_case.size()) < 0) ::_exit(1);
  std::signal(SIGABRT, SIG_DFL);  // past doctest's own handler
  std::abort();
}

/// Ends the program at a case that hangs, with its name.
struct Patience final : doctest::IReporter {
  explicit Patience(const doctest::ContextOptions&) { std::signal(SIGALRM, on_alarm); }

  void test_case_start(const doctest::TestCaseData& test) override {
    ::alarm(0);
    hanging_case = std::string("no progress for ") + std::to_string(kSecondsOfACase) + " s: \"" +
                   test.m_name + "\" (" + test.m_file.c_str() + ":" + std::to_string(test.m_line) +
                   ")\n";
    ::alarm(kSecondsOfACase);
  }
  void test_case_end(const doctest::CurrentTestCaseStats&) override { ::alarm(0); }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
DOCTEST_REGISTER_LISTENER("patience", 1, Patience);

}  // namespace

int main(int argc, char** argv) {
  // A suite that was started by nohup or in the background of a script ignores these, and with it
  // what it starts; tests of signals need what a terminal gives.
  for (const int signal : {SIGINT, SIGHUP}) std::signal(signal, SIG_DFL);
  return doctest::Context(argc, argv).run();
}
