// Where an error message comes from.
#pragma once

#include <string>

namespace mailbench {

// "rank 2 on node7": from MPI while it runs, otherwise from the launcher's environment and the
// system's host name. Never throws an error of its own.
std::string RankAndHost();

// For tests whose ranks are threads: has messages of this thread name `rank`; -1: again as above.
void NameThisThread(int rank);

}  // namespace mailbench
