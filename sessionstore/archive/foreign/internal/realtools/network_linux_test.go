package realtools

import (
	"net"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// network is a network of its own: its processes reach its listeners and nothing else.
type network struct {
	jobs chan func() // run on the thread that is in the network
}

// newNetwork returns a network that ends with the test, and its processes with it.
func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{jobs: make(chan func())}
	begun := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocks, so the thread ends with the goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		if err == nil {
			err = loopbackUp()
		}
		begun <- err
		for job := range n.jobs {
			job()
		}
	}()
	t.Cleanup(func() { close(n.jobs) })
	if err := <-begun; err != nil {
		notProven(t, "a network without other machines needs root: "+err.Error())
	}
	return n
}

// loopbackUp switches on the loopback interface of the thread's network.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

// do runs f on the thread that is in the network.
func (n *network) do(f func() error) error {
	done := make(chan error, 1)
	n.jobs <- func() { done <- f() }
	return <-done
}

// listen returns a listener in the network.
func (n *network) listen(t *testing.T) (l net.Listener) {
	t.Helper()
	require.NoError(t, n.do(func() (err error) {
		l, err = net.Listen("tcp4", "127.0.0.1:0")
		return err
	}))
	return l
}

// start starts a process in the network. It is killed when the network ends.
func (n *network) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return n.do(cmd.Start)
}
