package cost

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// trace runs this program with the arguments and returns its output and how many system
// calls it made between one [mark] and the next, for every pair of them.
func trace(args ...string) (out []byte, counts []int, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	printed, prints, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	var reading sync.WaitGroup
	var readErr error
	reading.Go(func() { out, readErr = io.ReadAll(printed) })
	runtime.LockOSThread() // a thread traces
	defer runtime.UnlockOSThread()
	process, err := os.StartProcess(program, append([]string{program}, args...), &os.ProcAttr{
		Env:   append(os.Environ(), tracedVariable+"=1"),
		Files: []*os.File{nil, prints, prints},
		Sys:   &syscall.SysProcAttr{Ptrace: true, Setpgid: true},
	})
	if err == nil {
		c := counter{group: process.Pid}
		err = errors.Join(c.run(), process.Release())
		counts = c.counts
	} else {
		err = fmt.Errorf("start a traced process: %w", err)
	}
	err = errors.Join(err, prints.Close())
	reading.Wait()
	return out, counts, errors.Join(err, readErr, printed.Close())
}

// counter counts the system calls of a process that has just been stopped at
// its beginning, and that leads a group of its own.
type counter struct {
	group  int
	within bool
	counts []int
}

func (c *counter) run() error {
	var status unix.WaitStatus
	if _, err := wait(c.group, &status); err != nil {
		return fmt.Errorf("wait for the traced process: %w", err)
	}
	const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL
	if err := unix.PtraceSetOptions(c.group, options); err != nil {
		return fmt.Errorf("set trace options: %w", err)
	}
	if err := unix.PtraceSyscall(c.group, 0); err != nil {
		return err
	}
	known := map[int]bool{c.group: true}
	for {
		thread, err := wait(-c.group, &status)
		if err != nil {
			return fmt.Errorf("wait for the traced process: %w", err)
		}
		if !status.Stopped() {
			if thread != c.group {
				continue
			}
			if status.ExitStatus() != 0 {
				return fmt.Errorf("the traced process failed: exit status %d, signal %v", status.ExitStatus(), status.Signal())
			}
			return nil
		}
		deliver := 0
		switch signal := status.StopSignal(); {
		case signal == unix.SIGTRAP|0x80:
			if err := c.enter(thread); err != nil {
				return err
			}
		case signal == unix.SIGTRAP: // an event of the tracing
		case signal == unix.SIGSTOP && !known[thread]: // a thread begins
		default:
			deliver = int(signal)
		}
		known[thread] = true
		if err := unix.PtraceSyscall(thread, deliver); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("go on: %w", err)
		}
	}
}

// enter counts the call that a thread is about to make; at its end a thread
// stops, too.
func (c *counter) enter(thread int) error {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(thread, &regs); errors.Is(err, unix.ESRCH) {
		return nil // it was killed in between
	} else if err != nil {
		return fmt.Errorf("look at a system call: %w", err)
	}
	entering := int64(regs.Rax) == -int64(unix.ENOSYS)
	switch {
	case !entering:
	case regs.Orig_rax == marker:
		if c.within = !c.within; c.within {
			c.counts = append(c.counts, 0)
		}
	case c.within && !ofRuntime[regs.Orig_rax]:
		c.counts[len(c.counts)-1]++
	}
	return nil
}

func wait(pid int, status *unix.WaitStatus) (int, error) {
	for {
		n, err := unix.Wait4(pid, status, unix.WALL, nil)
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// tracedVariable is set in the process of a test whose system calls are counted.
const tracedVariable = "COST_TRACED"

// mark makes the system call that shows the tracer where an operation begins and ends.
// Nothing else in a test asks for the parent.
func mark() { unix.Getppid() }

// marker is the number of that call.
const marker = unix.SYS_GETPPID

// ofRuntime are the calls that the Go runtime makes for itself: for memory,
// threads, signals and time. How many depends on chance.
var ofRuntime = map[uint64]bool{
	unix.SYS_FUTEX: true, unix.SYS_NANOSLEEP: true, unix.SYS_CLOCK_NANOSLEEP: true, unix.SYS_SCHED_YIELD: true,
	unix.SYS_MADVISE: true, unix.SYS_MMAP: true, unix.SYS_MUNMAP: true, unix.SYS_MPROTECT: true, unix.SYS_PRCTL: true,
	unix.SYS_EPOLL_PWAIT: true, unix.SYS_EPOLL_PWAIT2: true, unix.SYS_TGKILL: true, unix.SYS_GETPID: true, unix.SYS_GETTID: true,
	unix.SYS_RT_SIGRETURN: true, unix.SYS_RT_SIGPROCMASK: true, unix.SYS_SIGALTSTACK: true, unix.SYS_CLONE: true, unix.SYS_CLONE3: true,
	unix.SYS_RSEQ: true, unix.SYS_SET_ROBUST_LIST: true, unix.SYS_EXIT: true, unix.SYS_RESTART_SYSCALL: true,
	unix.SYS_TIMER_CREATE: true, unix.SYS_TIMER_SETTIME: true, unix.SYS_TIMER_DELETE: true, unix.SYS_SETITIMER: true,
}
