#include "harness/run/run.h"
#include "src/fabric_floor/fabric_floor.h"

int main(int argc, char** argv) {
  mailbench::FabricFloor collective;
  return mailbench::Run(argc, argv, collective);
}
