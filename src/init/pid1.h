// The program's course: carry the plan out, start the guest, stay as process 1.
#pragma once

namespace plimsoll::init {

// Maps the plan on kPlanFd and carries it out. Ends the process: with the guest, or at the first
// step that fails, which is reported on kReportFd.
[[noreturn]] void RunPlan();

}  // namespace plimsoll::init
