package web

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/amplifier-go/sessionstorage/examples/viewer/host"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

// maxCommands limits the commands that run at once.
const maxCommands = 8

// commands runs the commands that resume sessions, one at a time for each session.
type commands struct {
	args   []string // of each command, before the id of the session
	logger *slog.Logger

	mu      sync.Mutex                    // guards the fields below
	running map[string]context.CancelFunc // by directory of the session
	closed  bool
	wait    sync.WaitGroup
}

// start starts the command for a session: its directory and id come as
// environment variables, the id as last argument, see [host.Argument], and how the workflow goes on
// as JSON on the standard input. It outlives the request, and ends with the server.
func (c *commands) start(ctx context.Context, dir, id string, res workflow.ResumeResult) error {
	input, err := json.Marshal(res)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.running[dir] != nil:
		return &failure{http.StatusConflict, "running", "the command of an earlier resume still runs for this session"}
	case c.closed, len(c.running) >= maxCommands:
		return errBusy
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	args := slices.Concat(c.args[1:], host.Argument(id))
	cmd := exec.CommandContext(ctx, c.args[0], args...)
	cmd.Stdin = bytes.NewReader(input)
	cmd.WaitDelay = 5 * time.Second // for the programs that the command started
	cmd.Env = append(os.Environ(), "SESSION_ID="+id, "SESSION_DIR="+dir, "NEXT_PHASE_ID="+res.NextPhaseID)
	if err := cmd.Start(); err != nil {
		stop()
		return &failure{http.StatusInternalServerError, "command", "the command that resumes sessions did not start: " + err.Error()}
	}
	if c.running == nil {
		c.running = map[string]context.CancelFunc{}
	}
	c.running[dir] = stop
	c.wait.Go(func() {
		err := cmd.Wait()
		stop()
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.running, dir)
		c.logger.Info("command of a resume ended", "session", id, "err", err)
	})
	return nil
}

// close ends all commands and waits for their end.
func (c *commands) close() {
	c.mu.Lock()
	c.closed = true
	for _, stop := range c.running {
		stop()
	}
	c.mu.Unlock()
	c.wait.Wait()
}
