// Cloudsync shows how two devices work on one session, each in a directory of its own: a
// line of 5 MB goes to the remote and comes back, both go on without a network, and nothing
// is lost. It compares the files byte for byte. Run it in this directory, which is a module
// of its own:
//
//	go run . [-server] [-provision]
//
// The remote is a directory that both devices share, or with -server a server in memory that
// answers as Azure Cosmos DB does. With COSMOS_ENDPOINT set it is that account, in the
// database COSMOS_DATABASE and the container COSMOS_CONTAINER, "amplifier" and "sync" unless
// set. The program signs in with COSMOS_KEY, or else as azidentity's DefaultAzureCredential
// does. Database and container must exist, with the partition key /pk; with -provision they
// are made first, which takes a key or control-plane rights. The program writes under a user
// of its own name, and removes its sessions from the remote at the end.
//
// Each device syncs only when the story asks for it, so that the story is the same each
// time. Other programs leave the time to the store (Options.Manual is false then).
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/hybrid/cosmos"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"

	"github.com/amplifier-go/sessionstorage/hybrid"
	remotedir "github.com/amplifier-go/sessionstorage/hybrid/dir"
	"github.com/amplifier-go/sessionstorage/hybrid/remote"
	"github.com/amplifier-go/sessionstorage/internal/test/cosmostest"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "cloudsync:", err)
		os.Exit(1)
	}
}

// run prints the story on out.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	flags := flag.NewFlagSet("cloudsync", flag.ContinueOnError)
	flags.SetOutput(out)
	server := flags.Bool("server", false, "sync with a server in memory that answers as Azure Cosmos DB does")
	provision := flags.Bool("provision", false, "make the database and the container of COSMOS_ENDPOINT if they are missing")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "cloudsync-")
	if err != nil {
		return err
	}
	s := &story{dir: dir, out: out}
	remote, end, err := s.open(ctx, *server, *provision)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	user := "cloudsync-" + strings.ToLower(rand.Text()[:8])
	for name, d := range map[string]**hybrid.Store{"laptop": &s.laptop, "desk": &s.desk} {
		o := &hybrid.Options{Remote: remote, Project: "cloudsync", User: user, Device: name, Manual: true}
		if *d, err = hybrid.Open(ctx, filepath.Join(dir, name), o); err != nil {
			return err
		}
	}
	return errors.Join(s.play(ctx), s.end(context.WithoutCancel(ctx)))
}

// garden is the session that the story is about, and longLine the length of its longest
// message in bytes.
const (
	garden   = "garden"
	longLine = 5_000_000
)

// story is the state of the story.
type story struct {
	dir string
	out io.Writer

	laptop, desk *hybrid.Store
	kept         string // the session that keeps the messages of desk
}

// play runs the story from beginning to end.
func (s *story) play(ctx context.Context) error {
	long := make([]byte, longLine/4*3)
	_, _ = rand.Read(long) // never fails
	if err := errors.Join(say(ctx, s.laptop, "user", "What grows in this garden?"), say(ctx, s.laptop, "assistant", "Let me look at all of it."),
		say(ctx, s.laptop, "tool", base64.StdEncoding.EncodeToString(long)), say(ctx, s.laptop, "assistant", "Mostly beans.")); err != nil {
		return err
	}
	sent, err := s.laptop.Sync(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "\n1. laptop writes the session %s, with a line of 5 MB, and sends %.1f MB.\n", garden, float64(sent.Bytes)/1e6)
	if _, err := s.desk.Pull(ctx); err != nil {
		return err
	}
	fmt.Fprint(s.out, "\n2. desk has nothing yet, and fetches it.\n")
	return errors.Join(s.same(garden), s.part(ctx))
}

