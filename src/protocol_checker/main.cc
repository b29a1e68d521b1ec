#include "src/protocol_checker/checker.h"
#include "src/protocol_checker/models.h"

int main(int argc, char** argv) {
  return mailbench::RunChecker(argc, argv, mailbench::RegisteredModels());
}
