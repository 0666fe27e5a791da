// SPDX-License-Identifier: MIT
// kim_study: the measurements of Kim, Hwangbo and Kanade (Parallel algorithms to a parallel hardware, 2009),
// repeated with flow guided by features.
#include "common/study.hpp"

namespace parafield::bench {

/// A thin bar without features on it: figures 3 to 5.
std::vector<Table> pole_tables(const Study& study);
void draw_poles(const Study& study);
/// Large motion and many thin poles: figures 6 and 7.
std::vector<Table> large_tables(const Study& study);
void draw_large(const Study& study);
/// Times: section 6.1.
std::vector<Table> time_tables(const Study& study);
/// Algorithm 3 as the paper writes it, against votes as a product of matrices.
std::vector<Table> form_tables(const Study& study);
/// The normal distribution, from a table or computed: section 5.1.
std::vector<Table> exponential_tables(const Study& study);
/// Time against features and pixels: figure 9.
std::vector<Table> cost_tables(const Study& study);
#ifdef PARAFIELD_HAS_CUDA
/// Algorithm 2: scores on the GPU, sorted and tested on the CPU.
std::vector<Table> hybrid_tables(const Study& study);
#else
constexpr auto hybrid_tables = nullptr;
#endif

StudyProgram study_program() {
  return {.about =
              "Kim, Hwangbo, Kanade 2009: thin poles, large motion, times, forms of the votes, "
              "costs; pictures",
          .title = "Kim's study of flow guided by features",
          .parts = {{"pole", pole_tables},
                    {"large", large_tables},
                    {"times", time_tables},
                    {"forms", form_tables},
                    {"exp", exponential_tables},
                    {"cost", cost_tables},
                    {"hybrid", hybrid_tables, true}},
          .draw =
              [](const Study& study) {
                draw_poles(study);
                draw_large(study);
              },
          .effort = {.seconds = 0.5}};  // the calls are many and short
}

}  // namespace parafield::bench
