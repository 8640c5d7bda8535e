package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"golang.org/x/term"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	out := &screen{out: os.Stdout}
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) && os.Getenv("TERM") != "dumb" {
		out.columns = func() int {
			columns, _, err := term.GetSize(fd)
			if err != nil {
				return 0
			}
			return columns
		}
	}
	if err := run(ctx, os.Args[1:], out); err != nil {
		fmt.Fprintln(os.Stderr, "cloudsync:", err)
		os.Exit(1)
	}
}

const usage = `usage: cloudsync [-dir DIR] [-delay D] [-provision] [-record FILE]

  -dir DIR     where the devices' directories are made; without it a new temporary directory
  -delay D     what a request takes on the server of its own; 20ms unless given
  -provision   make the database and the container of COSMOS_ENDPOINT if they are missing
  -record FILE write what the account answers to FILE, which must not be there, instead of telling the story
`

// run prints the whole story on out.
func run(ctx context.Context, args []string, out *screen) (err error) {
	flags := flag.NewFlagSet("cloudsync", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("dir", "", "")
	delay := flags.Duration("delay", 20*time.Millisecond, "")
	provision := flags.Bool("provision", false, "")
	file := flags.String("record", "", "")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		out.print(usage)
		return out.err
	} else if err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("expected no arguments, not %q", flags.Arg(0))
	}
	var record *recorder
	if *file != "" {
		if record, err = newRecorder(*file); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, record.close()) }()
	}
	account, err := open(ctx, *delay, *provision, record, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, account.close()) }()
	if *dir, err = tempDir(*dir); err != nil {
		return err
	}
	if record != nil {
		return errors.Join(recordAll(ctx, account, *dir, record, out), out.err)
	}
	s := &story{account: account, dir: *dir, out: out}
	err = s.tell(ctx)
	if err == nil {
		err = s.check(ctx)
	}
	return errors.Join(err, s.end(ctx), out.err)
}
