package workload

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// A client calls one store.
type client struct {
	*Notebook
	root string
	dir  string // of the sessions, below root
	mode string // as durability has it
	st   *sessionstore.Store
}

var durability = map[string]sessionstore.Durability{
	"durable": sessionstore.Durable, "relaxed": sessionstore.Relaxed, "turns-relaxed": sessionstore.Relaxed,
}

func (b *Notebook) client(root, dir, mode string) (*client, error) {
	c := &client{Notebook: b, root: root, dir: dir, mode: mode}
	return c, c.open()
}

func (c *client) open() (err error) {
	c.st, err = sessionstore.Open(c.path(), &sessionstore.Options{Durability: durability[c.mode]})
	return err
}

// reopen goes on as another process would.
func (c *client) reopen() error {
	return errors.Join(c.st.Close(), c.open())
}

func (c *client) path() string { return filepath.Join(c.root, c.dir) }

func (c *client) subject(id string, v history.View) history.Subject {
	return history.Subject{Mode: c.mode, Dir: c.dir, ID: id, View: v}
}

// session makes a call on a session.
func (c *client) session(ctx context.Context, id, kind string, do func() error) bool {
	return c.call(ctx, c.subject(id, history.Session), kind, do)
}

// message returns a message that begins with key: most are short, some long.
func (b *Notebook) message(role, key string) sessionstore.Message {
	n := 50 + b.n(400)
	switch b.n(10) {
	case 0:
		n = 5000 + b.n(60000)
	case 1, 2:
		n = 2000 + b.n(6000)
	}
	return message(role, key+" "+strings.Repeat("abcdefgh ", n/9))
}

func message(role, text string) sessionstore.Message {
	m, err := sessionstore.Text(role, text, time.Now())
	if err != nil {
		panic(err) // unreachable: the texts of this package are valid
	}
	return m
}

// messages returns n of one generation, which take turns.
func (b *Notebook) messages(id string, generation, n int) (all []sessionstore.Message) {
	for i := range n {
		all = append(all, b.message([]string{"user", "assistant"}[i%2], fmt.Sprintf("%s-g%d-%d", id, generation, i)))
	}
	return all
}

// metadata has n as its number, and a size that depends on it.
func metadata(n int) sessionstore.Metadata {
	md, err := sessionstore.NewMetadata(map[string]any{"n": n, "turn_count": n + 1, "bundle": "b", "pad": strings.Repeat("x", 40*(n%60))})
	if err != nil {
		panic(err) // unreachable: it is valid
	}
	return md
}
