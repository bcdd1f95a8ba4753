/* Let Python see a processor with AVX2 and nothing later, whatever the real one is: `scripts/check --as avx2`.
 *
 * Libraries choose their kernels by the instruction CPUID, and ONNX Runtime has no switch but that one. Where
 * /proc/cpuinfo names cpuid_fault, Linux lets the instruction fault (arch_prctl, ARCH_SET_CPUID); this library,
 * loaded by LD_PRELOAD, answers in its place and leaves out AVX-512, AVX-VNNI, AVX10 and AMX.
 * Bits as in Intel's Software Developer's Manual, volume 2A, CPUID, leaf 7.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define ARCH_SET_CPUID 0x1012
#define BIT(n) (1u << (n))

typedef int (*sigaction_function)(int, const struct sigaction *, struct sigaction *);

static struct sigaction of_the_program; /* what it wants to do at SIGSEGV; faulthandler asks for that */

static int real_sigaction(int number, const struct sigaction *wanted, struct sigaction *before) {
  static sigaction_function found;
  if (!found) found = (sigaction_function)dlsym(RTLD_NEXT, "sigaction");
  return found(number, wanted, before);
}

static void answer_cpuid(greg_t *registers) {
  unsigned leaf = registers[REG_RAX], part = registers[REG_RCX], a, b, c, d;
  syscall(SYS_arch_prctl, ARCH_SET_CPUID, 1);
  __cpuid_count(leaf, part, a, b, c, d);
  syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0);
  if (leaf == 7 && part == 0) {
    b &= ~(BIT(16) | BIT(17) | BIT(21) | BIT(26) | BIT(27) | BIT(28) | BIT(30) | BIT(31)); /* AVX-512 */
    c &= ~(BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14));                                 /* VBMI to VPOPCNTDQ */
    d &= ~(BIT(2) | BIT(3) | BIT(8) | BIT(22) | BIT(23) | BIT(24) | BIT(25));              /* AMX, FP16 */
  } else if (leaf == 7 && part == 1) {
    a &= ~(BIT(4) | BIT(5) | BIT(21) | BIT(23));         /* AVX-VNNI, AVX512-BF16, AMX-FP16, AVX-IFMA */
    d &= ~(BIT(4) | BIT(5) | BIT(8) | BIT(10) | BIT(19)); /* more of AVX-VNNI and AMX; AVX10 */
  }
  registers[REG_RAX] = a, registers[REG_RBX] = b, registers[REG_RCX] = c, registers[REG_RDX] = d;
  registers[REG_RIP] += 2; /* past the instruction */
}

static void at_fault(int number, siginfo_t *about, void *context) {
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  const unsigned char *instruction = (const unsigned char *)registers[REG_RIP];
  int errno_before = errno;
  if (about->si_code == SI_KERNEL && instruction[0] == 0x0f && instruction[1] == 0xa2) {
    answer_cpuid(registers);
    errno = errno_before;
  } else if (of_the_program.sa_flags & SA_SIGINFO) {
    of_the_program.sa_sigaction(number, about, context);
  } else if (of_the_program.sa_handler != SIG_DFL && of_the_program.sa_handler != SIG_IGN) {
    of_the_program.sa_handler(number);
  } else {
    struct sigaction end = {.sa_handler = SIG_DFL};
    real_sigaction(SIGSEGV, &end, NULL); /* the instruction faults once more, and the process ends as usual */
    if (about->si_code <= 0) raise(number); /* somebody sent it: no instruction will */
  }
}

int sigaction(int number, const struct sigaction *wanted, struct sigaction *before) {
  if (number != SIGSEGV) return real_sigaction(number, wanted, before);
  if (before) *before = of_the_program;
  if (wanted) of_the_program = *wanted;
  return 0;
}

__attribute__((constructor)) static void begin(void) {
  struct sigaction ours = {.sa_sigaction = at_fault, .sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK};
  if (strncmp(program_invocation_short_name, "python", 6)) return; /* browsers have handlers of their own */
  real_sigaction(SIGSEGV, &ours, NULL);
  syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0); /* threads and forks inherit it; exec undoes it, and we come again */
}
