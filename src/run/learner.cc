#include "run/learner.h"

#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "policy/describe.h"
#include "policy/interpret.h"
#include "sys/unique_fd.h"

namespace plimsoll::run {
namespace {

constexpr std::size_t kMostKinds = 1000;

// The descriptor that comes with the one message on `route`; closed when the other end is gone.
sys::UniqueFd ReceiveListener(int route) {
  char byte = 0;
  struct iovec part = {.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control = {};
  struct msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t count = 0;
  do {
    count = ::recvmsg(route, &message, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  const struct cmsghdr* header = count > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return {};
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return sys::UniqueFd(fd);
}

// The kernel's structures may be longer than those we were compiled with.
struct Sizes {
  std::size_t request = sizeof(seccomp_notif);
  std::size_t response = sizeof(seccomp_notif_resp);
};

Sizes SizesOfKernel() {
  struct seccomp_notif_sizes sizes = {};
  if (::syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0) return {};
  return {.request = std::max<std::size_t>(sizes.seccomp_notif, sizeof(seccomp_notif)),
          .response = std::max<std::size_t>(sizes.seccomp_notif_resp, sizeof(seccomp_notif_resp))};
}

}  // namespace

Learner::Learner(int route, std::span<const sock_filter> answers)
    : route_(route), answers_(answers), thread_([this] { Run(); }) {}

void Learner::Stop() {
  if (!thread_.joinable()) return;
  (void)::shutdown(route_, SHUT_RDWR);  // for a sandbox that ended before it sent anything
  thread_.join();
}

void Learner::Finish(result::RunResult& result) {
  Stop();
  for (auto& [key, call] : calls_)
    result.refused_calls.push_back(call);
  result.refused_uncounted = uncounted_;
}

void Learner::Run() {
  const sys::UniqueFd listener = ReceiveListener(route_);
  if (listener.IsOpen()) Serve(listener.Get());
}

void Learner::Serve(int listener) {
  const Sizes sizes = SizesOfKernel();
  std::vector<std::uint64_t> request(sizes.request / sizeof(std::uint64_t) + 1);
  std::vector<std::uint64_t> response(sizes.response / sizeof(std::uint64_t) + 1);
  auto* asked = reinterpret_cast<seccomp_notif*>(request.data());
  auto* answer = reinterpret_cast<seccomp_notif_resp*>(response.data());
  for (;;) {
    struct pollfd events = {.fd = listener, .events = POLLIN, .revents = 0};
    if (::poll(&events, 1, -1) < 0 && errno != EINTR) return;
    if ((events.revents & POLLIN) == 0) {
      if ((events.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) return;  // nobody has the filter
      continue;
    }
    std::fill(request.begin(), request.end(), 0);
    // The caller may have died meanwhile: then there is nothing to answer.
    if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, asked) != 0) continue;
    std::fill(response.begin(), response.end(), 0);
    answer->id = asked->id;
    answer->error = -Answer(asked->data);
    (void)::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, answer);
  }
}

// The policy's errno for the call, which is counted.
int Learner::Answer(const seccomp_data& data) {
  const auto decided = policy::Interpret(answers_, data);
  const int error = (decided ? policy::ErrnoOf(decided->action) : std::nullopt).value_or(EPERM);
  result::RefusedCall call{.number = static_cast<std::uint32_t>(data.nr),
                           .is_native = policy::IsNative(data),
                           .arguments = {},
                           .error = error,
                           .count = 1};
  std::copy(std::begin(data.args), std::end(data.args), call.arguments.begin());
  Key key = {call.number, {}};
  for (std::size_t i = 0; decided && i < key.second.size(); ++i) {
    if (decided->arguments_read[i]) key.second[i] = call.arguments[i];
  }
  const auto found = calls_.find(key);
  if (found != calls_.end()) {
    ++found->second.count;
  } else if (calls_.size() < kMostKinds) {
    calls_.emplace(key, call);
  } else {
    ++uncounted_;
  }
  return call.error;
}

}  // namespace plimsoll::run
