package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ended describes the end of the commands of a run.
type ended struct {
	code   int    // the exit code
	cut    string // why they were ended before they ended by themselves
	paused bool
	size   int64 // of the output before the cut, or all of it
}

// killed is the exit code of a shell whose command was killed; its own is -1 then.
const killed = 128 + int(syscall.SIGKILL)

// execute runs the lines in the clone, with low priority, and writes their output to the
// file log. It pauses them while a gate runs, and ends them when ctx is done or the part
// takes too long.
func (s *soak) execute(ctx context.Context, p part, lines []string, log string) (e ended, err error) {
	out, err := os.Create(log)
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	defer s.sweep()
	if err := os.MkdirAll(s.temporary(), 0o700); err != nil {
		return e, err
	}
	cmd := exec.Command("bash", "-c", script(lines))
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.clone(), s.environment(), out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return e, err
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // the exit code shows it
		close(done)
	}()
	e.cut, e.paused = s.watch(ctx, p, cmd.Process.Pid, done)
	if at, err := out.Stat(); err == nil {
		e.size = at.Size()
	}
	s.end(cmd.Process.Pid, done)
	e.code = cmd.ProcessState.ExitCode()
	if at, err := out.Stat(); err == nil && e.cut == "" {
		e.size = at.Size()
	}
	return e, nil
}

// script returns a shell script that runs the lines with low priority. Its exit code is the
// exit code of the last line that failed.
func script(lines []string) string {
	text := "renice -n 19 $$ >/dev/null\nionice -c 3 -p $$ 2>/dev/null\nstatus=0\n"
	for _, line := range lines {
		text += line + " || status=$?\n"
	}
	return text + "exit $status\n"
}

// environment returns the variables of a run. The variables that decide about tests come
// from the part alone.
func (s *soak) environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return known(v) || strings.HasPrefix(v, "TEST_SEED=") || strings.HasPrefix(v, "GIT_")
	})
	return append(env, "TMPDIR="+s.temporary())
}

// temporary is where runs have their temporary files.
func (s *soak) temporary() string { return filepath.Join(s.folder, "tmp") }

// watch returns when the commands have ended, or with the reason in cut when they must be
// ended. It pauses them while a gate runs.
func (s *soak) watch(ctx context.Context, p part, session int, done <-chan struct{}) (cut string, paused bool) {
	limit := p.limit
	if limit == 0 {
		limit = 2 * time.Hour
	}
	var worked time.Duration
	tick := time.NewTicker(s.poll)
	defer tick.Stop()
	for last, resting := time.Now(), false; ; {
		select {
		case <-done:
			return "", paused
		case <-ctx.Done():
			return "it was stopped", paused
		case <-tick.C:
		}
		if !resting {
			worked += time.Since(last)
		}
		last = time.Now()
		switch gate := s.gateRuns(); {
		case gate:
			signalAll(session, syscall.SIGSTOP) // again each time: some may have come to them
			resting, paused = true, true
		case resting:
			signalAll(session, syscall.SIGCONT)
			resting = false
		case worked > limit:
			return fmt.Sprintf("it took longer than %v", limit), paused
		}
	}
}

// end ends the remaining processes of a session with SIGTERM, and after s.grace with
// SIGKILL.
func (s *soak) end(session int, done <-chan struct{}) {
	signalAll(session, syscall.SIGTERM)
	signalAll(session, syscall.SIGCONT)
	select {
	case <-done:
	case <-time.After(s.grace):
	}
	for range 500 {
		if len(members(session)) == 0 {
			break
		}
		signalAll(session, syscall.SIGKILL)
		time.Sleep(10 * time.Millisecond)
	}
	<-done
}

// signalAll sends a signal to all processes of a session, whatever groups they are in.
func signalAll(session int, sig syscall.Signal) {
	for _, pid := range members(session) {
		_ = syscall.Kill(pid, sig) // it may have ended
	}
}

// members returns the processes of a session that have not ended.
func members(session int) (pids []int) {
	list, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range list {
		text, _ := os.ReadFile(name) // it may have ended
		// After the name in parentheses: state, parent, group, session.
		fields := strings.Fields(string(text[max(0, strings.LastIndexByte(string(text), ')')):]))
		if len(fields) > 4 && fields[1] != "Z" && fields[4] == strconv.Itoa(session) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// sweep removes the leftovers of runs in their temporary folder: files, and mounts and loop
// devices of tests that were killed.
func (s *soak) sweep() {
	mounts, _ := os.ReadFile("/proc/self/mounts")
	list := strings.Split(string(mounts), "\n")
	slices.Reverse(list) // a mount inside another one comes after it in the file
	for _, m := range list {
		if at := strings.Fields(m); len(at) > 1 && strings.HasPrefix(at[1], s.temporary()) {
			_ = exec.Command("umount", "-l", at[1]).Run()
		}
	}
	loops, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, name := range loops {
		if file, _ := os.ReadFile(name); strings.HasPrefix(string(file), s.temporary()) {
			_ = exec.Command("losetup", "-d", "/dev/"+strings.Split(name, "/")[3]).Run()
		}
	}
	if err := os.RemoveAll(s.temporary()); err != nil {
		fmt.Fprintln(s.out, err)
	}
}