// part lets both devices go on without a network.
func (s *story) part(ctx context.Context) error {
	if err := errors.Join(say(ctx, s.laptop, "user", "Are the beans ripe?"), say(ctx, s.desk, "user", "Is the fence whole?")); err != nil {
		return err
	}
	fmt.Fprint(s.out, "\n3. Both go on without a network: laptop asks about the beans, desk about the fence.\n")
	sent, err := s.laptop.Sync(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "   laptop comes back first and sends its message: %.1f KB.\n", float64(sent.Bytes)/1e3)
	if sent, err = s.desk.Sync(ctx); err != nil {
		return err
	}
	if len(sent.Conflicts) != 1 || sent.Conflicts[0].KeptAs == "" {
		return fmt.Errorf("the two histories of %s were not told apart", garden)
	}
	s.kept = sent.Conflicts[0].KeptAs
	fmt.Fprintf(s.out, "   desk finds that %s went on elsewhere. It stays as laptop wrote it, and what desk wrote\n   is kept as the session %s, a fork of it.\n", garden, s.kept)
	if _, err = s.desk.Sync(ctx); err != nil {
		return err
	}
	if _, err := s.laptop.Pull(ctx); err != nil {
		return err
	}
	fmt.Fprint(s.out, "   desk sends the fork, and laptop fetches it.\n")
	return errors.Join(s.same(garden), s.same(s.kept))
}

// say appends a message to the session.
func say(ctx context.Context, d *hybrid.Store, role, text string) error {
	m, err := sessionstore.Text(role, text, time.Now())
	if err != nil {
		return err
	}
	return d.Append(ctx, garden, m)
}

// same compares a session on both devices.
func (s *story) same(session string) error {
	one, err := os.ReadFile(filepath.Join(s.laptop.Dir(), session, "transcript.jsonl"))
	if err != nil {
		return err
	}
	other, err := os.ReadFile(filepath.Join(s.desk.Dir(), session, "transcript.jsonl"))
	if err == nil && !bytes.Equal(one, other) {
		err = fmt.Errorf("session %s is not the same on laptop and on desk", session)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "   %s: %d messages, %.1f MB, the same bytes on both.\n", session, bytes.Count(one, []byte("\n")), float64(len(one))/1e6)
	return nil
}

// end removes the sessions from the remote, and closes the devices.
func (s *story) end(ctx context.Context) (err error) {
	for _, d := range []*hybrid.Store{s.laptop, s.desk} {
		for _, id := range []string{garden, s.kept} {
			if id == "" {
				continue
			}
			if gone := d.Remove(ctx, id); !errors.Is(gone, sessionstore.ErrNotFound) {
				err = errors.Join(err, gone)
			}
		}
		err = errors.Join(err, d.Close())
	}
	return err
}

// open opens the account that the environment names, or a server of its own, or else a new
// directory, and says which. end is called when no device uses it.
func (s *story) open(ctx context.Context, server, provision bool) (r remote.Remote, end func() error, err error) {
	name, end := "", func() error { return nil }
	config, named := cosmos.ConfigFromEnv()
	switch {
	case named:
		name = "The account " + config.Endpoint + ", database " + config.Database + ", container " + config.Container
		r, err = connect(ctx, config, provision)
	case server:
		memory := cosmostest.New(nil)
		http := httptest.NewServer(memory)
		end = func() error { http.Close(); return nil }
		name = "A server of its own"
		r, err = connect(ctx, cosmos.Config{Endpoint: http.URL, Key: memory.Key(), Database: "amplifier", Container: "sync"}, true)
	default:
		place := filepath.Join(s.dir, "remote")
		name = "The directory " + place
		if err = remotedir.Provision(ctx, place); err == nil {
			var shared *remotedir.Remote
			if shared, err = remotedir.Open(ctx, place); err == nil {
				r, end = shared, shared.Close
			}
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, end())
	}
	fmt.Fprintf(s.out, "%s is the remote of two devices, laptop and desk, in %s\n", name, s.dir)
	return r, end, nil
}

// connect opens a container, and makes it and its database first if provision is set.
func connect(ctx context.Context, c cosmos.Config, provision bool) (*cosmos.Remote, error) {
	var cred azcore.TokenCredential
	var client *azcosmos.Client
	key, err := azcosmos.NewKeyCredential(c.Key)
	if c.Key == "" {
		if cred, err = azidentity.NewDefaultAzureCredential(nil); err == nil {
			client, err = azcosmos.NewClient(c.Endpoint, cred, nil)
		}
	} else if err == nil {
		client, err = azcosmos.NewClientWithKey(c.Endpoint, key, nil)
	}
	if err != nil {
		return nil, err
	}
	defer client.Close()
	if provision {
		if err := cosmos.Provision(ctx, client, c.Database, c.Container); err != nil {
			return nil, err
		}
	}
	return cosmos.Connect(ctx, c, cred, nil)
}
