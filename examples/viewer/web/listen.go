package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"runtime"
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

// Browse starts the browser of the desktop.
func Browse(ctx context.Context, url string) error {
	name, args := "xdg-open", []string{url}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", url}
	}
	return exec.CommandContext(ctx, name, args...).Run()
}
