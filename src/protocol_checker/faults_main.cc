// protocol_checker with protocols that are wrong.
#include "src/protocol_checker/checker.h"
#include "src/protocol_checker/faulty_models.h"

int main(int argc, char** argv) {
  return mailbench::RunChecker(argc, argv, mailbench::FaultyModels());
}
