package main

import (
	"bufio"
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// samples is a project as the Python store left it.
//
//go:embed all:testdata/samples
var samples embed.FS

const (
	sampleSessions = "testdata/samples/projects/-home-ada-weather-report/sessions"
	sampleSession  = "8f14"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

const usage = `usage: quickstart [-dir DIR] [SESSION]

  -dir DIR   work on this sessions directory in place, not on a copy of the sample
  SESSION    beginning of the id of the session that gets a turn
`

// run runs the program and writes its report to stdout.
func run(ctx context.Context, args []string, stdout io.Writer) (err error) {
	out := bufio.NewWriter(stdout)
	defer func() { err = errors.Join(err, out.Flush()) }()
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("dir", "", "")
	watched := flags.String("watch", "", "") // this is the other process of the tour
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		_, err = io.WriteString(out, usage)
		return err
	} else if err != nil {
		return err
	}
	if flags.NArg() > 1 {
		return fmt.Errorf("expected one session, not %d", flags.NArg())
	}
	if *watched != "" {
		return watch(ctx, stdout, os.Stdin, *watched)
	}
	if *dir != "" {
		return inPlace(ctx, out, *dir, flags.Arg(0))
	}
	return onCopy(ctx, out, flags.Arg(0))
}

// onCopy works on a copy of the sample, which stays if all went well.
func onCopy(ctx context.Context, out io.Writer, session string) (err error) {
	temp, err := os.MkdirTemp("", "quickstart-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(temp))
		}
	}()
	sub, err := fs.Sub(samples, sampleSessions)
	if err != nil {
		return err
	}
	dir := filepath.Join(temp, "sessions")
	if err := os.CopyFS(dir, sub); err != nil {
		return fmt.Errorf("copy sample: %w", err)
	}
	if session == "" {
		session = sampleSession
	}
	fmt.Fprintln(out, "A project that the Python store wrote, copied to a fresh directory, which stays.")
	return tour(ctx, out, dir, session, true)
}

// inPlace works on the sessions directory dir itself.
func inPlace(ctx context.Context, out io.Writer, dir, session string) error {
	switch fi, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("open sessions directory: %s does not exist", dir)
	case err != nil:
		return fmt.Errorf("open sessions directory: %w", err)
	case !fi.IsDir():
		return fmt.Errorf("open sessions directory: %s is not a directory", dir)
	}
	return tour(ctx, out, dir, session, false)
}

// tour opens dir and takes the steps one by one. A copy gets more sessions than the one
// that every tour makes.
func tour(ctx context.Context, out io.Writer, dir, session string, isCopy bool) (err error) {
	store, err := sessionstore.Open(dir, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	s := &steps{store: store, out: out}
	fmt.Fprintf(out, "%s\n\n", printable(store.Dir()))
	found, err := s.list(ctx)
	if err != nil {
		return err
	}
	if found > 0 || session != "" {
		loaded, err := s.load(ctx, session)
		if err != nil {
			return err
		}
		if loaded != nil {
			if err := s.appendTurn(ctx, loaded); err != nil {
				return err
			}
		}
	}
	id, err := s.makeOwn(ctx)
	if err != nil {
		return err
	}
	if isCopy {
		if err := s.goOn(ctx, id); err != nil {
			return err
		}
	}
	s.next()
	return nil
}
