#include "cli/program.h"

int main(int argc, char** argv) { return trainyard::cli::run_program(argc, argv); }
