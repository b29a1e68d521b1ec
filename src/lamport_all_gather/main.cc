#include "harness/run/run.h"
#include "src/lamport_all_gather/lamport_all_gather.h"

int main(int argc, char** argv) {
  mailbench::LamportAllGather collective;
  return mailbench::Run(argc, argv, collective);
}
