package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Listen listens at addr, which must be on this machine alone; port 0 is any
// that is free.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listen at %q: %w", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("listen at %q: not an address of this machine alone, such as 127.0.0.1", addr)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if at, ok := l.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
		return nil, errors.Join(fmt.Errorf("listen at %q: it is not on this machine alone", addr), l.Close())
	}
	return l, nil
}

// opener returns the command of the desktop that opens a file.
func opener() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	return []string{"xdg-open"}
}

// browse runs command with a file that leads a browser to url, and removes the file when
// ctx ends. The address has the token, and every user of the machine can read the arguments
// of a command: so it is in the file, which nobody else can read.
func browse(ctx context.Context, url string, command []string) (err error) {
	dir, err := os.MkdirTemp("", "sessions-viewer-") // of this user alone
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	var page strings.Builder
	if err := refresh.Execute(&page, url); err != nil {
		return err
	}
	name := filepath.Join(dir, "sessions.html")
	if err := os.WriteFile(name, []byte(page.String()), 0o600); err != nil {
		return err
	}
	err = exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], name)...).Run()
	switch {
	case ctx.Err() != nil:
		return nil
	case err == nil:
		<-ctx.Done() // the browser may read the file later
	}
	return err
}
