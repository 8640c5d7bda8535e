//go:build unix

package picker

import (
	"os/signal"
	"syscall"
)

// allowBackground lets this process change the settings of its terminal even
// when another program is in the foreground.
func allowBackground() { signal.Ignore(syscall.SIGTTOU) }
