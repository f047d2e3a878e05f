#include "comm/launcher.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace atl::test {

TEST_CASE("tasks_on_node reads Slurm's lists of tasks per node") {
  CHECK(tasks_on_node("5", 0) == 5);
  CHECK(tasks_on_node("4,1", 0) == 4);
  CHECK(tasks_on_node("4,1", 1) == 1);
  CHECK(tasks_on_node("16(x3),12(x2),7", 2) == 16);
  CHECK(tasks_on_node("16(x3),12(x2),7", 3) == 12);
  CHECK(tasks_on_node("16(x3),12(x2),7", 5) == 7);
}

TEST_CASE("tasks_on_node knows nothing of a node that is not in the list") {
  CHECK(tasks_on_node("16(x3),12", 4) == 0);
  CHECK(tasks_on_node("", 0) == 0);
}

TEST_CASE("what a launcher tells its rank is known from what the user sets for launchers") {
  for (const char* word : {"PMI_RANK=0", "PMI_FD=3", "PMIX_RANK=0", "OMPI_COMM_WORLD_SIZE=1", "OMPI_UNIVERSE_SIZE=2",
                           "OMPI_MCA_ess=^singleton", "OMPI_MCA_orte_hnp_uri=1.0;tcp://10.0.0.1:1"})
    CHECK_MESSAGE(is_launchers(word), word);
  for (const char* word : {"PATH=/bin", "OMPI_MCA_btl=tcp,self", "OMPI_ALLOW_RUN_AS_ROOT=1", "SLURM_NODEID=1",
                           "OMPI_MCA_orte_tmpdir_base=/tmp", "MY_PMI_RANK=0"})
    CHECK_FALSE_MESSAGE(is_launchers(word), word);
}

TEST_CASE("under srun the ranks of this host are counted, not those of the whole job") {
  setenv("SLURM_STEP_TASKS_PER_NODE", "33,32", 1);
  setenv("SLURM_NODEID", "1", 1);
  CHECK(ranks_on_this_host() == 32);
  unsetenv("SLURM_STEP_TASKS_PER_NODE");
  CHECK(ranks_on_this_host() == 0);
  unsetenv("SLURM_NODEID");
}

}  // namespace atl::test
