package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/amplifier-go/sessionstorage/examples/viewer/host"
	"github.com/amplifier-go/sessionstorage/examples/viewer/web"
	"github.com/amplifier-go/sessionstorage/sessionstore/workflow"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "viewer:", err)
		os.Exit(1)
	}
}

// settings are the arguments.
type settings struct {
	dir, addr string
	open      bool
	noToken   bool
	write     bool
	resume    []string // of a command
	manifests []workflow.Manifest
}

// parse reads the arguments. The error is [flag.ErrHelp] when usage is asked
// for, which is then returned.
func parse(args []string) (s settings, usage string, err error) {
	var out bytes.Buffer
	flags := flag.NewFlagSet("viewer", flag.ContinueOnError)
	flags.SetOutput(&out)
	flags.StringVar(&s.dir, "dir", "", "sessions directory, or `directory` of projects; default: the user's projects")
	flags.StringVar(&s.addr, "addr", "127.0.0.1:0", "`address` on this machine to listen at; port 0: any")
	flags.BoolVar(&s.open, "open", false, "start the browser")
	flags.BoolVar(&s.noToken, "no-token", false, "show all sessions to every user and program of this machine that asks; without it only the printed address leads in")
	flags.BoolVar(&s.write, "write", false, "store phase outputs, messages and forks that are asked for with the token")
	flags.Func("resume", "`COMMAND` that a resume starts, split at spaces, with the id of the session as last argument, after -- where the id begins with a hyphen", func(text string) error {
		s.resume = strings.Fields(text)
		if len(s.resume) == 0 {
			return errors.New("expected a command")
		}
		return nil
	})
	flags.Func("manifest", "`NAME=PHASE,PHASE…` of a workflow; may be given several times", func(text string) error {
		m, err := parseManifest(text)
		s.manifests = append(s.manifests, m)
		return err
	})
	if err := flags.Parse(args); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			out.Reset()
		}
		return s, out.String(), err
	}
	if flags.NArg() > 0 {
		return s, "", fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return s, "", nil
}

func parseManifest(text string) (workflow.Manifest, error) {
	name, phases, ok := strings.Cut(text, "=")
	if !ok || name == "" || phases == "" {
		return workflow.Manifest{}, errors.New("expected NAME=PHASE,PHASE")
	}
	return workflow.Manifest{Name: name, Phases: strings.Split(phases, ",")}, nil
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	s, usage, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		_, err = io.WriteString(stdout, usage)
		return err
	}
	if err != nil {
		return err
	}
	places, err := web.OpenPlaces(s.dir, s.manifests)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, places.Close()) }()
	l, err := web.Listen(ctx, s.addr)
	if err != nil {
		return err
	}
	defer l.Close()
	may := web.Options{NoToken: s.noToken, Open: s.open, Write: s.write, Resume: s.resume, Host: os.Getenv(host.Variable)}
	server, err := web.New(places, l.Addr(), slog.New(slog.NewTextHandler(stderr, nil)), may)
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, server.URL())
	return server.Serve(ctx, l)
}
