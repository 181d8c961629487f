#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <csignal>

int main(int argc, char** argv) {
  // A suite that was started by nohup or in the background of a script ignores these, and with it
  // what it starts; tests of signals want what a terminal gives.
  for (const int signal : {SIGINT, SIGHUP}) std::signal(signal, SIG_DFL);
  return doctest::Context(argc, argv).run();
}
